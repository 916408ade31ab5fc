import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure, statusFailure, transportFailure } from '../api/failures.ts';
import { isHeaderValue, requireProtected, withHttp } from '../api/request.ts';
import { readHeaders, badResponse, readErrorText, parseServiceError } from '../api/response.ts';
import { decideRetry, parseRetryAfter } from '../api/retry.ts';
import { joinHeaders } from '../api/transport/exchange.ts';
import { connectFault, TransportError } from '../api/transport/transport-error.ts';
import { proxyFor, proxyHost } from '../api/transport/proxy.ts';
import type { ProxyEnvironment } from '../api/transport/proxy.ts';
import { FRAME_LIMITS } from '../contract/realtime/limits.ts';
import { REALTIME_PROTOCOLS } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { HEADERS } from '../contract/values.ts';
import type { Clock } from '../system/clock.ts';
import { Failure } from '../errors/failure.ts';

export interface HandshakeOptions {
  /** The request id, which the service writes to its logs. */
  readonly requestId: string;
  readonly clock: Clock;
  /** Maximum time in milliseconds for connecting to the proxy. The connection to the host has the same limit. */
  readonly timeoutMs: number;
  readonly observer?: HandshakeObserver | undefined;
}

export interface HandshakeObserver {
  /** Called when an attempt to connect starts. */
  readonly onConnect: () => void;
  /** Called when an attempt to connect has succeeded or failed. */
  readonly onResponse: (
    response: { readonly url: URL } & (
      | { readonly status: number }
      | { readonly status?: undefined; readonly reason: string }
    ),
  ) => void;
}

/** The parameters of a WebSocket handshake (docs/api/authentication.md, rules 5 and 7). */
export interface Handshake extends HandshakeOptions {
  readonly url: URL;
  readonly subprotocol: string;
  readonly apiKey: string | undefined;
  readonly userAgent: string;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
}

/**
 * Returns the parameters of a handshake with the client's realtime host.
 * @throws Failure: `auth` without an API key, `usage` for an unencrypted URL
 */
export function handshakeOf(
  client: ApiClient,
  protocol: RealtimeProtocol,
  options: HandshakeOptions,
): Handshake {
  const { livePath: target, subprotocol } = REALTIME_PROTOCOLS[protocol];
  const { headers, url: httpUrl } = client.describe({
    method: 'GET',
    target,
    host: 'realtime',
    billed: true,
    retry: 'never',
  });
  const url = new URL(httpUrl.href.replace(/^http/, 'ws'));
  requireProtected(url);
  const userAgent = headers['user-agent'] ?? 'foley';
  return { url, subprotocol, apiKey: client.address.apiKey, userAgent, ...options };
}

/** An event of a WebSocket. The first event is `opened` or `refused`, the last event is `closed`. */
export type SocketEvent =
  | { readonly type: 'opened' }
  | {
      readonly type: 'refused';
      readonly failure: Failure;
      readonly isRetryable: boolean;
      readonly retryAfterMs: number | undefined;
    }
  /** A binary message. The bytes are not reused, so the receiver may keep them. */
  | { readonly type: 'frame'; readonly bytes: Uint8Array }
  /** An invalid message: a text message, or one that violates the WebSocket protocol or the size limits. */
  | { readonly type: 'unreadable'; readonly problem: string }
  | { readonly type: 'closed'; readonly code: number };

/** A connection to the realtime host. The methods never throw; errors arrive as events. */
export interface LiveSocket {
  send(frame: Uint8Array): void;
  /** Closes the connection with a WebSocket close code. Waits up to a second for the service to confirm. */
  close(code: number): void;
  /** Closes the connection at once, without a close frame. */
  abort(): void;
  /** Stops reading, so that the service must wait. A few more messages may still arrive. */
  pause(): void;
  resume(): void;
}

/** Opens a WebSocket connection. Calls the listener for each event, but never before the function returns. */
export type OpenSocket = (listener: (event: SocketEvent) => void) => LiveSocket;

const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Returns a function that opens WebSockets with the `ws` package. The WebSockets use the environment's proxy, send
 * the API key in a header, and limit the size of messages (docs/api/realtime.md).
 */
