import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import { brokeSilence, expectSilence } from './connections.ts';

/** A server may say "not yet" (1xx) this often. */
const MOST_INTERIM_ANSWERS = 16;

const ignore = (): void => {};

/** The head of an answer and its body, which is still on its way. */
export interface TransportAnswer extends ResponseHead {
  readonly body: ResponseBody;
}

interface ExchangeOptions {
  readonly clock: Clock;
  /** `host:port` for messages. */
  readonly host: string;
  /** `host:port` of the proxy that carries the connection. */
  readonly proxy: string | undefined;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Ends the exchange, its body included. */
  readonly signal: AbortSignal | undefined;
}

/**
 * One request and its answer, as Node reports them. Settles once: with the head of the answer, with a
 * {@link TransportError}, or with what it was aborted for.
 */
export class Exchange {
  readonly answer: Promise<TransportAnswer>;
  readonly #options: ExchangeOptions;
  readonly #request: ClientRequest;
  #resolve: (answer: TransportAnswer) => void = ignore;
  #reject: (error: Error) => void = ignore;
  /** The connection that the request goes to, as soon as it can. */
  #socket: Socket | undefined;
  #response: IncomingMessage | undefined;
  #body: ResponseBody | undefined;
  #failure: Error | undefined;
  /** The connection broke, but not before the answer was whole. */
  #isBroken = false;
  #interim = 0;
  /** The request goes out, and no answer has begun. */
  #isAwaiting = false;
  #stopTimer: () => void;
  readonly #abort = (): void => this.abort(reasonOf(this.#options.signal));

