import { Check } from 'typebox/schema';
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
import { LipSyncResult } from '../../contract/lip-sync.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import type { StoredJob, JobRecord } from '../jobs/job-records.ts';
import { storedOrder } from '../jobs/job-records.ts';
import type { StoredStatus } from '../jobs/lifecycle.ts';
import { JOB_STATUSES } from '../jobs/lifecycle.ts';
import { acceptDubbing, requireDubbing } from '../media/dubbing.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { DubbingRecord } from '../media/dubbing.ts';
import {
  AUDIO_FILE,
  billingOf,
  fetchAudio,
  fetchVideo,
  limitRepeatedSize,
  roundSeconds,
  StoredLipSync,
} from '../media/lipsync/sync-lips.ts';
import type { AccountCall, CallTo, Handler } from './call.ts';
import {
  acceptedResponse,
  pageOf,
  pollHeaders,
  quotaOf,
  rangeOf,
  requireJob,
} from './job-responses.ts';
import { MEDIA_STATUS, mediaError } from './media-endpoints.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';

/** Handles `POST /media/lip-sync/jobs` (docs/api/lip-sync.md and docs/api/errors.md). Accepts no idempotency key. */
export const createLipSync: Handler<'createLipSync'> = async (call, context) => {
  const job = await acceptLipSync(call, context);
  const { id, credits } = job;
  const body: LipSyncAccepted = {
    ...envelopeOf('pending'),
    data: {
      id,
      status: 'pending',
      credits_used: credits,
      ...billingFields(storedOrder(StoredLipSync, job)),
    },
  };
  return acceptedResponse(body, {
    location: endpointPath('getLipSync', { jobId: id }),
    poll: pollHeadersOf(job, context),
    quotaRemaining: quotaOf(call, context),
    creditsUsed: credits,
  });
};

/**
 * Imports the video and the audio, and accepts a lip sync job if both files are usable (docs/api/lip-sync.md).
 * @throws ServiceError if an import fails or the credits are insufficient (docs/api/errors.md)
 */
async function acceptLipSync(
  { body, key, request: { signal }, requestId }: CallTo<'createLipSync'>,
  { jobs, media }: ServiceContext,
): Promise<StoredJob> {
  const { audio_url: audioUrl, video_extension: extendsVideo = false, video_url: videoUrl } = body;
  const failed = new AbortController();
  return media.imports.within(AbortSignal.any([signal, failed.signal]), async (arrival) => {
    const imports = [fetchVideo(arrival, videoUrl), fetchAudio(arrival, audioUrl)] as const;
    for (const one of imports) one.catch((reason: unknown) => failed.abort(reason));
    // If one import fails, the other is aborted; the folder is removed after both have ended.
    await Promise.allSettled(imports);
    const [video, audio] = [await imports[0], await imports[1]];
    const billing = billingOf(video.seconds, audio, extendsVideo);
    if (extendsVideo) limitRepeatedSize(video, billing.seconds);
    const order: StoredLipSync = { video, audio, audioFile: AUDIO_FILE, tempo: 1, ...billing };
    // After the signal is aborted, no job is accepted or charged.
    signal.throwIfAborted();
    return jobs.accept({
      ...key,
      id: arrival.id,
      fingerprint: fingerprintOf({ ...body }),
      requestId,
      kind: 'lip_sync',
      order,
      charge: { credits: billing.credits, quota: 0 },
    });
  });
}

/** Handles `GET /media/lip-sync/jobs` (docs/api/lip-sync.md); lists the newest job first. */
export const listLipSync: Handler<'listLipSync'> = (call, context) => {
  const { account, query } = call;
  const status = JOB_STATUSES.find((one) => MEDIA_STATUS[one] === query.status);
  const filter = { status, ...rangeOf(query) };
  const jobs = context.jobs.list(account, 'lip_sync', filter);
  const items = jobs.map((job) => lipSyncFields(call, context, job));
  const data = pageOf(items, query);
  const body: LipSyncList = { success: true, message: 'List of jobs, newest first', data };
  return Response.json(body);
};

