import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../effects/clock.ts';
import { brokeSilence, expectSilence } from './connections.ts';
import { ResponseBody } from './response-body.ts';
import type { ResponseHead } from './response-head.ts';
import { readHead } from './response-head.ts';
import { answerFault, connectFault, isParserError, TransportError } from './transport-error.ts';

/** A server may say "not yet" (1xx) this often. */
const MOST_INTERIM_ANSWERS = 16;

const ignore = (): void => {};

/** The head of an answer and its body, which is still on its way. */
export interface TransportAnswer extends ResponseHead {
  readonly body: ResponseBody;
}

export interface ExchangeOptions {
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
