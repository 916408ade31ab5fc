import { closeQuietly } from '../../effects/concurrency.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf } from '../engine/speech-engine.ts';
import type { Operation, Operations } from '../operations/operations.ts';
import {
  invalidRequest,
  ServiceError,
  speechFailureMessage,
  storageFullError,
} from '../service-error.ts';
import type { EncodedFormat, EncodeSpeech } from './encode.ts';
import type { SpeechPlan } from './plan.ts';
import type { Clock } from '../../effects/clock.ts';
import type { ServiceEvent } from '../running-service.ts';
import type { Store } from '../store/open-store.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { SpeechQueue } from './speech-queue.ts';

/** A request that was planned and paid for. */
export interface Speaking {
  readonly context: Pick<SpeechContext, 'encode' | 'generations' | 'report' | 'speechQueue'>;
  readonly account: string;
  readonly plan: SpeechPlan;
  readonly operation: Operation;
  /** Aborted when the client goes. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** Of a request that is being spoken, what decides how it ends. */
export interface Generating extends Omit<Speaking, 'account' | 'context' | 'plan' | 'requestId'> {
  readonly context: Pick<SpeechContext, 'generations'>;
  readonly plan: Pick<SpeechPlan, 'textField'>;
}

/** Audio that leaves while it is spoken. */
export interface SpokenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly quotaRemaining: number;
}

/**
 * Speaks, as far as the first of the audio; the charge stands from there on (docs/api/errors.md#idempotency). The
 * body settles the rest.
 * @throws ServiceError 400 for a text that cannot be spoken and 429 where too many wait, which were no
 * requests then; 500 for anything else, refunded
 */
export function speakStream(speaking: Speaking): Promise<SpokenStream> {
  const { context, operation, plan, requestId } = speaking;
  return generate(speaking, async (generation) => {
    const chunks = speechOf(speaking, generation.signal);
    const audio = await startAudio({ ...plan, chunks }, context.encode);
    const available = requireSettled(operation.commit());
    const onFailure = (error: unknown): void =>
      context.report({ type: 'failure', requestId, error });
    const body = audioBody({ audio, generation, operation, onFailure });
    return { body, quotaRemaining: available.quota };
  });
}

/** The speech of a request, in its turn. */
export function speechOf(
  { account, context, plan }: Pick<Speaking, 'account' | 'context' | 'plan'>,
  signal: AbortSignal,
): AsyncIterable<SpeechChunk> {
  const { engineRequest: request, voice } = plan;
  return context.speechQueue.synthesize({ account, speaker: voice.speaker, request, signal });
}

/**
 * Runs a generation of which nothing has been sent yet: until it resolves it ends with the client, and
 * when it fails the operation is given back.
 * @throws ServiceError as `speakStream` does
 */
export async function generate<Result>(
  { context, operation, plan, signal }: Generating,
  work: (generation: RunningGeneration) => Promise<Result>,
): Promise<Result> {
  const generation = context.generations.start();
  const leave = (): void => generation.abort(signal.reason);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    return await work(generation);
  } catch (error) {
    giveUp(error, operation, generation);
    throw asServiceError(error, plan);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** @throws Error when another process took this one for dead, and gave back what it had set aside */
export function requireSettled<Result>(result: Result | undefined): Result {
  if (result === undefined) throw new Error('the operation was settled by another process');
  return result;
}

/** Nothing was sent: what was refused was never a request, anything else is refunded. */
function giveUp(error: unknown, operation: Operation, generation: RunningGeneration): void {
  generation.abort(error);
  generation.end();
  if (isUnspeakable(error) || isRefused(error)) operation.release();
  else operation.refund(engineMessageOf(error));
}

function asServiceError(error: unknown, { textField }: Generating['plan']): ServiceError {
  if (isRefused(error)) return error;
  if (isUnspeakable(error)) {
    const message = `${textField} has nothing that this voice can say`;
    return invalidRequest([{ field: textField, message }]);
  }
  return speechError(error);
}

/** Returns the error of speech that failed and was refunded: of a full disk, or in the words of the engine. */
export function speechError(error: unknown): ServiceError {
  const message = speechFailureMessage(engineMessageOf(error));
  return (
    storageFullError(error) ?? new ServiceError('ERR_GENERATION_FAILED', message, { cause: error })
  );
}

/** By the queue, before there was any audio. */
function isRefused(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'ERR_RATE_LIMITED';
}

function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}

/** Speech on its way into a format. */
interface SpeechSource {
  readonly chunks: AsyncIterable<SpeechChunk>;
  readonly format: EncodedFormat;
  /** Change of level in decibels. */
  readonly gainDb: number;
  /** As in `EncodeOptions`. */
  readonly streamNumber?: number | undefined;
}

/** Audio whose first bytes exist. */
interface StartedAudio {
  readonly head: readonly Uint8Array[];
  readonly rest: AsyncIterator<Uint8Array>;
}

