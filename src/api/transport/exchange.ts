import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import { hasReceivedUnexpectedData, closeOnUnexpectedData } from './connections.ts';

export const CONNECT_TIMEOUT_MS = 10_000;

const MOST_INTERIM_RESPONSES = 16;

const ignore = (): void => {};

export interface TransportResponse {
  readonly status: number;
  /** Headers by lower-case name; the values of repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly contentLength: number | undefined;
  readonly body: ResponseBody;
}

interface ExchangeOptions {
  readonly clock: Clock;
  readonly host: string;
  readonly proxy: string | undefined;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * One HTTP request and its response. `result` resolves once the response headers have arrived, or rejects with a
 * {@link TransportError} or the signal's abort reason.
 */
export class Exchange {
  readonly result: Promise<TransportResponse>;
  readonly #options: ExchangeOptions;
  readonly #request: ClientRequest;
  #resolve: (response: TransportResponse) => void = ignore;
  #reject: (error: Error) => void = ignore;
  #socket: Socket | undefined;
  #response: IncomingMessage | undefined;
  #body: ResponseBody | undefined;
  #failure: Error | undefined;
  // True if the connection broke after the whole response had arrived.
  #isBroken = false;
  #interim = 0;
  #isAwaiting = false;
  #stopTimer: () => void;
  readonly #abort = (): void => this.abort(reasonOf(this.#options.signal));

