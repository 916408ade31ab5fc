import type { Dispatcher } from 'undici';
import type { Clock } from '../../system/clock.ts';
import type { Connection, Connections } from './connections.ts';
import { connectFault, TransportError, CONNECT_TIMEOUT_MS } from './transport-error.ts';

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
  readonly connections: Connections;
  readonly method: string;
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
export class Exchange implements Dispatcher.DispatchHandler {
  readonly result: Promise<TransportResponse>;
  readonly #options: ExchangeOptions;
  readonly #connection: Connection;
  #resolve: (response: TransportResponse) => void = ignore;
  #reject: (error: Error) => void = ignore;
  #isStarted = false;
  #isAwaiting = false;
  #response: TransportResponse | undefined;
  #failure: Error | undefined;
  #interim = 0;
  #stopTimer: () => void;
  readonly #abort = (): void => this.abort(reasonOf(this.#options.signal));

  constructor(connection: Connection, options: ExchangeOptions) {
    this.#options = options;
    this.#connection = connection;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopTimer = this.#limit(CONNECT_TIMEOUT_MS, 'connect_timeout');
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Aborts the exchange. If the request has not been written yet, the request is never sent. */
  abort(reason: Error): void {
    this.#settle(reason);
    this.#connection.destroy(reason);
  }

  /** Restarts the response timeout. Called whenever a part of the request body has been sent. */
  sending(): void {
    if (this.#isAwaiting) this.#awaitResponse();
  }

  /** undici calls this method before it writes the first byte of the request. */
  onRequestStart(): void {
    // Nothing but foley's retry decision may repeat a request.
    if (this.#isStarted) throw this.#fault('reset');
    this.#isStarted = true;
    this.#isAwaiting = true;
    this.#awaitResponse();
  }

  onRequestUpgrade(): void {
    this.abort(this.#fault('protocol'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MOST_INTERIM_RESPONSES) this.abort(this.#fault('protocol'));
      return;
    }
    this.#isAwaiting = false;
    this.#stopTimer();
    const { clock, host, idleTimeoutMs, method } = this.#options;
    const body = new ResponseBody({
      clock,
      host,
      idleTimeoutMs,
      hold: () => controller.pause(),
      release: () => controller.resume(),
      abandon: (error) => this.abort(error),
    });
    const headers = joinHeaders(controller.rawHeaders);
    this.#response = { status, headers, ...framing(method, status, headers), body };
    this.#resolve(this.#response);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#response?.body.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    // Wait two turns of the event loop, to detect data after the end of the response.
    setImmediate(() =>
      setImmediate(() => {
        const connection = this.#connection;
        // undici takes a body that ends with the connection as complete even if the connection was reset.
        const isCut = this.#response?.framing === 'close' && connection.isBroken;
        const fault = isCut ? 'cut' : connection.hasInvalidBytes ? 'surplus' : undefined;
        this.#options.connections.giveBack(connection);
        this.#response?.body.end(fault === undefined ? undefined : this.#fault(fault));
      }),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.abort(this.#explain(error));
  }

  #settle(failure: Error): void {
    this.#failure ??= failure;
    this.#finish();
    this.#reject(this.#failure);
    this.#response?.body.end(this.#failure);
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
    if (this.#response !== undefined) return this.#fault('cut', error);
    if (this.#isStarted) {
      return this.#fault(this.#connection.hasInvalidBytes ? 'protocol' : 'reset', error);
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

/**
 * Returns headers by lower-case name. Joins the values of a repeated header with commas.
 * @param raw alternating names and values
 */
export function joinHeaders(
  raw: Dispatcher.DispatchController['rawHeaders'],
): ReadonlyMap<string, string> {
  const texts = Array.isArray(raw) ? raw.map((text) => text.toString('latin1')) : [];
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const name = (texts[index] ?? '').toLowerCase();
    const value = texts[index + 1] ?? '';
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
