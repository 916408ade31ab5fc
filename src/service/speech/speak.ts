import type { Clock } from '../../system/clock.ts';
import { closeQuietly } from '../../system/concurrency.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf, SpeechLimit } from '../engine/speech-engine.ts';
import type { Operation, Operations } from '../operations/operations.ts';
import type { ServiceEvent } from '../running-service.ts';
import {
  closingError,
  invalidRequest,
  ServiceError,
  speechFailureMessage,
  storageFullError,
} from '../service-error.ts';
import type { Store } from '../store/open-store.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { EncodedFormat, EncodeSpeech } from './encode.ts';
import type { Generations, RunningGeneration } from './generations.ts';
import type { SpeechPlan } from './plan-speech.ts';

/** The components of the service that every kind of speech needs: over HTTP, in jobs and in real time. */
export interface SpeechContext {
  readonly clock: Clock;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly operations: Operations;
  readonly generations: Generations;
  readonly speechQueue: SpeechQueue;
  readonly encode: EncodeSpeech;
  readonly report: (event: ServiceEvent) => void;
}

/** A request whose price is reserved, and which is charged when its speech is generated. */
export interface GenerationRequest {
  readonly context: SpeechContext;
  readonly operation: Operation;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A validated speech request whose price is reserved. */
export interface Speaking extends GenerationRequest {
  readonly account: string;
  readonly plan: SpeechPlan;
  readonly requestId: string;
}

/** Audio that is streamed while the engine is still speaking. */
export interface SpokenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly quotaRemaining: number;
}

/**
 * Starts the response to a speech request: waits for the first audio, spends the reserved credits and returns a body
 * that streams the audio. When the body ends, the charge is kept or refunded (docs/api/errors.md#idempotency).
 * @throws ServiceError 400 for unspeakable text and 429 for a full queue: nothing is charged, and the client can use
 * the idempotency key again. Otherwise 500 or 507: the charge is refunded.
 */
export function speakStream(speaking: Speaking): Promise<SpokenStream> {
  const { context, operation, plan } = speaking;
  return generate(speaking, plan.textField, async (generation) => {
    const chunks = speechOf(speaking, generation.signal);
    const audio = await startAudio({ ...plan, chunks }, context.encode);
    const { quota } = requireSettled(operation.commit());
    const { rest } = audio;
    const head = [...audio.head];
    const next = async (): Promise<Uint8Array | undefined> => {
      const first = head.shift();
      if (first !== undefined) return first;
      const { done, value } = await rest.next();
      return done === true ? undefined : value;
    };
    return { body: settledBody(speaking, generation, { rest, next }), quotaRemaining: quota };
  });
}

/** Speaks the text of a request through the speech queue, which limits the number of waiting requests. */
export function speechOf(
  { account, context, plan }: Speaking,
  signal: AbortSignal,
): AsyncIterable<SpeechChunk> {
  const { engineRequest: request, voice } = plan;
  return context.speechQueue.synthesize({ account, speaker: voice.speaker, request, signal });
}

/**
 * Runs `work`, which prepares the response to a speech request. A disconnect of the client aborts the generation. If
 * `work` fails, refunds the charge.
 * @param field name of the request field with the text, for messages
 * @throws ServiceError as `speakStream` does
 */
