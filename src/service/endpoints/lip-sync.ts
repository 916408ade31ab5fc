import { Check } from 'typebox/schema';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { HEADERS } from '../../contract/values.ts';
import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type {
  DubbingAccepted,
  DubbingAnswer,
  DubbingCredits,
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncList,
  LipSyncJob,
  MediaJobStatus,
} from '../../contract/lip-sync.ts';
import {
  DubbingRequest,
  LipSyncListQuery,
  LipSyncQuery,
  LipSyncRequest,
  LipSyncResult,
} from '../../contract/lip-sync.ts';
import {
  endpointPath,
  readJsonBody,
  requireQuery,
  idempotencyKeyOf,
  requireValid,
} from '../http/request.ts';
import type { Job, JobRecord } from '../jobs/job-records.ts';
import { storedOrder } from '../jobs/job-records.ts';
import { JOB_STATUSES } from '../jobs/lifecycle.ts';
import { amountsIn } from '../ledger/ledger.ts';
import type { DubbingRecord } from '../media/dubbing.ts';
import { acceptDubbing, requireDubbing } from '../media/dubbing.ts';
import { acceptLipSync, StoredLipSync, shownSeconds } from '../media/lipsync/lip-sync.ts';
import type { AccountCall, Handler } from './call.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import { offsetOf, pageOf, pollHeaders, requireJob } from './jobs.ts';
import { MEDIA_STATUS, mediaError } from './media.ts';

/** `POST /media/lip-sync/jobs` (docs/api/lip-sync.md and docs/api/errors.md). It documents no idempotency key. */
export const createLipSync: Handler<AccountCall> = (call, context) =>
  create(call, context, 'createLipSync');

/** `POST /lip-sync/create`, from before v1 (docs/api/versions.md). */
export const createLipSyncLegacy: Handler<AccountCall> = (call, context) =>
  create(call, context, 'createLipSyncLegacy');

/** `GET /media/lip-sync/jobs` (docs/api/lip-sync.md), the newest first; the older path too. */
export const listLipSync: Handler<AccountCall> = (call, context) => {
  const query = requireQuery(call.request.url, LipSyncListQuery);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const stored = JOB_STATUSES.find((one) => MEDIA_STATUS[one] === status);
  const filter = { status: stored, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const jobs = context.jobs.list(call.account, 'lip_sync', filter);
  const items = jobs.map((job) => lipSyncFields(call, context, job));
  const data = pageOf(items, { page, limit });
  const body: LipSyncList = { success: true, message: 'Jobs, the newest first', data };
  return Response.json(body);
};

/** `GET /media/lip-sync/jobs/{jobId}` (docs/api/lip-sync.md). */
export const getLipSync: Handler<AccountCall> = (call, context) =>
  answer(call, context, call.parameters['jobId'] ?? '');

/** `GET /lip-sync/query`, from before v1 (docs/api/versions.md). */
export const getLipSyncLegacy: Handler<AccountCall> = (call, context) =>
  answer(call, context, requireQuery(call.request.url, LipSyncQuery).jobId);

async function create(
  call: AccountCall,
  context: ServiceContext,
  endpoint: EndpointId,
): Promise<Response> {
  const body = requireValid(LipSyncRequest, await readJsonBody(call.request), 'The body');
  const { account: accountId, requestId, request } = call;
  const order = { accountId, endpoint, requestId, body, signal: request.signal };
  const job = await acceptLipSync(order, context);
  const { id, credits } = job;
  const accepted: LipSyncAccepted = {
    ...envelopeOf({ status: 'pending' }),
    data: {
      id,
      status: 'pending',
      credits_used: credits,
      ...billingFields(storedOrder(StoredLipSync, job)),
    },
  };
  const location = endpointPath('getLipSync', { jobId: id });
  const headers = acceptedHeaders(call, context, { job, location, creditsUsed: credits });
  return Response.json(accepted, { status: 202, headers });
}

function answer(call: AccountCall, context: ServiceContext, jobId: string): Response {
  const job = requireJob(call, context, 'lip_sync', jobId);
  const body: LipSyncAnswer = { ...envelopeOf(job), data: lipSyncFields(call, context, job) };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
}

/** `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md#dubbing, docs/api/lip-sync.md and docs/api/errors.md). */
export const createDubbing: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(DubbingRequest, await readJsonBody(call.request), 'The body');
  const { account: accountId, requestId, request } = call;
  const idempotencyKey = idempotencyKeyOf(request.headers);
  const order = { accountId, requestId, idempotencyKey, body, signal: request.signal };
  const record = await acceptDubbing(order, context);
  const job = requireStarted(call, context, record);
  const { credits } = storedOrder(StoredLipSync, job);
  const used = creditsOf(record, credits);
  const accepted: DubbingAccepted = {
    ...envelopeOf({ status: 'pending' }),
    data: { id: job.id, status: 'pending', credits_used: used },
  };
  const location = endpointPath('getDubbing', { jobId: job.id });
  const headers = acceptedHeaders(call, context, { job, location, creditsUsed: used.total });
  return Response.json(accepted, { status: 202, headers });
};