/** Handles `GET /media/lip-sync/jobs/{jobId}` (docs/api/lip-sync.md). */
export const getLipSync: Handler<'getLipSync'> = (call, context) =>
  answer(call, context, call.parameters.jobId);

/** Handles `GET /lip-sync/query`, a path from before v1 (docs/api/versions.md). */
export const getLipSyncLegacy: Handler<'getLipSyncLegacy'> = (call, context) =>
  answer(call, context, call.query.jobId);

function answer(call: AccountCall, context: ServiceContext, jobId: string): Response {
  const job = requireJob(call, context, 'lip_sync', jobId);
  const body: LipSyncAnswer = {
    ...envelopeOf(job.status),
    data: lipSyncFields(call, context, job),
  };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
}

/** Handles `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md#dubbing and docs/api/errors.md). */
export const createDubbing: Handler<'createDubbing'> = async (call, context) => {
  const { account: accountId, body: order, key, request, requestId } = call;
  const { idempotencyKey } = key;
  const { signal } = request;
  const record = await acceptDubbing(
    { accountId, body: order, idempotencyKey, requestId, signal },
    context,
  );
  const job = requireStarted(call, context, record);
  const { credits } = storedOrder(StoredLipSync, job);
  const used = creditsOf(record, credits);
  const body: DubbingAccepted = {
    ...envelopeOf('pending'),
    data: { id: job.id, status: 'pending', credits_used: used },
  };
  return acceptedResponse(body, {
    location: endpointPath('getDubbing', { jobId: job.id }),
    poll: pollHeadersOf(job, context),
    quotaRemaining: quotaOf(call, context),
    creditsUsed: used.total,
  });
};

/** Handles `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing). */
export const getDubbing: Handler<'getDubbing'> = (call, context) => {
  const job = requireJob(call, context, 'video_dubbing', call.parameters.jobId);
  const record = context.store.read((db) => requireDubbing(db, job.id));
  const body: DubbingAnswer = {
    ...envelopeOf(job.status),
    data: {
      ...lipSyncFields(call, context, job),
      credits_used: creditsOf(record, job.credits),
      tempo: storedOrder(StoredLipSync, job).tempo,
      tts_audio_url: context.media.link(call.request.url, record.speechFileId),
    },
  };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
};

// If the lip sync could not start, the error contains a link to the charged speech.
function requireStarted(
  { request }: AccountCall,
  { media }: ServiceContext,
  { end, speechCredits, speechFileId }: DubbingRecord,
): StoredJob {
  if ('job' in end) return end.job;
  const { code, details, message } = end.refusal;
  throw new ServiceError(code, `${message}. The speech was already made, and its charge is kept`, {
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

function billingFields({ audio, billedSeconds, rule, tempo, video }: StoredLipSync) {
  return {
    billing_duration_seconds: billedSeconds,
    video_duration_seconds: roundSeconds(video.seconds),
    audio_duration_seconds: roundSeconds(audio.seconds / tempo),
    billing_rule: rule,
  };
}

function lipSyncFields(
  { request }: AccountCall,
  { media }: ServiceContext,
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
  pending: 'The job is queued',
  processing: 'The job is in progress',
  completed: 'The job is done',
  failed: 'The job failed and was refunded',
};

function envelopeOf(status: StoredStatus) {
  return { success: true, message: MESSAGES[MEDIA_STATUS[status]] };
}

// Roughly the seconds of media that this service processes in one second.
const MEDIA_SECONDS_PER_SECOND = 120;

function pollHeadersOf(job: StoredJob, context: ServiceContext) {
  const { seconds } = storedOrder(StoredLipSync, job);
  return pollHeaders(job, seconds / MEDIA_SECONDS_PER_SECOND, context.clock);
}
