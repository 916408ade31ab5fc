import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { beginOperation } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { ServiceContext } from '../service-context.ts';
import type { PlanOptions, SpeechOrder } from '../synthesis/plan.ts';
import { planSpeech } from '../synthesis/plan.ts';
import { speakStream } from '../synthesis/speak.ts';
import { audioAnswer } from './audio-answer.ts';
import type { AccountCall } from './call.ts';

/** What a surface made of its body. */
export interface SurfaceRequest extends PlanOptions {
  readonly surface: SurfaceName;
  readonly order: SpeechOrder;
  readonly idempotencyKey: string | undefined;
}

/**
 * Speaks an order and answers with audio that leaves while it is spoken (spec sections 4.1 to 4.4 and
 * 7.2): the one path on which all surfaces plan, charge and speak.
 */
export async function answerSpeech(
  call: AccountCall,
  context: ServiceContext,
  { idempotencyKey, order, surface, ...options }: SurfaceRequest,
): Promise<Response> {
  const { endpoint, tellsIgnored } = SPEECH_SURFACES[surface];
  const plan = planSpeech(order, context.catalogue, { names: namesOf(surface), ...options });
  const { account, requestId } = call;
  const operation = beginOperation(context.operations, {
    accountId: account,
    endpoint,
    idempotencyKey,
    fingerprint: fingerprintOf({ ...order }),
    requestId,
    charge: plan.charge,
  });
  const { signal } = call.request;
  const spoken = await speakStream({ context, plan, operation, signal, requestId });
  return audioAnswer(plan, spoken, { tellsIgnored });
}

function namesOf(name: SurfaceName): NonNullable<PlanOptions['names']> {
  const { fields, modelHeader }: SpeechSurface = SPEECH_SURFACES[name];
  return modelHeader === undefined ? fields : { ...fields, modelId: modelHeader };
}
