import type { Dispatcher } from 'undici';
import type { Clock } from '../effects/clock.ts';
import type { Framing } from './response-body.ts';
import { ResponseBody } from './response-body.ts';
import type { SocketWatch } from './socket-watch.ts';
import { watchNextRequest } from './socket-watch.ts';
import { answerFault, connectFault, TransportError } from './transport-error.ts';

type Controller = Dispatcher.DispatchController;
type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A server may say "not yet" (1xx) this often. */
const MOST_INTERIM_ANSWERS = 16;

const ignore = (): void => {};

/** The head of an answer and its body, which is still on its way. */
export interface TransportAnswer {
  readonly status: number;
  /** By lower-case name; repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly contentLength: number | undefined;
  readonly body: ResponseBody;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  /** `host:port` for messages. */
  readonly host: string;
  readonly method: string;
  readonly throughProxy: boolean;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Ends the exchange, its body included. */
  readonly signal: AbortSignal | undefined;
}

/**
 * One request and its answer, as undici reports it. Settles once: with the head of the answer, with
 * a {@link TransportError}, or with what it was aborted for.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<TransportAnswer>;
  readonly #options: ExchangeOptions;
  #resolve: (answer: TransportAnswer) => void = ignore;
  #reject: (error: Error) => void = ignore;
  #controller: Controller | undefined;
  #watch: SocketWatch | undefined;
  #body: ResponseBody | undefined;
  #failure: Error | undefined;
  #interim = 0;
  /** The request goes out, and no answer has begun. */
  #isAwaiting = false;
  #stopTimer: () => void;
  readonly #abort = (): void => this.abort(reasonOf(this.#options.signal));

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopTimer = this.#limit(options.connectTimeoutMs, 'connect_timeout');
    options.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Ends it now; a request that is not yet written never will be. */
  abort(reason: Error): void {
    this.#failure ??= reason;
    this.#finish();
    this.#reject(this.#failure);
    this.#body?.end(this.#failure);
    this.#controller?.abort(this.#failure);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#stopTimer();
    if (this.#failure !== undefined) {
      controller.abort(this.#failure);
      return;
    }
    watchNextRequest((watch) => {
      this.#watch = watch;
    });
    this.#isAwaiting = true;
    this.#awaitAnswer();
  }

  /** More of the body was taken: the answer cannot come before it was sent, however long that takes. */
  sending(): void {
    if (this.#isAwaiting) this.#awaitAnswer();
  }

  onResponseStart(_controller: Controller, status: number, raw: RawHeaders): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MOST_INTERIM_ANSWERS) this.abort(this.#fault('protocol'));
      return;
    }
    this.#isAwaiting = false;
    this.#stopTimer();
    const { clock, host, idleTimeoutMs, method } = this.#options;
    const headers = flatten(raw);
    this.#body = new ResponseBody({
      clock,
      host,
      idleTimeoutMs,
      hold: () => this.#watch?.hold(),
      release: () => this.#watch?.release(),
      abandon: (error) => this.#controller?.abort(error),
    });
    this.#resolve({
      status,
      headers,
      ...framing(method, status, headers),
      body: this.#body,
    });
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    const body = this.#body;
    const watch = this.#watch;
    // Two turns of the loop, so that what is already here beyond the announced end is seen.
    setImmediate(() =>
      setImmediate(() => {
        body?.end(watch?.sentTooMuch === true ? this.#fault('surplus') : undefined);
      }),
    );
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#finish();
    const failure = this.#failure ?? this.#explain(error);
    this.#reject(failure);
    this.#body?.end(failure);
  }

  #awaitAnswer(): void {
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
    if (this.#controller !== undefined) return this.#fault(answerFault(error), error);
    return this.#fault(connectFault(error, this.#options.throughProxy), error);
  }

  #limit(ms: number, fault: 'connect_timeout' | 'timeout'): () => void {
    return this.#options.clock.after(ms, () => this.abort(this.#fault(fault)));
  }

  #fault(fault: TransportError['fault'], cause?: unknown): TransportError {
    return new TransportError(fault, this.#options.host, cause);
  }
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('the request was given up');
}

function flatten(raw: RawHeaders): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) {
      headers.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(', '));
    }
  }
  return headers;
}

function framing(
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
): Pick<TransportAnswer, 'framing' | 'contentLength'> {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { framing: 'none', contentLength: undefined };
  }
  if (headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true) {
    return { framing: 'chunked', contentLength: undefined };
  }
  const length = headers.get('content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) {
    return { framing: 'length', contentLength: Number(length) };
  }
  return { framing: 'close', contentLength: undefined };
}
