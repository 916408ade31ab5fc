import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody } from '../../contract/schemas/error.ts';
import { SERVICE_ERRORS, type ServiceErrorCode } from '../../contract/service-errors.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';

export interface RefusalDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** How long a client has to read its refusal; one that goes on sending would hold the connection. */
const READ_GRACE_MS = 1_000;

/** Answers what is not HTTP, is too slow or has too many headers with the error body all the same. */
export function refuseBrokenRequests(server: Server, { clock, random }: RefusalDeps): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [code, message] = ANSWERS[error.code ?? ''] ?? NOT_HTTP;
    socket.end(rawAnswer({ code, message, requestId: random.uuid() }, SERVICE_ERRORS[code]));
    const stop = clock.after(READ_GRACE_MS, () => socket.destroy());
    socket.once('close', stop);
  });
}

type Answer = readonly [ServiceErrorCode, string];

const NOT_HTTP: Answer = ['ERR_INVALID_REQUEST', 'This is not an HTTP request'];
const ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: ['ERR_HEADERS_TOO_LARGE', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['ERR_REQUEST_TIMEOUT', 'The request took too long to arrive'],
};

/** There is no request here that Node could make a response for, so that it is written by hand. */
function rawAnswer(body: ErrorBody, status: number): string {
  const json = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(json)}`,
    '',
    json,
  ].join('\r\n');
}
