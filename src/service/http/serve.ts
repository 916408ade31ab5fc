import { once } from 'node:events';
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import { createServer, ServerResponse as NodeResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ErrorBody } from '../../contract/error-body.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import { ServiceError, errorResponse } from '../service-error.ts';
import type { Service } from '../service.ts';
import { onUpgrade, READ_MS } from './upgrade.ts';
import type { BodyCut } from './faults.ts';

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
   * Stops listening, and resolves when running responses are sent. Once `hurry` is aborted it cuts
   * responses and leaves jobs to the next process.
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
/** How long slow readers may take to receive responses after the service has closed. */
const FLUSH_GRACE_MS = 600_000;
/** How often idle connections are closed meanwhile. */
const IDLE_POLL_MS = 50;

/**
 * Puts a service on a socket.
 * @throws ListenError when the address cannot be listened on
 */
export async function startServer(options: ServeOptions): Promise<ServiceServer> {
  const server = createServer({ ...LIMITS, ...options.limits });
  const connections = limitConnections(server);
  const listener = createListener(options, connections);
  server.on('request', listener);
  // Node would respond to an unknown expectation without a body.
  server.on('checkExpectation', listener);
  const { trust } = connections;
  const refuse = (): Response => invalidTarget(options.random);
  server.on('upgrade', onUpgrade({ ...options, trust, listener, refuse }));
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
    { overrideGlobalObjects: false, errorHandler: () => invalidTarget(random) },
  );
  return (incoming, outgoing) => {
    connections.setResponse(outgoing);
    void listener(incoming, outgoing);
  };
}

/**
 * Makes a failed body destroy the connection, so that no client takes it for complete. The adapter would
 * print the error, and write it into the body while no header is sent.
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

/** In HTTP/1.0 the end of the connection ends the body: only a reset shows the failure. */
function cut(
  incoming: Pick<IncomingMessage, 'httpVersion' | 'socket'>,
  outgoing: { destroy(): unknown },
): void {
  if (incoming.httpVersion === '1.0') incoming.socket.resetAndDestroy();
  else outgoing.destroy();
}

/** Returns the response to a request whose target is no URL. */
function invalidTarget(random: Random): Response {
  const message = 'The address of the request is invalid';
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
  let stopPolling: (() => void) | undefined;
  const closeIdle = (): void => {
    server.closeIdleConnections();
    stopPolling = clock.after(IDLE_POLL_MS, closeIdle);
  };
  closeIdle();
  const stop = clock.after(FLUSH_GRACE_MS, cutAll);
  hurry?.addEventListener('abort', cutAll, { once: true });
  if (hurry?.aborted === true) cutAll();
  await closed;
  stop();
  stopPolling?.();
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

/** How long a client may take to read its refusal before the connection is closed. */
const READ_GRACE_MS = 1_000;

/** Responds to invalid HTTP, slow requests and oversized headers with the error body. */
function refuseBrokenRequests(server: Server, { clock, random }: ServeOptions): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const [code, message] = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
    socket.end(rawResponse({ code, message, requestId: random.uuid() }, SERVICE_ERRORS[code]));
    const stop = clock.after(READ_GRACE_MS, () => socket.destroy());
    socket.once('close', stop);
  });
}

type Refusal = readonly [ServiceErrorCode, string];

const NOT_HTTP: Refusal = ['ERR_INVALID_REQUEST', 'This is not an HTTP request'];
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: ['ERR_HEADERS_TOO_LARGE', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['ERR_REQUEST_TIMEOUT', 'The request took too long to arrive'],
};

/** Formats a response by hand: without a request Node has no response object. */
function rawResponse(body: ErrorBody, status: number): string {
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

/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly reason: 'in-use' | 'refused';

  constructor(reason: 'in-use' | 'refused', message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** All connections, with and without a key. */
const MOST_CONNECTIONS = 1_024;
/** Connections without a valid key; the others are left for clients that have one. */
const MOST_WITHOUT_KEY = 256;

type Connections = ReturnType<typeof limitConnections>;

/**
 * Limits the connections of a server, so that those without a key never shut out those with one. When too
 * many have no key, the oldest is closed, one without a running response first.
 */
function limitConnections(server: Server) {
  const withoutKey = new Map<Duplex, ServerResponse | undefined>();
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    withoutKey.set(socket, undefined);
    socket.once('close', () => withoutKey.delete(socket));
    if (withoutKey.size <= MOST_WITHOUT_KEY) return;
    const all = [...withoutKey];
    const [oldest] = all.find(([, response]) => !isSending(response)) ?? all[0] ?? [];
    oldest?.destroy();
    if (oldest !== undefined) withoutKey.delete(oldest);
  });
  return {
    /** Exempts a connection that has shown a key, or has another limit. */
    trust: (socket: Duplex): void => void withoutKey.delete(socket),
    /** Records the response that is sent on a connection. */
    setResponse(outgoing: ServerResponse): void {
      const { socket } = outgoing.req;
      if (withoutKey.has(socket)) withoutKey.set(socket, outgoing);
    },
  };
}

function isSending(response: ServerResponse | undefined): boolean {
  return response !== undefined && response.headersSent && !response.writableFinished;
}

/**
 * Sends a response that stops after `afterBytes` of its body: `reset` resets the connection, `truncate`
 * closes it before the announced length or the last chunk. A reset after 0 bytes sends no headers either.
 * A shorter body is sent whole. The operation ends as if the client had disconnected.
 */
async function sendCut(
  response: Response,
  outgoing: ServerResponse,
  { kind, afterBytes }: BodyCut,
  clock: Clock,
): Promise<void> {
  const socket = outgoing.socket ?? (await connectionOf(outgoing, clock));
  if (kind === 'reset' && afterBytes === 0) {
    socket?.resetAndDestroy();
    await response.body?.cancel(CUT);
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.flushHeaders();
  const isWhole = await writeUpTo(afterBytes, response, outgoing);
  if (isWhole) outgoing.end();
  else if (kind === 'truncate') socket?.destroySoon();
  else {
    await clock.sleep(READ_MS);
    socket?.resetAndDestroy();
  }
}

const CUT = new Error('a fault rule cut the response');

/** Waits for the previous response on the connection; returns `undefined` if the connection closes first. */
async function connectionOf(outgoing: ServerResponse, clock: Clock): Promise<Socket | undefined> {
  const { socket: shared } = outgoing.req;
  if (shared.destroyed) return undefined;
  const closed = new AbortController();
  const leave = (): void => closed.abort();
  shared.once('close', leave);
  try {
    await once(outgoing, 'socket', closed);
    await clock.sleep(READ_MS);
    return shared;
  } catch {
    return undefined;
  } finally {
    shared.off('close', leave);
  }
}

/** Sends at most `most` bytes; returns whether that was the whole body. */
async function writeUpTo(
  most: number,
  { body }: Response,
  outgoing: ServerResponse,
): Promise<boolean> {
  if (body === null) return true;
  const reader = body.getReader();
  let left = most;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      const sent = value.subarray(0, left);
      if (sent.length > 0) await write(outgoing, sent);
      if (sent.length < value.length) break;
      left -= sent.length;
    }
  } catch {
    // The body failed, or the client disconnected.
  }
  await reader.cancel(CUT).catch(() => undefined);
  return false;
}

function write(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once('close', resolve);
    outgoing.write(bytes, (error) => {
      outgoing.off('close', resolve);
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}