  /** Follows a request from before it is written; nothing may have happened to it yet. */
  constructor(request: ClientRequest, options: ExchangeOptions) {
    this.#options = options;
    this.#request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopTimer = this.#limit(options.connectTimeoutMs, 'connect_timeout');
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    request.once('socket', (socket) => this.#begin(socket));
    request.on('information', () => this.#countInterim());
    request.once('upgrade', () => this.abort(this.#fault('protocol')));
    request.once('response', (response) => this.#receive(response));
    request.on('error', (error) => this.#fail(error));
  }

  /** Ends it now; a request that is not yet written never will be. */
  abort(reason: Error): void {
    this.#settle(reason);
    this.#request.destroy();
  }

  #begin(socket: Socket): void {
    this.#socket = socket;
    if (this.#failure !== undefined) return;
    this.#isAwaiting = true;
    this.#awaitAnswer();
  }

  /** More of the body was taken: the answer cannot come before it was sent, however long that takes. */
  sending(): void {
    if (this.#isAwaiting) this.#awaitAnswer();
  }

  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM_ANSWERS) this.abort(this.#fault('protocol'));
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
    this.#resolve({ ...readHead(this.#request.method, response), body });
  }

  #end({ statusCode = 0 }: IncomingMessage, body: ResponseBody): void {
    this.#finish();
    const socket = this.#socket;
    if (socket === undefined) return;
    // Node hangs up, in silence when it is a second answer.
    const gotMore = socket.destroyed && !socket.readableEnded && !this.#isBroken;
    // What was refused before all of it was sent need not be sent to its end.
    if (statusCode >= 300 && !this.#request.writableFinished) this.#request.destroy();
    expectSilence(socket);
    // Two turns of the loop, so that what is already here beyond the announced end is seen.
    setImmediate(() =>
      setImmediate(() => {
        body.end(gotMore || brokeSilence(socket) ? this.#fault('surplus') : undefined);
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
    for (const chunk of untold(this.#response)) this.#body.push(chunk);
    this.#body.end(this.#failure);
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
    if (this.#socket !== undefined) return this.#fault(answerFault(error), error);
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
  return signal?.reason instanceof Error ? signal.reason : new Error('the request was given up');
}

/** What has come of a body while it was held. */
function* untold(response: IncomingMessage): Generator<Uint8Array, void, undefined> {
  response.removeAllListeners('data');
  for (;;) {
    const chunk: unknown = response.read();
    if (!(chunk instanceof Uint8Array)) return;
    yield chunk;
  }
}

/** What stands before the body of an answer, and what it says about the body. */
interface ResponseHead {
  readonly status: number;
  /** By lower-case name; repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly contentLength: number | undefined;
}

/** @param method of the request, which decides whether there is a body */
function readHead(
  method: string,
  { rawHeaders, statusCode: status = 0 }: Pick<IncomingMessage, 'rawHeaders' | 'statusCode'>,
): ResponseHead {
  const headers = joined(rawHeaders);
  return { status, headers, ...framing(method, status, headers) };
}

/** @param raw names and values in turns */
function joined(raw: readonly string[]): ReadonlyMap<string, string> {
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
): Pick<ResponseHead, 'framing' | 'contentLength'> {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { framing: 'none', contentLength: undefined };
  }
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined) {
    // Whatever stands last decides; the end of any other is that of the connection.
    const isChunked = /(^|,)\s*chunked\s*$/i.test(coding);
    return { framing: isChunked ? 'chunked' : 'close', contentLength: undefined };
  }
  const length = headers.get('content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) {
    return { framing: 'length', contentLength: Number(length) };
  }
  return { framing: 'close', contentLength: undefined };
}

/** Above this much unread data the sender is held, below half of it released. */
const HELD_BYTES = 1 << 20;

/** How the end of a body is known; what ends with the connection may have been cut unnoticed. */
export type Framing = 'length' | 'chunked' | 'close' | 'none';

interface BodySource {
  readonly clock: Clock;
  readonly host: string;
  /** Longest wait for the next byte while somebody reads. */
  readonly idleTimeoutMs: number;
  hold(): void;
  release(): void;
  /** Gives the connection up. */
  abandon(error: Error): void;
}

/**
 * A body as it arrives: read once, with back-pressure, so that little of it is ever in memory. An
 * iteration that ends early gives the connection up. The time limit runs only while somebody waits.
 */
export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #unread = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Bytes have arrived. */
  push(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#unread += chunk.length;
    if (this.#unread >= HELD_BYTES) this.#source.hold();
    this.#wake?.();
  }

  /** Nothing more will come; without an error the body is whole. What came earlier is still read. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  /** Drops what is unread and gives the connection up. */
  discard(reason: Error = new Error('the body is not wanted')): void {
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
          if (this.#end.error !== undefined) throw this.#end.error;
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
    const { clock, host, idleTimeoutMs } = this.#source;
    return new Promise((resolve) => {
      const stop = clock.after(idleTimeoutMs, () => {
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

/** How an attempt to get an answer went wrong, below HTTP. */
export type Fault =
  // before anything was sent
  | 'name_unknown'
  | 'name_unavailable'
  | 'refused'
  | 'connect_timeout'
  | 'certificate'
  | 'proxy'
  | 'unreachable'
  // sent in part only
  | 'upload_reset'
  | 'upload_timeout'
  // sent, and no answer began
  | 'reset'
  | 'timeout'
  // an answer began
  | 'protocol'
  | 'cut'
  | 'idle'
  | 'surplus';

const UNSENT = new Set<Fault>([
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

/** A fault of the connection, told apart by what is known of the request's fate. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: Fault;
  /** `host:port` that was called. */
  readonly host: string;
  /** The system's or TLS library's own code, such as `CERT_HAS_EXPIRED`. */
  readonly systemCode: string | undefined;
  /** `host:port` of the proxy that was to carry the connection. */
  readonly proxy: string | undefined;

  constructor(fault: Fault, host: string, cause?: unknown, proxy?: string) {
    super(`${fault}: ${host}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.host = host;
    this.systemCode = codeOf(cause);
    this.proxy = proxy;
  }

  /** Whether it is certain that the service never saw the whole request. */
  get unsent(): boolean {
    return UNSENT.has(this.fault);
  }

  /** Whether the request was sent and no answer began. */
  get unanswered(): boolean {
    return UNANSWERED.has(this.fault);
  }
}

/** A proxy answered CONNECT with anything but 200. */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super(`the proxy answers ${status}`);
    this.status = status;
  }
}

/** The fault of a connection that failed before it was in use for the request. */
export function connectFault(error: unknown, throughProxy: boolean): Fault {
  const code = codeOf(error) ?? '';
  if (code === 'ENOTFOUND') return 'name_unknown';
  if (code === 'EAI_AGAIN') return 'name_unavailable';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'connect_timeout';
  if (isCertificateCode(code)) return 'certificate';
  return throughProxy ? 'proxy' : 'unreachable';
}

/** What an error after the request was written and before the answer's headers means. */
function answerFault(error: Error): Fault {
  return isParserError(error) ? 'protocol' : 'reset';
}

/** Whether the parser says that the bytes are not HTTP. */
export function isParserError(error: Error): boolean {
  return codeOf(error)?.startsWith('HPE_') === true;
}

/** Errors of TLS itself: certificates, names in them, and an other side that does not speak it. */
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