/**
 * Speaks until the first of the audio exists: a stretch of speech, not only the header of a file.
 * @throws EngineError when nothing can be spoken; whatever the engine or the encoder throws
 */
export async function startAudio(
  { chunks, format, gainDb, streamNumber }: SpeechSource,
  encode: EncodeSpeech,
): Promise<StartedAudio> {
  let isSpeaking = false;
  const heard = observe(chunks, () => {
    isSpeaking = true;
  });
  const rest = encode(format, heard, { gainDb, streamNumber })[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done !== true) head.push(next.value);
    if (isSpeaking) return { head, rest };
    if (next.done === true) {
      throw new EngineError('unspeakable', 'The text has nothing that this voice can say');
    }
  }
}

async function* observe(
  chunks: AsyncIterable<SpeechChunk>,
  onChunk: () => void,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    onChunk();
    yield chunk;
  }
}

interface AudioBodyOptions {
  readonly audio: StartedAudio;
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The body of a speech answer, made as fast as it is read. Its end settles the operation once: read
 * to the end or left by the client, the charge stands; failed, it is refunded and the body ends in
 * an error, never as if it were whole.
 */
function audioBody(options: AudioBodyOptions): ReadableStream<Uint8Array> {
  const { audio, generation } = options;
  const settlement = createSettlement({ ...options, source: audio.rest });
  const head = [...audio.head];
  const cutShort = (controller: ReadableStreamDefaultController, error: unknown): void => {
    controller.error(error);
    settlement.fail(error);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = (): void => cutShort(controller, generation.signal.reason);
        generation.signal.addEventListener('abort', abort, { once: true });
      },
      async pull(controller) {
        try {
          const bytes = head.shift() ?? (await nextOf(audio.rest));
          if (bytes !== undefined) return controller.enqueue(bytes);
          if (!settlement.complete()) throw new Error('the answer could not be settled');
          return controller.close();
        } catch (error) {
          return cutShort(controller, error);
        }
      },
      cancel: (reason) => settlement.leave(reason),
    },
    { highWaterMark: 0 },
  );
}

async function nextOf(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const next = await iterator.next();
  return next.done === true ? undefined : next.value;
}

/** The ways in which a body can end; only the first call of any of them counts. */
export interface Settlement {
  /** It was read to its end. Gives whether the charge stands. @throws what kept that from being stored */
  complete(): boolean;
  /** The client went away; the engine stops. */
  leave(reason: unknown): void;
  fail(error: unknown): void;
}

interface SettlementOptions {
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  /** What makes the body; it is closed at the end. */
  readonly source: AsyncIterator<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Settles the operation of a body once, whatever comes of it (docs/api/errors.md#idempotency). */
export function createSettlement(options: SettlementOptions): Settlement {
  const { generation, operation, source, onFailure } = options;
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
    complete() {
      let stands = false;
      settle(() => {
        stands = operation.complete();
      });
      if (failure !== undefined) throw failure;
      return stands;
    },
    leave: (reason) =>
      settle(() => {
        generation.abort(reason);
        operation.complete();
      }),
    fail: (error) =>
      settle(() => {
        onFailure(error);
        generation.abort(error);
        operation.refund(engineMessageOf(error));
      }),
  };
}

/** What speaking a text needs of the service: over HTTP, as a job, and in real time. */
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

/** The generations that run, so that a service that ends can finish them. */
interface Generations {
  /** Notes one that runs; its signal aborts when the service cannot wait any longer. */
  start(): RunningGeneration;
  /** How many run. */
  readonly size: number;
  /**
   * Waits until none runs, for so long at most; then those that are left are aborted. Once `hurry` is
   * aborted only a moment is left to them, in which those end by themselves whose client is gone.
   */
  drain(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface RunningGeneration {
  readonly signal: AbortSignal;
  /** Stops the engine: nobody wants the rest. */
  abort(reason: unknown): void;
  end(): void;
}

const HURRY_MS = 1_000;

/** A list of generations, empty at first. */
export function createGenerations(clock: Clock): Generations {
  const running = new Set<AbortController>();
  let whenNone: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    start() {
      const controller = new AbortController();
      running.add(controller);
      return {
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        end() {
          running.delete(controller);
          if (running.size === 0) whenNone?.();
        },
      };
    },
    async drain(graceMs, hurry) {
      if (running.size === 0) return;
      const none = new Promise<void>((resolve) => {
        whenNone = resolve;
      });
      const halt = (): void => {
        for (const controller of running) controller.abort(new Error('the service is closing'));
      };
      const stops = [clock.after(graceMs, halt)];
      const hasten = (): void => void stops.push(clock.after(HURRY_MS, halt));
      hurry?.addEventListener('abort', hasten, { once: true });
      if (hurry?.aborted === true) hasten();
      await none;
      for (const stop of stops) stop();
      hurry?.removeEventListener('abort', hasten);
    },
  };
}
