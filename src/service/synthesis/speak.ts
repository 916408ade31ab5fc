import type { Operation } from '../operations/operation.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError, speechFailureMessage } from '../service-error.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf } from '../engine/speech-engine.ts';
import { audioBody } from './audio-body.ts';
import type { RunningGeneration } from './generations.ts';
import type { SpeechPlan } from './plan.ts';
import { startAudio } from './start-audio.ts';

/** A request that was planned and paid for. */
export interface Speaking {
  readonly context: Pick<ServiceContext, 'encode' | 'generations' | 'report' | 'speechQueue'>;
  readonly account: string;
  readonly plan: SpeechPlan;
  readonly operation: Operation;
  /** Aborted when the client goes. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** Of a request that is being spoken, what decides how it ends. */
export interface Generating extends Omit<Speaking, 'account' | 'context' | 'plan' | 'requestId'> {
  readonly context: Pick<ServiceContext, 'generations'>;
  readonly plan: Pick<SpeechPlan, 'textField'>;
}

/** Audio that leaves while it is spoken. */
export interface SpokenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly quotaRemaining: number;
}

/**
 * Speaks, as far as the first of the audio; the charge stands from there on (spec section 7.2). The
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
  const message = speechFailureMessage(engineMessageOf(error));
  return new ServiceError('ERR_GENERATION_FAILED', message, { cause: error });
}

/** By the queue, before there was any audio. */
function isRefused(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'ERR_RATE_LIMITED';
}

function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}