export async function generate<Result>(
  { context, operation, signal }: GenerationRequest,
  field: string,
  work: (generation: RunningGeneration) => Promise<Result>,
): Promise<Result> {
  const generation = context.generations.start();
  const abort = (): void => generation.abort(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await work(generation);
  } catch (error) {
    generation.abort(error);
    generation.end();
    const isUnspeakable = error instanceof EngineError && error.reason === 'unspeakable';
    const isRefused = error instanceof ServiceError && error.code === 'ERR_RATE_LIMITED';
    if (isUnspeakable || isRefused) operation.release();
    else operation.refund(engineMessageOf(error));
    if (isRefused) throw error;
    if (!isUnspeakable) throw speechError(error);
    throw invalidRequest([
      { field, message: `${field} contains nothing that this voice can speak` },
    ]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Returns the result of a billing step, such as `operation.commit`.
 * @throws Error if the result is undefined, because another process has already refunded the request
 */
export function requireSettled<Result>(result: Result | undefined): Result {
  if (result === undefined) throw new Error('the operation was settled by another process');
  return result;
}

/** Returns the error for failed, refunded speech: 507 for a full disk, otherwise 500. */
export function speechError(error: unknown): ServiceError {
  const message = speechFailureMessage(engineMessageOf(error));
  const engine = error instanceof EngineError ? error.engine : undefined;
  const details = engine === undefined ? undefined : { engine };
  return (
    storageFullError(error) ??
    new ServiceError('ERR_GENERATION_FAILED', message, { details, cause: error })
  );
}

interface StartedAudio {
  readonly head: readonly Uint8Array[];
  readonly rest: AsyncIterator<Uint8Array>;
}

/**
 * Starts to encode speech, and waits until the output contains audio, not only a file header.
 * @throws EngineError when nothing can be spoken; errors of the engine or the encoder
 */
export async function startAudio(
  source: {
    readonly chunks: AsyncIterable<SpeechChunk>;
    readonly format: EncodedFormat;
    /** Change of the audio level in decibels. */
    readonly gainDb: number;
    /** Serial number, from 1, of an Opus stream. It distinguishes streams that clients concatenate. */
    readonly streamNumber?: number | undefined;
  },
  encode: EncodeSpeech,
): Promise<StartedAudio> {
  const { chunks, format, gainDb, streamNumber } = source;
  let isSpeaking = false;
  const observed = observe(chunks, () => {
    isSpeaking = true;
  });
  const rest = encode(format, observed, { gainDb, streamNumber })[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done !== true) head.push(next.value);
    if (isSpeaking) return { head, rest };
    if (next.done === true) {
      throw new EngineError('unspeakable', 'The text contains nothing that this voice can speak');
    }
  }
}

/** Yields the chunks unchanged. Calls `onChunk` with each chunk before yielding it. */
export async function* observe(
  chunks: AsyncIterable<SpeechChunk>,
  onChunk: (chunk: SpeechChunk) => void,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

interface BodySource {
  /** Iterator to close when the response body has ended. */
  readonly rest: AsyncIterator<unknown>;
  readonly next: () => Promise<Uint8Array | undefined>;
  readonly completed?: () => Uint8Array;
  /**
   * Called if speech fails. Returns the last bytes of the response body, which contain the error. If this function is
   * missing, the body stream fails instead.
   */
  readonly failed?: (error: ServiceError) => Uint8Array;
}

/**
 * Returns a response body that is produced as fast as the client reads it. The charge is kept if the body is complete
 * or the client cancelled. It is refunded if speech failed.
 */
export function settledBody(
  { context, operation, requestId }: Speaking,
  generation: RunningGeneration,
  { rest, next, completed, failed }: BodySource,
): ReadableStream<Uint8Array> {
  const settlement = createSettlement({
    generation,
    operation,
    source: rest,
    onFailure: (error) => context.report({ type: 'failure', requestId, error }),
  });
  let isOver = false;
  const fail = (controller: BodyController, cause: unknown, error: ServiceError): void => {
    if (isOver) return;
    isOver = true;
    settlement.fail(cause);
    if (failed === undefined) return controller.error(cause);
    controller.enqueue(failed(error));
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { signal } = generation;
        const abort = (): void => fail(controller, signal.reason, closingError());
        signal.addEventListener('abort', abort, { once: true });
      },
      async pull(controller) {
        try {
          const bytes = await next();
          if (isOver) return;
          if (bytes !== undefined) return controller.enqueue(bytes);
          if (!settlement.complete()) throw new Error('the response could not be settled');
          isOver = true;
          if (completed !== undefined) controller.enqueue(completed());
          controller.close();
        } catch (error) {
          fail(controller, error, speechError(error));
        }
      },
      cancel(reason) {
        isOver = true;
        settlement.leave(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

type BodyController = ReadableStreamDefaultController<Uint8Array>;

function createSettlement({
  generation,
  operation,
  source,
  onFailure,
}: {
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  readonly source: AsyncIterator<unknown>;
  readonly onFailure: (error: unknown) => void;
}) {
  let isSettled = false;
  let failure: unknown;
  const settle = (work: () => void): void => {
    if (isSettled) return;
    isSettled = true;
    try {
      work();
    } catch (error) {
      failure = error;
      onFailure(error);
    } finally {
      generation.end();
      void closeQuietly(source);
    }
  };
  return {
    /**
     * Call when the whole response body has been sent. Returns true if the charge is kept.
     * @throws the database error if the charge cannot be stored
     */
    complete(): boolean {
      let stands = false;
      settle(() => {
        stands = operation.complete();
      });
      if (failure !== undefined) throw failure;
      return stands;
    },
    /** Call when the client disconnected: stops the engine and keeps the charge. */
    leave: (reason: unknown): void =>
      settle(() => {
        generation.abort(reason);
        operation.complete();
      }),
    /** Call when speech failed: stops the engine and refunds the charge. */
    fail: (error: unknown): void =>
      settle(() => {
        onFailure(error);
        generation.abort(error);
        operation.refund(engineMessageOf(error));
      }),
  };
}

const DEFAULT_MAX_WAITING = 64;
const CHARACTERS_A_SECOND = 15;
const INITIAL_MS_A_CHARACTER = 1;
const NEWEST = 0.2;

/**
 * Limits the number of requests that wait for an engine to `maxWaiting` (default 64). A request whose client reads
 * slowly does not count as waiting. A full queue usually refuses a new request. It accepts the request if another
 * account has at least two more waiting requests than the account of the new request. The account with the most waiting
 * requests then loses its newest request without audio.
 */
export class SpeechQueue {
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<WaitingSpeech>();
  #msPerCharacter = INITIAL_MS_A_CHARACTER;
  #lastChunkAt = 0;
  #nextFreeAt = 0;

  constructor(options: { readonly clock: Clock; readonly maxWaiting?: number | undefined }) {
    this.#clock = options.clock;
    this.#maxWaiting = options.maxWaiting ?? DEFAULT_MAX_WAITING;
  }

  /** Number of requests that wait for an engine. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Checks whether the queue would accept a new request of the account now.
   * @throws ServiceError 429 with `Retry-After` if the queue would refuse the request
   */
  requireCapacity(account: string): void {
    if (this.#waiting.size < this.#maxWaiting) return;
    if (this.#countOf(account) + 1 < this.#countOf(this.#largestAccount())) return;
    throw this.#fullError();
  }

  /**
   * Speaks the text of a request. Accounts take turns. The beginning of a text has priority over later parts of other
   * texts.
   * @throws ServiceError as `requireCapacity` does, before the first chunk; errors of the engine
   */
  async *synthesize(speech: {
    readonly account: string;
    readonly speaker: SpeechEngine;
    readonly request: EngineRequest;
    readonly signal: AbortSignal;
    /** True if the request must not be refused, for example because its connection was already accepted. */
    readonly isAdmitted?: boolean;
  }): AsyncGenerator<SpeechChunk> {
    const { account, isAdmitted = false, request, signal, speaker } = speech;
    if (!isAdmitted) this.#displaceIfFull(account);
    const displaced = new AbortController();
    const entry: WaitingSpeech = {
      account,
      request,
      displaced,
      spokenSeconds: 0,
      isFixed: isAdmitted,
    };
    const queued = { ...request, client: account, isInteractive: true };
    const abort = AbortSignal.any([signal, displaced.signal]);
    const chunks = speaker.synthesize(queued, abort)[Symbol.asyncIterator]();
    const limit = new SpeechLimit();
    try {
      for (;;) {
        const next = await this.#wait(entry, chunks);
        if (next.done === true) return;
        limit.add(next.value);
        yield next.value;
      }
    } finally {
      void closeQuietly(chunks);
    }
  }

  async #wait(
    entry: WaitingSpeech,
    chunks: AsyncIterator<SpeechChunk>,
  ): Promise<IteratorResult<SpeechChunk>> {
    if (this.#waiting.size === 0) this.#lastChunkAt = this.#clock.monotonic();
    this.#waiting.add(entry);
    try {
      const next = await chunks.next();
      if (next.done !== true) this.#measure(entry, next.value);
      return next;
    } finally {
      this.#waiting.delete(entry);
    }
  }

  #measure(entry: WaitingSpeech, { samples, sampleRate }: SpeechChunk): void {
    if (samples.length === 0) return;
    const now = this.#clock.monotonic();
    const seconds = samples.length / sampleRate;
    const spokenCharacters = seconds * entry.request.speed * CHARACTERS_A_SECOND;
    const measured = (now - this.#lastChunkAt) / spokenCharacters;
    this.#msPerCharacter += NEWEST * (measured - this.#msPerCharacter);
    this.#lastChunkAt = now;
    entry.spokenSeconds += seconds;
    // The request's charge is committed.
    entry.isFixed = true;
  }

  #displaceIfFull(account: string): void {
    this.requireCapacity(account);
    if (this.#waiting.size < this.#maxWaiting) return;
    const largest = this.#largestAccount();
    const newest = [...this.#waiting].findLast(
      (entry) => entry.account === largest && !entry.isFixed,
    );
    newest?.displaced.abort(this.#fullError());
    if (newest !== undefined) this.#waiting.delete(newest);
  }

  #countOf(account: string | undefined): number {
    return [...this.#waiting].filter((entry) => entry.account === account).length;
  }

  #largestAccount(): string | undefined {
    const accounts = [...new Set([...this.#waiting].map(({ account }) => account))];
    return accounts.toSorted((a, b) => this.#countOf(b) - this.#countOf(a))[0];
  }

  #fullError(): ServiceError {
    const seconds = this.#estimateSeconds();
    const waiting = this.#waiting.size;
    return new ServiceError(
      'ERR_RATE_LIMITED',
      `The service is busy: ${waiting} requests wait for it; retry in ${seconds} s`,
      {
        headers: { 'Retry-After': String(seconds) },
        details: { waiting, maxWaiting: this.#maxWaiting },
      },
    );
  }

  #estimateSeconds(): number {
    const now = this.#clock.monotonic();
    let characters = 0;
    for (const { request, spokenSeconds } of this.#waiting) {
      const spoken = spokenSeconds * request.speed * CHARACTERS_A_SECOND;
      // A waiting request has at least one more word.
      characters += Math.max(5, countCodePoints(request.text) - spoken);
    }
    const allMs = characters * this.#msPerCharacter;
    const nextMs = allMs / Math.max(1, this.#waiting.size);
    this.#nextFreeAt = Math.min(Math.max(this.#nextFreeAt, now) + nextMs, now + allMs);
    return Math.max(1, Math.ceil((this.#nextFreeAt - now) / 1_000));
  }
}

interface WaitingSpeech {
  readonly account: string;
  readonly request: EngineRequest;
  readonly displaced: AbortController;
  spokenSeconds: number;
  isFixed: boolean;
}
