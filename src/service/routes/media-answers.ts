import { HEADERS } from '../../contract/headers.ts';
import type { LipSyncJob } from '../../contract/schemas/lip-sync.ts';
import { LipSyncResult } from '../../contract/schemas/lip-sync.ts';
import { Check } from 'typebox/schema';
import { amountsIn } from '../billing/ledger.ts';
import { hasEnded } from '../media/jobs/lifecycle.ts';
import type { MediaJob, MediaJobKind } from '../media/jobs/media-job-records.ts';
import { storedOrder } from '../media/jobs/stored-order.ts';
import { shownSeconds } from '../media/lipsync/billing.ts';
import { StoredLipSync } from '../media/lipsync/stored-lip-sync.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import { showText } from '../wording/show-value.ts';
import type { AccountCall } from './call.ts';
import { retryAfter } from './job-answers.ts';

/** What every lip-sync job tells of its length and price (spec section 2.6). */
export function billingFields({ audio, billedSeconds, rule, tempo, video }: StoredLipSync) {
  return {
    billing_duration_seconds: billedSeconds,
    video_duration_seconds: shownSeconds(video.seconds),
    audio_duration_seconds: shownSeconds(audio.seconds / tempo),
    billing_rule: rule,
  };
}

/** A job of lip sync, also that of a dubbing, as it is by now. */
export function lipSyncFields(
  { request }: Pick<AccountCall, 'request'>,
  { media }: Pick<ServiceContext, 'media'>,
  job: MediaJob,
): LipSyncJob {
  const { createdAt, credits, error, finishedAt, id, progress, result, status } = job;
  return {
    id,
    status,
    progress,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    result_url: status === 'completed' ? media.link(request.url, id) : null,
    error: error ?? null,
    credits_used: credits,
    ...billingFields(storedOrder(StoredLipSync, job)),
    result: result !== undefined && Check(LipSyncResult, result) ? result : null,
  };
}

const MESSAGES: Readonly<Record<MediaJob['status'], string>> = {
  pending: 'The job waits for its turn',
  processing: 'The job is being worked on',
  completed: 'The job is done',
  failed: 'The job failed, and what it would have cost was refunded',
};

/** Begins every answer about one job (spec section 2.6). */
export function envelopeOf({ status }: Pick<MediaJob, 'status'>) {
  return { success: true, message: MESSAGES[status] };
}

/**
 * The job of this kind with this id.
 * @throws ServiceError 404 when there is none, or it is somebody else's (spec section 7.3)
 */
export function requireMediaJob(
  { account }: AccountCall,
  { media }: ServiceContext,
  { kind, jobId }: { readonly kind: MediaJobKind; readonly jobId: string },
): MediaJob {
  const job = media.jobs.find(account, kind, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `There is no job ${showText(jobId)}`);
}

/** Seconds of media that are copied in a second, about. */
const SECONDS_PER_SECOND = 120;

/** `Retry-After` of a job: the expected time left; nothing for a job that has ended. */
export function pollHeadersOf(
  job: MediaJob,
  { clock }: Pick<ServiceContext, 'clock'>,
): Record<string, string> {
  if (hasEnded(job.status)) return {};
  const { seconds } = storedOrder(StoredLipSync, job);
  return retryAfter(seconds / SECONDS_PER_SECOND, clock.now() - job.createdAt);
}

/** Headers of a create, as those of speech jobs (spec section 4.1). */
export function acceptedHeaders(
  call: AccountCall,
  context: ServiceContext,
  { creditsUsed, job, location }: Accepted,
): Record<string, string> {
  const { quota } = context.store.read((db) => amountsIn(db, call.account, 'available'));
  return {
    Location: location,
    ...pollHeadersOf(job, context),
    [HEADERS.quotaRemaining]: String(quota),
    [HEADERS.creditsUsed]: String(creditsUsed),
  };
}

interface Accepted {
  readonly job: MediaJob;
  readonly location: string;
  readonly creditsUsed: number;
}