export function openWebSockets(handshake: Handshake, env: ProxyEnvironment): OpenSocket {
  return (listener) => {
    handshake.observer?.onConnect();
    const socket = new HandshakeSocket(handshake, listener);
    const proxy = proxyFor(withHttp(handshake.url), env);
    if (proxy === undefined) socket.connect();
    else void socket.connectThrough(proxy);
    return socket;
  };
}

class HandshakeSocket implements LiveSocket {
  readonly #handshake: Handshake;
  readonly #listener: (event: SocketEvent) => void;
  #socket: WebSocket | undefined;
  #closeTunnel: (() => void) | undefined;
  #isOver = false;

  constructor(handshake: Handshake, listener: (event: SocketEvent) => void) {
    this.#handshake = handshake;
    this.#listener = listener;
  }

  async connectThrough(proxy: string): Promise<void> {
    const { certificates, clock, timeoutMs, url } = this.#handshake;
    const host = proxyHost(proxy);
    let isLate = false;
    try {
      const { createConnector } = await import('../api/transport/connector.ts');
      const connector = createConnector(withHttp(url), proxy, certificates);
      this.#closeTunnel = () => connector.close();
      const stop = clock.after(timeoutMs, () => {
        isLate = true;
        connector.close();
      });
      const tunnel = await connector.open().finally(stop);
      if (this.#isOver) tunnel.destroy();
      else this.connect({ tunnel, proxy: host });
    } catch (error) {
      const timeout = isLate && new TransportError('connect_timeout', url.host, error, host);
      this.#fail(timeout || error, host);
    }
  }

  connect(route?: { readonly tunnel: Duplex; readonly proxy: string }): void {
    const { apiKey, certificates, requestId, subprotocol, url, userAgent } = this.#handshake;
    const options = {
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        'user-agent': userAgent,
        // The user may choose any characters for a request id, so some ids cannot be sent in a header.
        ...(isHeaderValue(requestId) ? { [HEADERS.requestId]: requestId } : {}),
      },
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: FRAME_LIMITS.frameBytes,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // Set explicitly, because an environment variable can turn verification off.
      rejectUnauthorized: true,
      ca: certificates,
      ...(route === undefined ? {} : { createConnection: () => route.tunnel }),
    };
    const socket = new WebSocket(url, [subprotocol], options);
    this.#socket = socket;
    this.#listen(socket, route?.proxy);
  }

  send(frame: Uint8Array): void {
    // Ignore the error of a failed send, because a close event follows.
    this.#open?.send(frame, () => undefined);
  }

  close(code: number): void {
    this.#isOver = true;
    const socket = this.#open;
    if (socket === undefined) return this.abort();
    // Read again if paused, else the confirmation of the service would never arrive.
    socket.resume();
    return socket.close(code);
  }

  abort(): void {
    this.#isOver = true;
    this.#closeTunnel?.();
    this.#socket?.terminate();
  }

  pause(): void {
    this.#open?.pause();
  }

  resume(): void {
    this.#open?.resume();
  }

  get #open(): WebSocket | undefined {
    return this.#socket?.readyState === WebSocket.OPEN ? this.#socket : undefined;
  }

  #listen(socket: WebSocket, proxy: string | undefined): void {
    const { observer, url } = this.#handshake;
    let isOpen = false;
    socket.binaryType = 'nodebuffer';
    socket.on('open', () => {
      isOpen = true;
      observer?.onResponse({ url, status: 101 });
      this.#notify({ type: 'opened' });
    });
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      void this.#refuse(socket, response);
    });
    socket.on('message', (data: RawData, isBinary) => this.#notify(messageEvent(data, isBinary)));
    socket.on('error', (error) => {
      if (!isOpen) this.#fail(error, proxy);
      // For protocol violations `ws` emits `error`; for a dropped connection it only emits `close`.
      else if ('code' in error && String(error.code).startsWith('WS_ERR_')) {
        this.#notify({ type: 'unreadable', problem: error.message });
      }
    });
    socket.on('close', (code) => {
      if (isOpen) this.#notify({ type: 'closed', code });
      else this.#fail(new TransportError('reset', url.host), proxy);
    });
  }

  async #refuse(socket: WebSocket, response: IncomingMessage): Promise<void> {
    this.#notify(await refusedHandshake(this.#handshake, response));
    socket.terminate();
  }

  #fail(error: unknown, proxy: string | undefined): void {
    if (!this.#isOver) this.#notify(failedHandshake(this.#handshake, error, proxy));
  }

  #notify(event: SocketEvent): void {
    if (this.#isOver) return;
    if (event.type === 'refused' || event.type === 'closed') this.#isOver = true;
    this.#listener(event);
  }
}

