import { HEADERS } from '../../contract/headers.ts';
import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { EngineError } from '../engine/speech-engine.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireValid } from '../http/validation.ts';
import { beginOperation } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { Operation } from '../operations/operation.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { ServiceContext } from '../service-context.ts';
import { audioBody } from '../synthesis/audio-body.ts';
import type { RunningGeneration } from '../synthesis/generations.ts';
import type { SpeechPlan } from '../synthesis/plan.ts';
import { planSpeech } from '../synthesis/plan.ts';
import { startAudio } from '../synthesis/start-audio.ts';
import type { AccountCall, Handler } from './call.ts';

const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
};

/** `POST /speech/tts` (spec sections 4.1 and 7.2): audio that leaves while it is spoken. */
export const createSpeech: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const idempotencyKey = idempotencyKeyOf(call.request.headers);
  const plan = planSpeech(body, context.catalogue);
  const operation = beginOperation(context.operations, {
    accountId: call.account,
    endpoint: 'createSpeech',
    idempotencyKey,
    fingerprint: fingerprintOf(body),
    requestId: call.requestId,
    charge: plan.charge,
  });
  return speak({ call, context, plan, operation });
};

interface Speaking {
  readonly call: AccountCall;
  readonly context: ServiceContext;
  readonly plan: SpeechPlan;
  readonly operation: Operation;
}

async function speak({ call, context, plan, operation }: Speaking): Promise<Response> {
  const { signal } = call.request;
  const generation = context.generations.start();
  const leave = (): void => generation.abort(signal.reason);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    const audio = await startAudio(plan, context.encode, generation.signal);
    const available = operation.commit();
    if (available === undefined) throw new Error('the operation was settled by another process');
    const onFailure = (error: unknown): void =>
      context.report({ type: 'failure', requestId: call.requestId, error });
    const body = audioBody({ audio, generation, operation, onFailure });
    return new Response(body, { headers: speechHeaders(plan, available.quota) });
  } catch (error) {
    giveUp(error, operation, generation);
    throw asServiceError(error);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function speechHeaders(plan: SpeechPlan, quotaRemaining: number): Record<string, string> {
  const { ignored } = plan;
  return {
    'Content-Type': MEDIA_TYPES[plan.format],
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(plan.charge.credits),
    ...(ignored.length === 0 ? {} : { [HEADERS.ignoredParameters]: ignored.join(',') }),
  };
}

/** Nothing was sent: a text that cannot be spoken was never a request, anything else is refunded. */
function giveUp(error: unknown, operation: Operation, generation: RunningGeneration): void {
  generation.abort(error);
  generation.end();
  if (isUnspeakable(error)) operation.release();
  else operation.refund();
}

function asServiceError(error: unknown): ServiceError {
  if (isUnspeakable(error)) {
    const message = 'text has nothing that this voice can say';
    return invalidRequest([{ field: 'text', message }]);
  }
  return new ServiceError(
    'ERR_GENERATION_FAILED',
    'The speech could not be made; what it would have cost was refunded',
    { cause: error },
  );
}

function isUnspeakable(error: unknown): boolean {
  return error instanceof EngineError && error.reason === 'unspeakable';
}
