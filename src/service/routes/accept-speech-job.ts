import type { EndpointId } from '../../contract/endpoints.ts';
import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import type { Accepted, JobKey } from '../jobs/accept-job.ts';
import type { WholeJob } from '../jobs/job-records.ts';
import { insufficient, usedBefore } from '../operations/begin-operation.ts';
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
export function acceptSpeechJob(
  call: AccountCall,
  { catalogue, jobs }: ServiceContext,
  { endpoint, order, idempotencyKey, ...options }: JobOrder,
): WholeJob {
  const { account: accountId, requestId } = call;
  const fingerprint = fingerprintOf({ ...order });
  const key: JobKey = { accountId, endpoint, idempotencyKey, fingerprint };
  const accepted = jobs.findAccepted(key) ?? accept();
  const job = jobs.find(accountId, idOf(accepted));
  if (job === undefined) throw new TypeError('a job that was accepted is not there');
  return job;

  function accept(): Accepted {
    const plan = planSpeech(order, catalogue.of(accountId), options);
    const { text: submittedText, format = 'mp3' } = order;
    return jobs.accept({ ...key, requestId, plan, format, submittedText });
  }
}

function idOf(accepted: Accepted): string {
  if (accepted.kind === 'conflict') throw usedBefore('conflict');
  if (accepted.kind === 'voice-gone') throw voiceGone();
  if (accepted.kind === 'insufficient') throw insufficient(accepted.needed, accepted.available);
  return accepted.jobId;
}

function voiceGone(): ServiceError {
  return new ServiceError('ERR_VOICE_NOT_FOUND', 'The voice was deleted');
}
