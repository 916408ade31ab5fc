import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { HEADERS } from '../../contract/values.ts';
import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type {
  Job,
  JobAccepted,
  JobList,
  JobListItem,
  JobSegment,
  JobListItemV1,
  JobListV1,
  JobV1,
  JobStatus,
} from '../../contract/jobs.ts';
import { JobListQuery, JobListQueryV1, JobRequestV1 } from '../../contract/jobs.ts';
import { SpeechRequest } from '../../contract/speech.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import { endpointPath, readJsonBody, requireQuery, requestKeysOf } from '../http/request.ts';
import { requireValid } from '../http/validation.ts';
import { showValue, showText } from '../http/wording.ts';
import type { JobRecord, SegmentRecord, WholeJob } from '../jobs/job-records.ts';
import { readJob } from '../jobs/job-records.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { refusalError } from '../operations/begin-operation.ts';
import { fingerprintOf } from '../operations/claim.ts';
import type { AccountCall, Handler } from './call.ts';
import { knownFields, voiceOf } from './known-fields.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError, speechFailureMessage } from '../service-error.ts';
import type { PlanOptions, SpeechOrder } from '../speech/plan.ts';
import { planSpeech } from '../speech/plan.ts';

/** `POST /speech/tts/jobs` of v3 (docs/api/jobs.md#v3 and docs/api/errors.md#idempotency). */
export const createJob: Handler<AccountCall> = async (call, context) => {
  const order = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const job = await acceptSpeechJob(call, context, { endpoint: 'createJob', order });
  const { id: taskId, status, voiceId, modelId, ignored } = job;
  const body: JobAccepted = {
    task: { taskId, status, voiceId, modelId },
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
  const body: Job = {
    task: {
      ...itemOf(job),
      format: job.format,
      durationMs: hasAudio(job.status) ? durationMs(job.segments) : null,
      finishedAt: job.finishedAt === undefined ? null : new Date(job.finishedAt).toISOString(),
      segments: job.segments.map((segment) => segmentOf(job, segment)),
      error: jobError(job) ?? null,
    },
    ...accountState(call, context, job),
    ignoredParameters: [...job.ignored],
  };
  return Response.json(body, { headers: pollHeaders(job, secondsLeft(job), context) });
};

/** `GET /speech/tts/jobs` of v3 (docs/api/jobs.md#v1 and docs/api/jobs.md#v3), the newest first. */
export const listJobs: Handler<AccountCall> = ({ account, request, requestId }, { jobs }) => {
  const query = requireQuery(request.url, JobListQuery);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const filter = { status, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const items = jobs.list(account, filter).map((job) => itemOf(job));
  const body: JobList = { ...pageOf(items, { page, limit }), requestId };
  return Response.json(body);
};

function itemOf(job: JobRecord): JobListItem {
  return { ...listItem(job, audioPath), modelId: job.modelId };
}

function audioPath(jobId: string): string {
  return endpointPath('getJobAudio', { jobId });
}

function segmentOf(job: WholeJob, segment: SegmentRecord): JobSegment {
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
  const filter = { status, createdAfter, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const items = jobs.list(account, filter).map((job) => itemV1(job));
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

function jobBody(call: AccountCall, context: ServiceContext, job: WholeJob): JobV1 {
  const { id, status } = job;
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

function delivery(job: WholeJob): Pick<JobV1['task'], 'audioUrl' | 'delivery' | 'segments'> {
  if (!hasAudio(job.status)) {
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
  return { ...listItem(job, audioPathV1), engineModelId: job.modelId };
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
): Promise<WholeJob> {
  const { account: accountId, request, requestId } = call;
  const key = {
    accountId,
    endpoint,
    ...requestKeysOf(request.headers, endpoint),
    fingerprint: fingerprintOf({ ...order }),
  };
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

/**
 * The job that the path names, under whichever name.
 * @throws ServiceError 404 when there is none, or it is somebody else's (docs/api/authentication.md)
 */
export function requireJob(
  { account, parameters }: AccountCall,
  { jobs }: ServiceContext,
): WholeJob {
  const jobId = parameters['jobId'] ?? parameters['taskId'] ?? '';
  const job = jobs.find(account, jobId);
  if (job !== undefined) return job;
  throw new ServiceError('ERR_JOB_NOT_FOUND', `There is no job ${showText(jobId)}`);
}

/** What an answer about a job says of the account and of its charge (docs/api/jobs.md#v1 and docs/api/jobs.md#v3). */
function accountState(call: AccountCall, { store }: ServiceContext, { credits }: WholeJob) {
  const { quota } = store.read((db) => amountsIn(db, call.account, 'available'));
  return { requestId: call.requestId, quotaRemaining: quota, creditsUsed: credits };
}

/** What v1 and v3 tell of a job in the same words (docs/api/jobs.md#v1). */
function listItem(job: JobRecord, audioUrl: (taskId: string) => string) {
  return {
    taskId: job.id,
    status: job.status,
    characters: job.characters,
    textPreview: job.textPreview,
    textFingerprint: job.textFingerprint,
    voiceId: job.voiceId,
    creditsUsed: job.credits,
    createdAt: new Date(job.createdAt).toISOString(),
    audioUrl: hasAudio(job.status) ? audioUrl(job.id) : null,
  };
}

/** Whether there is audio of the whole (docs/api/jobs.md#states). */
export function hasAudio(status: JobStatus): boolean {
  return status === 'success' || status === 'partial_fail';
}

/** Whether a segment can be heard: also before its job has ended, but not of one that was refunded. */
export function hasSegmentAudio(job: WholeJob, segment: SegmentRecord): boolean {
  return segment.status === 'success' && job.status !== 'fail';
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
function jobError({ errorCode: code, failure, status, segments }: WholeJob) {
  if (status !== 'fail') return undefined;
  if (code !== undefined) return { code, message: failure ?? code };
  return segments.every((segment) => segment.status === 'skipped')
    ? { code: 'ERR_INVALID_REQUEST', message: 'text has nothing that this voice can say' }
    : { code: 'ERR_GENERATION_FAILED', message: speechFailureMessage(failure) };
}

/** Characters that are spoken in a second, about; the engine and the machine decide. */
const CHARACTERS_PER_SECOND = 1_500;

/** How long the speech that is still missing in a job takes, about. */
export function secondsLeft({ segments }: Pick<WholeJob, 'segments'>): number {
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
  job: WholeJob,
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