function messageEvent(data: RawData, isBinary: boolean): SocketEvent {
  if (!isBinary) return { type: 'unreadable', problem: 'the message is text' };
  if (data instanceof Uint8Array) return { type: 'frame', bytes: data };
  return { type: 'frame', bytes: Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data) };
}

async function refusedHandshake(
  { clock, observer, requestId: ownId, url }: Handshake,
  response: IncomingMessage,
): Promise<SocketEvent> {
  const status = response.statusCode ?? 0;
  observer?.onResponse({ url, status });
  const headers = readHeaders(joinHeaders(response.rawHeaders));
  const discard = (): void => void response.destroy();
  const requestId = headers.requestId ?? ownId;
  const text = await readErrorText({ body: response, discard, requestId }, headers, clock);
  const error = parseServiceError(text, headers);
  const now = clock.now();
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'), now);
  const message = `the realtime host responded with ${status} and opened no WebSocket`;
  const failure =
    status < 400
      ? reviseFailure(badResponse(message, { requestId, status }), {
          hint: 'Check --realtime-url: its host may not offer realtime speech.',
        })
      : statusFailure({ status, error, requestId, retryAfterMs, billed: false, now });
  const outcome = { kind: 'status', status, code: error.code, retryAfterMs } as const;
  return { type: 'refused', failure, isRetryable: isRetryable(outcome), retryAfterMs };
}

function failedHandshake(
  { clock, observer, requestId, subprotocol, timeoutMs, url }: Handshake,
  error: unknown,
  proxy: string | undefined,
): SocketEvent {
  const refused = { type: 'refused', retryAfterMs: undefined } as const;
  if (error instanceof Failure) return { ...refused, failure: error, isRetryable: false };
  const fault = transportErrorOf(error, url, proxy);
  observer?.onResponse({ url, reason: fault?.systemCode ?? fault?.fault ?? 'no_websocket' });
  if (fault === undefined) {
    const problem = error instanceof Error ? error.message : String(error);
    const message = `the realtime host does not support ${subprotocol}: ${problem}`;
    return { ...refused, failure: badResponse(message, { requestId }), isRetryable: false };
  }
  const failure = transportFailure(fault, {
    billed: false,
    requestId,
    now: clock.now(),
    connectTimeoutMs: timeoutMs,
    responseTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
  });
  const permanent = fault.fault === 'certificate' || fault.fault === 'name_unknown';
  const outcome = fault.unsent
    ? ({ kind: 'unsent', permanent } as const)
    : ({ kind: 'unanswered' } as const);
  return { ...refused, failure, isRetryable: isRetryable(outcome) };
}

// Undefined for an invalid response, whose error has no code.
function transportErrorOf(
  error: unknown,
  { host }: URL,
  proxy: string | undefined,
): TransportError | undefined {
  if (error instanceof TransportError) return error;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code === 'ECONNRESET') return new TransportError('reset', host, error, proxy);
  const isParserError = typeof error.code === 'string' && error.code.startsWith('HPE_');
  const fault = isParserError ? 'protocol' : connectFault(error, proxy !== undefined);
  return new TransportError(fault, host, error, proxy);
}

// By the same rule as an unbilled request. Does not count attempts.
function isRetryable(outcome: Parameters<typeof decideRetry>[0]['outcome']): boolean {
  const question = { outcome, attempt: 1, maxRetries: 1, rule: 'safe', fraction: 0 } as const;
  return decideRetry({ ...question, keyMadeByTool: false, keyRenewed: false }).retry;
}
