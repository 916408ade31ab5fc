import type { EndpointId } from '../../contract/endpoints.ts';
import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import type { WholeJob } from '../jobs/job-records.ts';
import { readJob } from '../jobs/job-records.ts';
import { refusalError } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { PlanOptions, SpeechOrder } from '../synthesis/plan.ts';
import { planSpeech } from '../synthesis/plan.ts';
import type { AccountCall } from './call.ts';

/** A job that is asked for, whatever the surface. */
export interface JobOrder extends PlanOptions {
  readonly endpoint: EndpointId;
  readonly order: SpeechOrder & { readonly format?: SpeechFormat | undefined };
  readonly idempotencyKey: string | undefined;
}

/**
 * Accepts a job once: the same create under the same key gives the job that it was accepted as,
 * whatever has become of that, and costs nothing again (spec section 7.2).
 * @throws ServiceError 409 when the key was used for something else, 402 when there is too little,
 * and whatever planning the speech does
 */
export async function acceptSpeechJob(
  call: AccountCall,
  { catalogue, creates, jobs }: ServiceContext,
  { endpoint, order, idempotencyKey, ...options }: JobOrder,
): Promise<WholeJob> {
  const { account: accountId, request, requestId } = call;
  const key = { accountId, endpoint, idempotencyKey, fingerprint: fingerprintOf({ ...order }) };
  const make = (): WholeJob => {
    const plan = planSpeech(order, catalogue.of(accountId), options);
    const { charge } = plan;
    const { text: submittedText, format = 'mp3' } = order;
    const job = { ...key, requestId, charge, plan, format, submittedText };
    const accepted = jobs.accept(job);
    if (accepted.kind === 'voice-gone') throw voiceGone();
    if (accepted.kind !== 'accepted') throw refusalError(accepted, job);
    const made = jobs.find(accountId, accepted.jobId);
    if (made === undefined) throw new TypeError('an accepted job is missing');
    return made;
  };
  return creates.once({ key, signal: request.signal, find: readJob, make });
}

function voiceGone(): ServiceError {
  return new ServiceError('ERR_VOICE_NOT_FOUND', 'The voice was deleted');
}
