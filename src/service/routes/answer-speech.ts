import type { EndpointId } from '../../contract/endpoints.ts';
import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { beginOperation, usedBefore } from '../operations/begin-operation.ts';
import type { OperationKey } from '../operations/claim.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { ServiceContext } from '../service-context.ts';
import type { PlanOptions, SpeechOrder } from '../synthesis/plan.ts';
import { planSpeech } from '../synthesis/plan.ts';
import type { Speaking } from '../synthesis/speak.ts';
import { speakStream } from '../synthesis/speak.ts';
import { audioAnswer } from './audio-answer.ts';
import type { AccountCall } from './call.ts';

/** What a surface made of its body. */
export interface SurfaceRequest extends PlanOptions {
  readonly surface: SurfaceName;
  readonly order: SpeechOrder;
  readonly idempotencyKey: string | undefined;
  /** The audio is stored, and the answer is its address; another request than one without. */
  readonly isCached?: boolean;
  /** Where another endpoint than that of the surface takes the same body. */
  readonly endpoint?: EndpointId;
}

/**
 * Speaks an order and answers with audio that leaves while it is spoken (spec sections 4.1 to 4.4 and
 * 7.2).
 */
export async function answerSpeech(
  call: AccountCall,
  context: ServiceContext,
  request: SurfaceRequest,
): Promise<Response> {
  const speaking = beginSpeech(call, context, request);
  const { tellsIgnored } = SPEECH_SURFACES[request.surface];
  return audioAnswer(speaking.plan, await speakStream(speaking), { tellsIgnored });
}

/**
 * Plans an order and sets aside what it costs: the one way on which all surfaces do.
 * @throws ServiceError 400, 402, 404, 409, 429 or 503; nothing was charged then
 */
export function beginSpeech<Context extends ServiceContext>(
  call: AccountCall,
  context: Context,
  request: SurfaceRequest,
): Speaking & { readonly context: Context } {
  const { account, requestId } = call;
  const { idempotencyKey, isCached, order, surface } = request;
  const key = {
    accountId: account,
    endpoint: request.endpoint ?? SPEECH_SURFACES[surface].endpoint,
    idempotencyKey,
    fingerprint: fingerprintOf({ ...order, cache: isCached }),
  };
  const names = { ...namesOf(surface), ...request.names };
  const plan = unlessBegun(context, key, () => {
    const planned = planSpeech(order, context.catalogue.of(account), { ...request, names });
    context.speechQueue.requireRoom(account);
    return planned;
  });
  const { charge } = plan;
  const operation = beginOperation(context.operations, { ...key, requestId, charge });
  return { context, account, plan, operation, signal: call.request.signal, requestId };
}

/**
 * What was begun under this key is told so, though its voice or its model is not there any more: whoever
 * asks again wants to know whether it was charged.
 */
function unlessBegun<Result>(
  { operations }: ServiceContext,
  key: OperationKey,
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    const begun = operations.findBegun(key);
    throw begun === undefined ? error : usedBefore(begun);
  }
}

function namesOf(name: SurfaceName): NonNullable<PlanOptions['names']> {
  const { fields, modelHeader }: SpeechSurface = SPEECH_SURFACES[name];
  return modelHeader === undefined ? fields : { ...fields, modelId: modelHeader };
}