/** `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing and docs/api/lip-sync.md). */
export const getDubbing: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context, 'video_dubbing');
  const record = context.store.read((db) => requireDubbing(db, job.id));
  const body: DubbingAnswer = {
    ...envelopeOf(job),
    data: {
      ...lipSyncFields(call, context, job),
      credits_used: creditsOf(record, job.credits),
      tempo: storedOrder(StoredLipSync, job).tempo,
      tts_audio_url: context.media.link(call.request.url, record.speechFileId),
    },
  };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
};

/**
 * The job that a dubbing came to.
 * @throws ServiceError that names the speech, which was paid for, when it came to none (docs/api/errors.md)
 */
function requireStarted(
  { request }: AccountCall,
  { media }: ServiceContext,
  { end, speechCredits, speechFileId }: DubbingRecord,
): Job {
  if ('job' in end) return end.job;
  const { code, details, message } = end.refusal;
  throw new ServiceError(code, `${message}. The speech was made and is not refunded`, {
    details: {
      ...details,
      tts_audio_url: media.link(request.url, speechFileId),
      tts_credits_used: speechCredits,
    },
  });
}

function creditsOf({ speechCredits }: DubbingRecord, lipSync: number): DubbingCredits {
  return { tts: speechCredits, lip_sync: lipSync, total: speechCredits + lipSync };
}

/** What every lip-sync job tells of its length and price (docs/api/lip-sync.md). */
function billingFields({ audio, billedSeconds, rule, tempo, video }: StoredLipSync) {
  return {
    billing_duration_seconds: billedSeconds,
    video_duration_seconds: shownSeconds(video.seconds),
    audio_duration_seconds: shownSeconds(audio.seconds / tempo),
    billing_rule: rule,
  };
}

/** A job of lip sync, also that of a dubbing, as it is by now. */
function lipSyncFields(
  { request }: Pick<AccountCall, 'request'>,
  { media }: Pick<ServiceContext, 'media'>,
  job: JobRecord,
): LipSyncJob {
  const { createdAt, credits, finishedAt, id, progress, result, status } = job;
  return {
    id,
    status: MEDIA_STATUS[status],
    progress,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    result_url: status === 'done' ? media.link(request.url, id) : null,
    error: mediaError(job) ?? null,
    credits_used: credits,
    ...billingFields(storedOrder(StoredLipSync, job)),
    result: result !== undefined && Check(LipSyncResult, result) ? result : null,
  };
}

const MESSAGES: Readonly<Record<MediaJobStatus, string>> = {
  pending: 'The job waits for its turn',
  processing: 'The job is being worked on',
  completed: 'The job is done',
  failed: 'The job failed, and what it would have cost was refunded',
};

/** Begins every answer about one job (docs/api/lip-sync.md). */
function envelopeOf({ status }: Pick<Job, 'status'>) {
  return { success: true, message: MESSAGES[MEDIA_STATUS[status]] };
}

/** Seconds of media that are copied in a second, about. */
const SECONDS_PER_SECOND = 120;

function pollHeadersOf(job: Job, context: Pick<ServiceContext, 'clock'>) {
  const { seconds } = storedOrder(StoredLipSync, job);
  return pollHeaders(job, seconds / SECONDS_PER_SECOND, context);
}

/** Headers of a create, as those of speech jobs (docs/api/speech.md#v3). */
function acceptedHeaders(
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
  readonly job: Job;
  readonly location: string;
  readonly creditsUsed: number;
}
