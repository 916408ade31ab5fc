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
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import { ServiceError, errorResponse } from '../service-error.ts';
import type { Service } from '../service.ts';
import { isLivePath } from '../realtime/admission.ts';
import { onUpgrade, RESET_DELAY_MS } from './upgrade.ts';
import type { BodyCut } from './faults.ts';

export interface ServeOptions {
  readonly service: Service;
  readonly host: string;
  /** Port to listen on; 0 selects a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Time and size limits; only tests override the defaults. */
  readonly limits?: Partial<typeof LIMITS>;
}

export interface ServiceServer {
  readonly baseUrl: string;
  readonly realtimeUrl: string;
  /**
   * Stops listening, and waits until all running responses have been sent. When `hurry` is aborted, truncates these
   * responses and leaves unfinished jobs to the next service process.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

// A body has no time limit: clients may play the speech while they read it.
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16 * 1024,
  // Node would refuse a request without `Host` with an empty body; the service refuses it with an error body.
  requireHostHeader: false,
};
// Time for clients to read their responses after the service has closed.
const FLUSH_GRACE_MS = 600_000;
// Interval between checks for idle connections while the server closes.
const IDLE_POLL_MS = 50;

// From Node 24.9 on, a server says which requests it upgrades. Node 26 reads the body of an upgrade request, so that
// `reconnect` could not read it again.
const UPGRADES = {
  shouldUpgradeCallback: ({ url = '' }: IncomingMessage): boolean =>
    URL.canParse(url, 'http://localhost') && isLivePath(new URL(url, 'http://localhost').pathname),
};

/** Serves HTTP and WebSockets on a host and port. @throws ListenError when listening fails */
export async function startServer(options: ServeOptions): Promise<ServiceServer> {
  const { clock, limits, random, service } = options;
  const server = createServer({ ...LIMITS, ...UPGRADES, ...limits });
  const connections = limitConnections(server);
  const listener = createListener(options, connections);
  server.on('request', listener);
  // Node would respond to an unknown expectation without a body.
  server.on('checkExpectation', listener);
  const { trust } = connections;
  const refuse = (): Response => invalidTarget(random);
  const reconnect = (socket: Socket): void => void server.emit('connection', socket);
  server.on('upgrade', onUpgrade({ service, clock, trust, reconnect, refuse }));
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
  connections: ConnectionLimit,
): Listener {
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      if (service.hasKey(request.headers)) connections.trust(incoming.socket);
      const response = await service.fetch(request, incoming.socket.remoteAddress);
      const fault = service.cutOf(response);
      if (fault !== undefined && outgoing instanceof NodeResponse) {
        await sendCut(response, outgoing, fault, clock);
        return RESPONSE_ALREADY_SENT;
      }
      return withUncleanEnd(response, () => {
        // HTTP/1.0 needs a reset, because there a normal close ends a complete body.
        if (incoming.httpVersion === '1.0') incoming.socket.resetAndDestroy();
        else outgoing.destroy();
      });
    },
    { overrideGlobalObjects: false, errorHandler: () => invalidTarget(random) },
  );
  return (incoming, outgoing) => {
    connections.setResponse(outgoing);
    // An upgrade that the service ignores ends its connection.
    if (incoming.headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
    void listener(incoming, outgoing);
  };
}

// Destroys the connection when a response body fails, so that the client notices an incomplete body. Otherwise the HTTP
// adapter would print the error or write it into the body.
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

// For a URL, so a wildcard address is replaced by the loopback address.
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

// Time for a client to read an error before the connection is closed.
const READ_GRACE_MS = 1_000;

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

type HttpRefusal = readonly [ServiceErrorCode, string];

const NOT_HTTP: HttpRefusal = ['ERR_INVALID_REQUEST', 'This is not an HTTP request'];
const REFUSALS: Readonly<Record<string, HttpRefusal>> = {
  HPE_HEADER_OVERFLOW: ['ERR_HEADERS_TOO_LARGE', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['ERR_REQUEST_TIMEOUT', 'The request took too long to arrive'],
};

// As text, because Node creates no response object for an invalid request.
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

/** Thrown if listening fails: the port is in use, or the address does not belong to this machine. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly reason: 'in-use' | 'refused';

  constructor(reason: 'in-use' | 'refused', message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

// With or without an API key.
const MOST_CONNECTIONS = 1_024;
// The other connections are reserved for clients with a valid API key.
const MOST_WITHOUT_KEY = 256;

type ConnectionLimit = ReturnType<typeof limitConnections>;

// Clients without an API key cannot block clients with a key: above the limit, the oldest connection without a key is
// closed, preferably an idle one.
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
    // From now on, the limit for connections without an API key does not apply.
    trust: (socket: Duplex): void => void withoutKey.delete(socket),
    // While a connection has a response in progress, it is not idle.
    setResponse(outgoing: ServerResponse): void {
      const { socket } = outgoing.req;
      if (withoutKey.has(socket)) withoutKey.set(socket, outgoing);
    },
  };
}

function isSending(response: ServerResponse | undefined): boolean {
  return response !== undefined && response.headersSent && !response.writableFinished;
}

// `reset` resets the connection after `afterBytes` of the body; after 0 bytes, not even headers are sent. `truncate`
// closes the connection before the announced length or the last chunk. The request is billed as if the client had
// disconnected.
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
    await clock.sleep(RESET_DELAY_MS);
    socket?.resetAndDestroy();
  }
}

const CUT = new Error('a fault rule cut the response');

// Waits until earlier responses are sent; `undefined` if the connection closes first.
async function connectionOf(outgoing: ServerResponse, clock: Clock): Promise<Socket | undefined> {
  const { socket: shared } = outgoing.req;
  if (shared.destroyed) return undefined;
  const closed = new AbortController();
  const leave = (): void => closed.abort();
  shared.once('close', leave);
  try {
    await once(outgoing, 'socket', closed);
    await clock.sleep(RESET_DELAY_MS);
    return shared;
  } catch {
    return undefined;
  } finally {
    shared.off('close', leave);
  }
}

// True if `most` bytes were enough for the whole body.
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
