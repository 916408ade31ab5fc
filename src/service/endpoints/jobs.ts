import { createHash } from 'node:crypto';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { HEADERS } from '../../contract/values.ts';
import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type {
  Job as JobV3,
  JobAccepted,
  JobList,
  JobListItem,
  JobSegment,
  JobListItemV1,
  JobListV1,
  JobV1,
  JobStatus as SpeechStatus,
} from '../../contract/jobs.ts';
import { JobListQuery, JobListQueryV1, JobRequestV1 } from '../../contract/jobs.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import { SpeechRequest } from '../../contract/speech.ts';
import {
  endpointPath,
  readJsonBody,
  requireQuery,
  requestKeysOf,
  requireValid,
} from '../http/request.ts';
import { showValue, showText } from '../http/wording.ts';
import type { Job, JobKind, JobRecord, SegmentRecord } from '../jobs/job-records.ts';
import { readJob, storedOrder } from '../jobs/job-records.ts';
import type { JobStatus } from '../jobs/lifecycle.ts';
import { JOB_STATUSES } from '../jobs/lifecycle.ts';
import { StoredSpeech } from '../jobs/speech-jobs.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { AccountCall, Handler } from './call.ts';
import { knownFields, voiceOf } from './known-fields.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError, speechFailureMessage } from '../service-error.ts';
import type { PlanOptions, SpeechOrder } from '../speech/plan.ts';
import { planSpeech } from '../speech/plan.ts';
import { sliceCodePoints } from '../../text/code-points.ts';
import { hasVoice } from '../voices/personal-voices.ts';

/** `POST /speech/tts/jobs` of v3 (docs/api/jobs.md#v3 and docs/api/errors.md#idempotency). */
export const createJob: Handler<AccountCall> = async (call, context) => {
  const order = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptSpeechJob(call, context, { endpoint: 'createJob', order });
  const { id: taskId } = job;
  const { voiceId, modelId, ignored } = storedOrder(StoredSpeech, job);
  const body: JobAccepted = {
    task: { taskId, status: SPEECH_STATUS[job.status], voiceId, modelId },
    ...accountState(call, context, job),
    ignoredParameters: [...ignored],
  };
  const location = endpointPath('getJob', { jobId: taskId });
  const headers = createdHeaders(job, context, { ...body, location });
  return Response.json(body, { status: 202, headers });
};

/** `GET /speech/tts/jobs/{jobId}` of v3 (docs/api/jobs.md#v3). */
export const getJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context);
  const { format, ignored } = storedOrder(StoredSpeech, job);
  const body: JobV3 = {
    task: {
      ...itemOf(job),
      format,
      durationMs: hasAudio(job) ? durationMs(job.segments) : null,
      finishedAt: job.finishedAt === undefined ? null : new Date(job.finishedAt).toISOString(),
      segments: job.segments.map((segment) => segmentOf(job, segment)),
      error: jobError(job) ?? null,
    },
    ...accountState(call, context, job),
    ignoredParameters: [...ignored],
  };
  return Response.json(body, { headers: pollHeaders(job, secondsLeft(job), context) });
};

/** `GET /speech/tts/jobs` of v3 (docs/api/jobs.md#v1 and docs/api/jobs.md#v3), the newest first. */
export const listJobs: Handler<AccountCall> = ({ account, request, requestId }, { jobs }) => {
  const query = requireQuery(request.url, JobListQuery);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const offset = offsetOf({ page, limit });
  const filter = { status: storedStatus(status), limit: limit + 1, offset };
  const items = jobs.list(account, 'speech', filter).map((job) => itemOf(job));
  const body: JobList = { ...pageOf(items, { page, limit }), requestId };
  return Response.json(body);
};

function itemOf(job: JobRecord): JobListItem {
  return { ...listItem(job, audioPath), modelId: storedOrder(StoredSpeech, job).modelId };
}