  /** Attaches listeners to a request that has not been written yet. */
  constructor(request: ClientRequest, options: ExchangeOptions) {
    this.#options = options;
    this.#request = request;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopTimer = this.#limit(CONNECT_TIMEOUT_MS, 'connect_timeout');
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    request.once('socket', (socket) => this.#begin(socket));
    request.on('information', () => this.#countInterim());
    request.once('upgrade', () => this.abort(this.#fault('protocol')));
    request.once('response', (response) => this.#receive(response));
    request.on('error', (error) => this.#fail(error));
  }

  /** Aborts the exchange. If the request has not been written yet, the request is never sent. */
  abort(reason: Error): void {
    this.#settle(reason);
    this.#request.destroy();
  }

  #begin(socket: Socket): void {
    this.#socket = socket;
    if (this.#failure !== undefined) return;
    this.#isAwaiting = true;
    this.#awaitResponse();
  }

  /** Restarts the response timeout. Called whenever a part of the request body has been sent. */
  sending(): void {
    if (this.#isAwaiting) this.#awaitResponse();
  }

  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM_RESPONSES) this.abort(this.#fault('protocol'));
  }

  #receive(response: IncomingMessage): void {
    this.#response = response;
    this.#isAwaiting = false;
    this.#stopTimer();
    const { clock, host, idleTimeoutMs } = this.#options;
    const body = new ResponseBody({
      clock,
      host,
      idleTimeoutMs,
      hold: () => response.pause(),
      release: () => response.resume(),
      abandon: (error) => this.abort(error),
    });
    this.#body = body;
    response.on('data', (chunk: Uint8Array) => body.push(chunk));
    response.on('error', (error) => this.#fail(error));
    response.once('end', () => this.#end(response, body));
    const { rawHeaders, statusCode: status = 0 } = response;
    const headers = joinHeaders(rawHeaders);
    this.#resolve({ status, headers, ...framing(this.#request.method, status, headers), body });
  }

  #end({ statusCode = 0 }: IncomingMessage, body: ResponseBody): void {
    this.#finish();
    const socket = this.#socket;
    if (socket === undefined) return;
    // If data follows the response, Node closes the connection without an error.
    const gotMore = socket.destroyed && !socket.readableEnded && !this.#isBroken;
    // If the service rejects an upload early, the rest of the upload is not sent.
    if (statusCode >= 300 && !this.#request.writableFinished) this.#request.destroy();
    closeOnUnexpectedData(socket);
    // Wait two turns of the event loop, to detect data after the end of the response.
    setImmediate(() =>
      setImmediate(() => {
        body.end(gotMore || hasReceivedUnexpectedData(socket) ? this.#fault('surplus') : undefined);
      }),
    );
  }

  #fail(error: Error): void {
    if (this.#response?.complete === true) this.#isBroken = !isParserError(error);
    else this.#settle(this.#explain(error));
  }

  #settle(failure: Error): void {
    this.#failure ??= failure;
    this.#finish();
    this.#reject(this.#failure);
    if (this.#response === undefined || this.#body === undefined) return;
    for (const chunk of unreadChunks(this.#response)) this.#body.push(chunk);
    this.#body.end(this.#failure);
  }

  #awaitResponse(): void {
    this.#stopTimer();
    this.#stopTimer = this.#limit(this.#options.responseTimeoutMs, 'timeout');
  }

  #finish(): void {
    this.#isAwaiting = false;
    this.#stopTimer();
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }

  #explain(error: Error): Error {
    if (this.#body !== undefined) return this.#fault('cut', error);
    if (this.#socket !== undefined) {
      return this.#fault(isParserError(error) ? 'protocol' : 'reset', error);
    }
    if (error instanceof TransportError) return error;
    return this.#fault(connectFault(error, this.#options.proxy !== undefined), error);
  }

  #limit(ms: number, fault: 'connect_timeout' | 'timeout'): () => void {
    return this.#options.clock.after(ms, () => this.abort(this.#fault(fault)));
  }

  #fault(fault: TransportError['fault'], cause?: unknown): TransportError {
    return new TransportError(fault, this.#options.host, cause, this.#options.proxy);
  }
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('the request was aborted');
}

function* unreadChunks(response: IncomingMessage): Generator<Uint8Array, void, undefined> {
  response.removeAllListeners('data');
  for (;;) {
    const chunk: unknown = response.read();
    if (!(chunk instanceof Uint8Array)) return;
    yield chunk;
  }
}

/**
 * Returns headers by lower-case name. Joins the values of a repeated header with commas.
 * @param raw alternating names and values
 */
export function joinHeaders(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}

function framing(
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
): Pick<TransportResponse, 'framing' | 'contentLength'> {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { framing: 'none', contentLength: undefined };
  }
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined) {
    // Only the last transfer coding counts; unless it is chunked, the body ends with the connection.
    const isChunked = /(^|,)\s*chunked\s*$/i.test(coding);
    return { framing: isChunked ? 'chunked' : 'close', contentLength: undefined };
  }
  const length = headers.get('content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) {
    return { framing: 'length', contentLength: Number(length) };
  }
  return { framing: 'close', contentLength: undefined };
}

// Pauses reading from the socket above this many unread bytes; resumes below half of it.
const HELD_BYTES = 1 << 20;

/** How HTTP marks the end of a response body. With `close`, an interrupted body looks complete. */
export type Framing = 'length' | 'chunked' | 'close' | 'none';

interface BodyControl {
  readonly clock: Clock;
  readonly host: string;
  readonly idleTimeoutMs: number;
  hold(): void;
  release(): void;
  abandon(error: Error): void;
}

/**
 * A response body, which can be read once, with back-pressure. Closes the connection if the reader stops early. The
 * idle timeout runs only while the reader waits for data.
 */
export class ResponseBody implements AsyncIterable<Uint8Array> {
  idleTimeoutMs: number;
  /** Called with the error if the body is incomplete. Returns the error that the reader of the body gets instead. */
  explain: (error: Error) => Error | Promise<Error> = (error) => error;
  readonly #source: BodyControl;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodyControl) {
    this.#source = source;
    this.idleTimeoutMs = source.idleTimeoutMs;
  }

  push(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#unread += chunk.length;
    if (this.#unread >= HELD_BYTES) this.#source.hold();
    this.#wake?.();
  }

  /** Marks the body as complete, or as failed if `error` is given. Bytes that arrived earlier can still be read. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  /** Drops unread bytes and closes the connection. */
  discard(reason: Error = new Error('the body was discarded')): void {
    const unfinished = this.#end === undefined;
    this.#end ??= { error: reason };
    this.#chunks = [];
    if (unfinished) this.#source.abandon(reason);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let whole = false;
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#taken(chunk.length);
          yield chunk;
        } else if (this.#end !== undefined) {
          whole = true;
          if (this.#end.error !== undefined) throw await this.explain(this.#end.error);
          return;
        } else {
          await this.#more();
        }
      }
    } finally {
      if (!whole) this.discard();
    }
  }

  #taken(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread <= HELD_BYTES / 2) this.#source.release();
  }

  #more(): Promise<void> {
    const { clock, host } = this.#source;
    return new Promise((resolve) => {
      const stop = clock.after(this.idleTimeoutMs, () => {
        this.discard(new TransportError('idle', host));
      });
      this.#wake = () => {
        this.#wake = undefined;
        stop();
        resolve();
      };
    });
  }
}

/** The reasons why a request can end without a complete response. */
export type Fault =
  // Nothing was sent:
  | 'name_unknown'
  | 'closed'
  | 'name_unavailable'
  | 'refused'
  | 'connect_timeout'
  | 'certificate'
  | 'proxy'
  | 'unreachable'
  // Only a part of the request was sent:
  | 'upload_reset'
  | 'upload_timeout'
  // The request was sent, and no response began:
  | 'reset'
  | 'timeout'
  // A response began:
  | 'protocol'
  | 'cut'
  | 'idle'
  | 'surplus';

const UNSENT = new Set<Fault>([
  'closed',
  'name_unknown',
  'name_unavailable',
  'refused',
  'connect_timeout',
  'certificate',
  'proxy',
  'unreachable',
  'upload_reset',
  'upload_timeout',
]);
const UNANSWERED = new Set<Fault>(['reset', 'timeout']);

/** An error of an HTTP exchange. The fault shows how much of the request the service may have received. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;
  /** `host:port` of the service. */
  readonly host: string;
  /** The code of the system or TLS library, such as `CERT_HAS_EXPIRED`. */
  readonly systemCode: string | undefined;
  /** `host:port` of the proxy; undefined for a direct connection. */
  readonly proxy: string | undefined;

