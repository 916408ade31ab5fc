import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody } from '../../contract/schemas/error.ts';
import type { Random } from '../../effects/random.ts';

/** Answers what is not HTTP, is too slow or has too many headers with the error body all the same. */
export function refuseBrokenRequests(server: Server, random: Random): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, message] = ANSWERS[error.code ?? ''] ?? NOT_HTTP;
    const body: ErrorBody = {
      code: 'ERR_INVALID_REQUEST',
      message,
      requestId: random.uuid(),
    };
    const json = JSON.stringify(body);
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
        `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    );
  });
}

const NOT_HTTP = ['400 Bad Request', 'This is not an HTTP request'] as const;
const ANSWERS: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive'],
};