function audioPath(jobId: string): string {
  return endpointPath('getJobAudio', { jobId });
}

function segmentOf(job: Job, segment: SegmentRecord): JobSegment {
  const { index, status, characters } = segment;
  const isSpoken = hasSegmentAudio(job, segment);
  return {
    index,
    status,
    characters,
    durationMs: isSpoken ? durationMs([segment]) : null,
    audioUrl: isSpoken
      ? endpointPath('getJobSegment', { jobId: job.id, segmentIndex: index })
      : null,
  };
}

/** `POST /speech/tts/jobs` of v1 (docs/api/jobs.md#v1 and docs/api/errors.md#idempotency). */
export const createJobV1: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(JobRequestV1, await readJsonBody(call.request), 'The body');
  const order = { ...knownFields(body), format: body.format, voiceId: voiceOf(body) };
  const job = await acceptSpeechJob(call, context, { endpoint: 'createJobV1', order });
  const location = endpointPath('getJobV1', { taskId: job.id });
  const answer = jobBody(call, context, job);
  const headers = createdHeaders(job, context, { ...answer, location });
  return Response.json(answer, { status: 202, headers });
};

/** `GET /speech/tts/jobs/{taskId}` of v1 (docs/api/jobs.md#v1). */
export const getJobV1: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context);
  return Response.json(jobBody(call, context, job), {
    headers: pollHeaders(job, secondsLeft(job), context),
  });
};

/** `GET /speech/tts/jobs` of v1 (docs/api/jobs.md#v1), the newest first. */
export const listJobsV1: Handler<AccountCall> = ({ account, request, requestId }, { jobs }) => {
  const query = requireQuery(request.url, JobListQueryV1);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const createdAfter = momentOf(query.createdAfter);
  const offset = offsetOf({ page, limit });
  const filter = { status: storedStatus(status), createdAfter, limit: limit + 1, offset };
  const items = jobs.list(account, 'speech', filter).map((job) => itemV1(job));
  const body: JobListV1 = { ...pageOf(items, { page, limit }), requestId };
  return Response.json(body);
};

/** What has the form of a timestamp may still be none, such as a leap second. */
function momentOf(timestamp: string | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  const moment = Date.parse(timestamp);
  if (!Number.isNaN(moment)) return moment;
  const message = `createdAfter is ${showValue(timestamp)}, which is no moment`;
  throw invalidRequest([{ field: 'createdAfter', message }]);
}

function jobBody(call: AccountCall, context: ServiceContext, job: Job): JobV1 {
  const { id } = job;
  const status = SPEECH_STATUS[job.status];
  const error = jobError(job);
  return {
    task: {
      id,
      taskId: id,
      status,
      ...delivery(job),
      ...(error === undefined ? {} : { error }),
    },
    record: { id, status },
    ...accountState(call, context, job),
  };
}

function delivery(job: Job): Pick<JobV1['task'], 'audioUrl' | 'delivery' | 'segments'> {
  if (!hasAudio(job)) {
    const nothing = { playbackUrl: null, downloadUrl: null, downloadReady: false };
    return { audioUrl: null, delivery: nothing };
  }
  const playbackUrl = audioPathV1(job.id);
  return {
    audioUrl: playbackUrl,
    delivery: { playbackUrl, downloadUrl: `${playbackUrl}?download=1`, downloadReady: true },
    segments: job.segments.map((segment) => ({
      index: segment.index,
      status: segment.status,
      playbackUrl: hasSegmentAudio(job, segment)
        ? endpointPath('getJobSegment', { jobId: job.id, segmentIndex: segment.index })
        : null,
    })),
  };
}

function itemV1(job: JobRecord): JobListItemV1 {
  const { modelId } = storedOrder(StoredSpeech, job);
  return { ...listItem(job, audioPathV1), engineModelId: modelId };
}

/** Without a version in it, as the spec has it. */
function audioPathV1(taskId: string): string {
  return endpointPath('getTaskAudio', { taskId });
}

