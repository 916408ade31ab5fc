import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, ServerResponse as NodeResponse, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ErrorBody } from '../../contract/error-body.ts';
import { SERVICE_ERRORS, type ServiceErrorCode } from '../../contract/service-errors.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import { ServiceError } from '../service-error.ts';
import type { Service } from '../service.ts';
import { boundConnections, type Connections } from './connections.ts';
import { errorResponse } from './envelope.ts';
import { ListenError } from './listen-error.ts';
import { sendCut } from './send-cut.ts';
import { onUpgrade } from './upgrade.ts';

export interface ServeOptions {
  readonly service: Service;
  readonly host: string;
  /** 0 is a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Other bounds of a connection, for tests. */
  readonly limits?: Partial<typeof LIMITS>;
}

/** A service on a socket. */
export interface ServiceServer {
  readonly baseUrl: string;
  readonly realtimeUrl: string;
  /**
   * Takes no more connections, and ends when the service has finished or cut what it was at and that
   * was read; once `hurry` is aborted it cuts answers and leaves jobs to the next process.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** Bounds of one connection. A body has no time limit: it lasts as long as its speech is played. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  // A request without a host is refused here too, but with the error body.
  requireHostHeader: false,
};
/** How long answers that are made may still take to leave after the service has closed, for slow readers. */
const FLUSH_GRACE_MS = 600_000;
/** How often connections that have nothing more to say are looked for then. */
const IDLE_LOOK_MS = 50;

/**
 * Puts a service on a socket.
 * @throws ListenError when the address cannot be listened on
 */
export async function startServer(options: ServeOptions): Promise<ServiceServer> {
  const server = createServer({ ...LIMITS, ...options.limits });
  const connections = boundConnections(server);
  const listener = createListener(options, connections);
  server.on('request', listener);
  // An expectation that is not known is no reason for an answer without a body.
  server.on('checkExpectation', listener);
  const refusal = (): Response => unreadable(options.random);
  server.on('upgrade', onUpgrade({ ...options, connections, listener, unreadable: refusal }));
  refuseBrokenRequests(server, options);
  const address = await listen(server, options.host, options.port);
  const url = urlOf(address);
  return {
    baseUrl: `http://${url}`,
    realtimeUrl: `ws://${url}`,
    close: (hurry) => closeServer(server, options, hurry),
  };
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

function createListener(
  { service, clock, random }: ServeOptions,
  connections: Connections,
): Listener {
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      if (service.hasKey(request.headers)) connections.trust(incoming.socket);
      const response = await service.fetch(request);
      const fault = service.cutOf(response);
      if (fault !== undefined && outgoing instanceof NodeResponse) {
        await sendCut(response, outgoing, fault, clock);
        return RESPONSE_ALREADY_SENT;
      }
      return withUncleanEnd(response, () => cut(incoming, outgoing));
    },
    { overrideGlobalObjects: false, errorHandler: () => unreadable(random) },
  );
  return (incoming, outgoing) => {
    connections.answering(outgoing);
    void listener(incoming, outgoing);
  };
}

/**
 * A body that fails has to end the connection, so that nobody takes what came for the whole. The
 * adapter would write the error to the terminal, and into the body while no header is sent.
 */
function withUncleanEnd(response: Response, onFailure: () => void): Response {
  if (response.body === null || response.headers.has('Content-Length')) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch {
          onFailure();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}

/** Without chunks (HTTP/1.0) the end of the connection is the end of the body, unless it is reset. */
function cut(
  incoming: Pick<IncomingMessage, 'httpVersion' | 'socket'>,
  outgoing: { destroy(): unknown },
): void {
  if (incoming.httpVersion === '1.0') incoming.socket.resetAndDestroy();
  else outgoing.destroy();
}

/** The request line or the Host header cannot be read as a URL, so that no service can be asked. */
function unreadable(random: Random): Response {
  const message = 'The address of the request cannot be read';
  return errorResponse(new ServiceError('ERR_INVALID_REQUEST', message), random.uuid());
}

async function closeServer(
  server: Server,
  { service, clock }: ServeOptions,
  hurry: AbortSignal | undefined,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await service.close(hurry);
  const cutAll = (): void => server.closeAllConnections();
  let stopLooking: (() => void) | undefined;
  const closeIdle = (): void => {
    server.closeIdleConnections();
    stopLooking = clock.after(IDLE_LOOK_MS, closeIdle);
  };
  closeIdle();
  const stop = clock.after(FLUSH_GRACE_MS, cutAll);
  hurry?.addEventListener('abort', cutAll, { once: true });
  if (hurry?.aborted === true) cutAll();
  await closed;
  stop();
  stopLooking?.();
  hurry?.removeEventListener('abort', cutAll);
}

/** Starts to listen. @throws ListenError when the port is taken or the address is not ours */
function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address);
      else reject(new TypeError('the server has no address'));
    });
  });
}

/** Host and port as a URL writes them; an address of every interface is reached by loopback. */
function urlOf({ address, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function listenError(error: Error, host: string, port: number): ListenError {
  if ('code' in error && error.code === 'EADDRINUSE') {
    return new ListenError('in-use', `Port ${port} of ${host} is in use`, error);
  }
  return new ListenError('refused', `${host} port ${port} cannot be listened on`, error);
}

interface RefusalDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** How long a client has to read its refusal; one that goes on sending would hold the connection. */
const READ_GRACE_MS = 1_000;

/** Answers what is not HTTP, is too slow or has too many headers with the error body all the same. */
function refuseBrokenRequests(server: Server, { clock, random }: RefusalDeps): void {
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