  constructor(fault: Fault, host: string, cause?: unknown, proxy?: string) {
    super(`${fault}: ${host}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.host = host;
    this.systemCode = codeOf(cause);
    this.proxy = proxy;
  }

  /** True if the service certainly did not receive the whole request. */
  get unsent(): boolean {
    return UNSENT.has(this.fault);
  }

  /** True if the whole request was sent but no response began. */
  get unanswered(): boolean {
    return UNANSWERED.has(this.fault);
  }
}

/** The response of a proxy that refused to open a tunnel (`CONNECT`). */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super(`the proxy returned ${status}`);
    this.status = status;
  }
}

/** Returns the fault that describes an error while opening a connection. */
export function connectFault(error: unknown, throughProxy: boolean): Fault {
  const code = codeOf(error) ?? '';
  if (code === 'ENOTFOUND') return 'name_unknown';
  if (code === 'EAI_AGAIN') return 'name_unavailable';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'connect_timeout';
  if (isCertificateCode(code)) return 'certificate';
  return throughProxy ? 'proxy' : 'unreachable';
}

/** Returns true for an error of Node's HTTP parser, which reports invalid bytes. */
export function isParserError(error: Error): boolean {
  return codeOf(error)?.startsWith('HPE_') === true;
}

/** Returns true if an error code comes from TLS, for example because the certificate names another host. */
export function isCertificateCode(code: string): boolean {
  return (
    /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$/.test(code) ||
    code === 'EPROTO' ||
    code === 'UND_ERR_PRX_TLS'
  );
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