/** A job that is asked for, whatever the surface. */
interface JobOrder extends PlanOptions {
  readonly endpoint: EndpointId;
  readonly order: SpeechOrder & { readonly format?: SpeechFormat | undefined };
}

/**
 * Accepts a job once: the same create under the same key gives the job that it was accepted as,
 * whatever has become of that, and costs nothing again (docs/api/errors.md#idempotency).
 * @throws ServiceError 409 when the key was used for something else, 402 when there is too little,
 * and whatever planning the speech does
 */
async function acceptSpeechJob(
  call: AccountCall,
  { catalogue, creates, jobs }: ServiceContext,
  { endpoint, order, ...options }: JobOrder,
): Promise<Job> {
  const { account: accountId, request, requestId } = call;
  const key = {
    accountId,
    endpoint,
    ...requestKeysOf(request.headers, endpoint),
    fingerprint: fingerprintOf({ ...order }),
  };
  const make = (): Job => {
    const plan = planSpeech(order, catalogue.of(accountId), options);
    const { charge, engineRequest, gainDb, ignored, model, voice } = plan;
    const { speed, pitch } = engineRequest;
    const { text: submitted, format = 'mp3' } = order;
    const stored: StoredSpeech = {
      voiceId: voice.id,
      modelId: model.id,
      format,
      speed,
      pitch,
      gainDb,
      ignored: [...ignored],
      textPreview: sliceCodePoints(submitted, 0, PREVIEW_CHARACTERS),
      textFingerprint: `sha256:${createHash('sha256').update(submitted, 'utf8').digest('hex')}`,
    };
    return jobs.accept({
      ...key,
      requestId,
      charge,
      kind: 'speech',
      order: stored,
      text: engineRequest.text,
      check(db) {
        if (voice.made === undefined || hasVoice(db, voice.id)) return;
        throw new ServiceError('ERR_VOICE_NOT_FOUND', 'The voice was deleted');
      },
    });
  };
  return creates.once({ key, signal: request.signal, find: readJob, make });
}

const PREVIEW_CHARACTERS = 80;

/**
 * Returns the account's job of this kind; by default the one that the path names.
 * @throws ServiceError 404 when there is none, also when it is another account's (docs/api/authentication.md)
 */
export function requireJob(
  { account, parameters }: AccountCall,
  { jobs }: ServiceContext,
  kind: JobKind = 'speech',
  jobId = parameters['jobId'] ?? parameters['taskId'] ?? '',
): Job {
  const job = jobs.find(account, kind, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `There is no job ${showText(jobId)}`);
}

/** What an answer about a job says of the account and of its charge (docs/api/jobs.md#v1 and docs/api/jobs.md#v3). */
function accountState(call: AccountCall, { store }: ServiceContext, { credits }: Job) {
  const { quota } = store.read((db) => amountsIn(db, call.account, 'available'));
  return { requestId: call.requestId, quotaRemaining: quota, creditsUsed: credits };
}

/** What v1 and v3 tell of a job in the same words (docs/api/jobs.md#v1). */
function listItem(job: JobRecord, audioUrl: (taskId: string) => string) {
  const { textFingerprint, textPreview, voiceId } = storedOrder(StoredSpeech, job);
  return {
    taskId: job.id,
    status: SPEECH_STATUS[job.status],
    characters: job.characters,
    textPreview,
    textFingerprint,
    voiceId,
    creditsUsed: job.credits,
    createdAt: new Date(job.createdAt).toISOString(),
    audioUrl: hasAudio(job) ? audioUrl(job.id) : null,
  };
}

/** Statuses of speech jobs in the API (docs/api/jobs.md#states). */
export const SPEECH_STATUS: Readonly<Record<JobStatus, SpeechStatus>> = {
  pending: 'pending',
  processing: 'processing',
  done: 'success',
  partial: 'partial_fail',
  failed: 'fail',
};

function storedStatus(status: SpeechStatus | undefined): JobStatus | undefined {
  return JOB_STATUSES.find((stored) => SPEECH_STATUS[stored] === status);
}

/** Whether a job has audio as a whole (docs/api/jobs.md#states). */
export function hasAudio({ status }: Pick<JobRecord, 'status'>): boolean {
  return status === 'done' || status === 'partial';
}

/** Whether a segment can be heard: also before its job has ended, but not of one that was refunded. */
export function hasSegmentAudio(job: Job, segment: SegmentRecord): boolean {
  return segment.status === 'success' && job.status !== 'failed';
}

/** How long segments play, those that were not spoken not at all. */
function durationMs(segments: readonly SegmentRecord[]): number {
  const seconds = segments.reduce(
    (sum, { samples = 0, sampleRate = 1 }) => sum + samples / sampleRate,
    0,
  );
  return Math.round(seconds * 1_000);
}

/** Why a job failed; `undefined` while it has not. */
function jobError({ errorCode: code, errorMessage, status, segments }: Job) {
  if (status !== 'failed') return undefined;
  if (code !== undefined) return { code, message: errorMessage ?? code };
  return segments.every((segment) => segment.status === 'skipped')
    ? { code: 'ERR_INVALID_REQUEST', message: 'text has nothing that this voice can say' }
    : { code: 'ERR_GENERATION_FAILED', message: speechFailureMessage(errorMessage) };
}

/** Characters that are spoken in a second, about; the engine and the machine decide. */
const CHARACTERS_PER_SECOND = 1_500;

/** How long the speech that is still missing in a job takes, about. */
export function secondsLeft({ segments }: Pick<Job, 'segments'>): number {
  return segments
    .filter(({ status }) => status === 'pending')
    .reduce((sum, { characters }) => sum + characters / CHARACTERS_PER_SECOND, 0);
}

const LONGEST_RETRY_AFTER_SECONDS = 30;

/**
 * `Retry-After` of a job of any kind: the expected time left in whole seconds, rounded up, 0 under half a second; nothing
 * for a job that has ended (docs/api/jobs.md#v3). A job that is late waits for others: it is expected to take half as
 * long again as it has taken.
 */
export function pollHeaders(
  { createdAt, finishedAt }: Pick<JobRecord, 'createdAt' | 'finishedAt'>,
  expectedSeconds: number,
  { clock }: Pick<ServiceContext, 'clock'>,
): Record<string, string> {
  if (finishedAt !== undefined) return {};
  const left = Math.max(expectedSeconds, (clock.now() - createdAt) / 2_000);
  const seconds = left < 0.5 ? 0 : Math.ceil(Math.min(left, LONGEST_RETRY_AFTER_SECONDS));
  return { 'Retry-After': String(seconds) };
}

/**
 * Headers of a create: where the job is, when to ask for it, and, as with speech, what it costs and what is
 * left (docs/api/jobs.md#v3).
 */
function createdHeaders(
  job: Job,
  context: Pick<ServiceContext, 'clock'>,
  { location, quotaRemaining }: { readonly location: string; readonly quotaRemaining: number },
): Record<string, string> {
  return {
    Location: location,
    ...pollHeaders(job, secondsLeft(job), context),
    [HEADERS.quotaRemaining]: String(quotaRemaining),
    [HEADERS.creditsUsed]: String(job.credits),
  };
}

/** A page of a list that is asked for one item longer, so that the last page is known as such. */
export function pageOf<Item>(
  items: readonly Item[],
  { page, limit }: { readonly page: number; readonly limit: number },
) {
  const hasMore = items.length > limit;
  return {
    items: items.slice(0, limit),
    pagination: { page, limit, hasMore, nextPage: hasMore ? page + 1 : null },
  };
}

/** What is skipped before a page; a page that nobody could reach is empty too. */
export function offsetOf({
  page,
  limit,
}: {
  readonly page: number;
  readonly limit: number;
}): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
}
