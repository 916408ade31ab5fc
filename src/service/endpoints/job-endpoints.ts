import { createHash } from 'node:crypto';
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
import type { SpeechFormat } from '../../contract/speech.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import { HEADERS } from '../../contract/values.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import { showValue } from '../http/validation.ts';
import type { StoredJob, JobRecord, SegmentRecord } from '../jobs/job-records.ts';
import { readJob, storedOrder } from '../jobs/job-records.ts';
import type { StoredStatus } from '../jobs/lifecycle.ts';
import { JOB_STATUSES } from '../jobs/lifecycle.ts';
import { findSegmentAudio, StoredSpeech, wholeFile } from '../jobs/speech-jobs.ts';
import { fingerprintOf } from '../operations/operations.ts';
import type { AccountCall, Call, ChargedCall, Handler } from './call.ts';
import {
  acceptedResponse,
  pageOf,
  pollHeaders,
  quotaOf,
  rangeOf,
  requireJob,
} from './job-responses.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest, ServiceError, speechFailureMessage } from '../service-error.ts';
import { speechParameters } from './speech-endpoints.ts';
import type { StoredAudio } from '../speech/audio-files.ts';
import type { SpeechParameters } from '../speech/plan-speech.ts';
import { planSpeech } from '../speech/plan-speech.ts';
import { sliceCodePoints } from '../../text/code-points.ts';
import { hasVoice } from '../voices/personal-voices.ts';
import { requireSigned, storedAudioResponse } from './stored-audio.ts';

/** Handles `POST /speech/tts/jobs` of v3 (docs/api/jobs.md#v3 and docs/api/errors.md#idempotency). */
export const createJob: Handler<'createJob'> = async (call, context) => {
  const job = await acceptSpeechJob(call, context, call.body);
  const { id: taskId } = job;
  const { voiceId, modelId, ignored } = storedOrder(StoredSpeech, job);
  const body: JobAccepted = {
    task: { taskId, status: SPEECH_STATUS[job.status], voiceId, modelId },
    ...accountState(call, context, job),
    ignoredParameters: [...ignored],
  };
  return created(body, { job, location: endpointPath('getJob', { jobId: taskId }) }, context);
};

/** Handles `GET /speech/tts/jobs/{jobId}` of v3 (docs/api/jobs.md#v3). */
export const getJob: Handler<'getJob'> = (call, context) => {
  const job = requireJob(call, context, 'speech', call.parameters.jobId);
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
  return Response.json(body, { headers: pollHeaders(job, secondsLeft(job), context.clock) });
};

/** Handles `GET /speech/tts/jobs` of v3 (docs/api/jobs.md#v3); lists the newest job first. */
export const listJobs: Handler<'listJobs'> = ({ account, query, requestId }, { jobs }) => {
  const found = jobs.list(account, 'speech', {
    status: storedStatus(query.status),
    ...rangeOf(query),
  });
  const items = found.map((job) => itemOf(job));
  const body: JobList = { ...pageOf(items, query), requestId };
  return Response.json(body);
};

function itemOf(job: JobRecord): JobListItem {
  const audioPath = endpointPath('getJobAudio', { jobId: job.id });
  return { ...listItem(job, audioPath), modelId: storedOrder(StoredSpeech, job).modelId };
}

function segmentOf(job: StoredJob, segment: SegmentRecord): JobSegment {
  const { index, status, characters } = segment;
  const isSpoken = hasSegmentAudio(job, segment);
  return {
    index,
    status,
    characters,
    durationMs: isSpoken ? durationMs([segment]) : null,
    audioUrl: segmentPath(job, segment),
  };
}

function segmentPath(job: StoredJob, segment: SegmentRecord): string | null {
  return hasSegmentAudio(job, segment)
    ? endpointPath('getJobSegment', { jobId: job.id, segmentIndex: segment.index })
    : null;
}

/** Handles `POST /speech/tts/jobs` of v1 (docs/api/jobs.md#v1 and docs/api/errors.md#idempotency). */
export const createJobV1: Handler<'createJobV1'> = async (call, context) => {
  const { body } = call;
  const job = await acceptSpeechJob(call, context, speechParameters(body));
  const location = endpointPath('getJobV1', { taskId: job.id });
  return created(jobBody(call, context, job), { job, location }, context);
};

/** Handles `GET /speech/tts/jobs/{taskId}` of v1 (docs/api/jobs.md#v1). */
export const getJobV1: Handler<'getJobV1'> = (call, context) => {
  const job = requireJob(call, context, 'speech', call.parameters.taskId);
  const headers = pollHeaders(job, secondsLeft(job), context.clock);
  return Response.json(jobBody(call, context, job), { headers });
};

/** Handles `GET /speech/tts/jobs` of v1 (docs/api/jobs.md#v1); lists the newest job first. */
export const listJobsV1: Handler<'listJobsV1'> = ({ account, query, requestId }, { jobs }) => {
  const createdAfter = parseTimestamp(query.createdAfter);
  const found = jobs.list(account, 'speech', {
    status: storedStatus(query.status),
    createdAfter,
    ...rangeOf(query),
  });
  const items: JobListItemV1[] = found.map((job) => {
    const audioPath = endpointPath('getTaskAudio', { taskId: job.id });
    const { modelId } = storedOrder(StoredSpeech, job);
    return { ...listItem(job, audioPath), engineModelId: modelId };
  });
  const body: JobListV1 = { ...pageOf(items, query), requestId };
  return Response.json(body);
};

// The schema accepts timestamps that `Date` cannot parse, such as a leap second.
function parseTimestamp(timestamp: string | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  const time = Date.parse(timestamp);
  if (!Number.isNaN(time)) return time;
  const message = `createdAfter is ${showValue(timestamp)}, which is not a valid time`;
  throw invalidRequest([{ field: 'createdAfter', message }]);
}

function jobBody(call: AccountCall, context: ServiceContext, job: StoredJob): JobV1 {
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

function delivery(job: StoredJob) {
  if (!hasAudio(job)) {
    const nothing = { playbackUrl: null, downloadUrl: null, downloadReady: false };
    return { audioUrl: null, delivery: nothing };
  }
  // The path has no version (docs/api/jobs.md#v1).
  const playbackUrl = endpointPath('getTaskAudio', { taskId: job.id });
  return {
    audioUrl: playbackUrl,
    delivery: { playbackUrl, downloadUrl: `${playbackUrl}?download=1`, downloadReady: true },
    segments: job.segments.map((segment) => ({
      index: segment.index,
      status: segment.status,
      playbackUrl: segmentPath(job, segment),
    })),
  };
}

// A retry with the same idempotency key returns the same job and is not charged (docs/api/errors.md#idempotency).
async function acceptSpeechJob(
  call: ChargedCall,
  { catalogue, creates, jobs }: ServiceContext,
  order: SpeechParameters & { readonly format?: SpeechFormat | undefined },
): Promise<StoredJob> {
  const { account, request, requestId } = call;
  const key = { ...call.key, fingerprint: fingerprintOf({ ...order }) };
  const make = (): StoredJob => {
    const plan = planSpeech(order, catalogue.of(account));
    const { charge, engineRequest, gainDb, ignored, model, unspoken, voice } = plan;
    const { controls = {}, speed, pitch, textNormalization } = engineRequest;
    const { text: submitted, format = 'mp3' } = order;
    const stored: StoredSpeech = {
      voiceId: voice.id,
      modelId: model.id,
      format,
      speed,
      pitch,
      ...(textNormalization === false ? { textNormalization } : {}),
      gainDb,
      ...(Object.keys(controls).length === 0 ? {} : { controls: { ...controls } }),
      ...(order.pronunciations === undefined ? {} : { pronunciations: [...order.pronunciations] }),
      ignored: [...ignored],
      ...(unspoken.length === 0 ? {} : { unspoken: formatRanges(unspoken) }),
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

function created(
  body: JobAccepted | JobV1,
  { job, location }: { readonly job: StoredJob; readonly location: string },
  context: ServiceContext,
): Response {
  const { creditsUsed, quotaRemaining } = body;
  const poll = pollHeaders(job, secondsLeft(job), context.clock);
  return acceptedResponse(body, { location, poll, creditsUsed, quotaRemaining });
}

function accountState(call: AccountCall, context: ServiceContext, { credits }: StoredJob) {
  const { requestId } = call;
  return { requestId, quotaRemaining: quotaOf(call, context), creditsUsed: credits };
}

function listItem(job: JobRecord, audioPath: string) {
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
    audioUrl: hasAudio(job) ? audioPath : null,
  };
}

// Names of the job statuses in the speech API (docs/api/jobs.md#states).
const SPEECH_STATUS: Readonly<Record<StoredStatus, SpeechStatus>> = {
  pending: 'pending',
  processing: 'processing',
  done: 'success',
  partial: 'partial_fail',
  failed: 'fail',
};

function storedStatus(status: SpeechStatus | undefined): StoredStatus | undefined {
  return JOB_STATUSES.find((stored) => SPEECH_STATUS[stored] === status);
}

function hasAudio({ status }: JobRecord): boolean {
  return status === 'done' || status === 'partial';
}

// A failed job is refunded, so its spoken segments are withheld.
function hasSegmentAudio(job: StoredJob, segment: SegmentRecord): boolean {
  return segment.status === 'success' && job.status !== 'failed';
}

function durationMs(segments: readonly SegmentRecord[]): number {
  const seconds = segments.reduce(
    (sum, { samples = 0, sampleRate = 1 }) => sum + samples / sampleRate,
    0,
  );
  return Math.round(seconds * 1_000);
}

function jobError({ errorCode: code, errorMessage, status, segments }: StoredJob) {
  if (status !== 'failed') return undefined;
  if (code !== undefined) return { code, message: errorMessage ?? code };
  return segments.every((segment) => segment.status === 'skipped')
    ? { code: 'ERR_INVALID_REQUEST', message: 'text contains nothing that this voice can speak' }
    : { code: 'ERR_GENERATION_FAILED', message: speechFailureMessage(errorMessage) };
}

const CHARACTERS_PER_SECOND = 1_500;

// Assumes a typical speed of the engine.
function secondsLeft({ segments }: StoredJob): number {
  return segments
    .filter(({ status }) => status === 'pending')
    .reduce((sum, { characters }) => sum + characters / CHARACTERS_PER_SECOND, 0);
}

/** Handles `GET /speech/tts/jobs/{jobId}/audio` of v3 (docs/api/jobs.md#v3). */
export const getJobAudio: Handler<'getJobAudio'> = (call, context) =>
  wholeAudio(call, requireJob(call, context, 'speech', call.parameters.jobId), context);

/** Handles `GET /speech/tts/jobs/{jobId}/segments/{segmentIndex}`: sends the audio of a spoken segment. */
export const getJobSegment: Handler<'getJobSegment'> = async (call, context) => {
  const { segmentIndex } = call.parameters;
  const job = requireJob(call, context, 'speech', call.parameters.jobId);
  const segment = job.segments.find(({ index }) => String(index) === segmentIndex);
  const isSpoken = segment !== undefined && hasSegmentAudio(job, segment);
  const audio = isSpoken ? await findSegmentAudio(context, job, segment) : undefined;
  if (audio === undefined) {
    const message = segment === undefined ? 'No such segment' : 'The segment has no audio';
    throw noAudio(job, context, message);
  }
  const { format } = storedOrder(StoredSpeech, job);
  return storedAudioResponse(call, audio, { format, name: `${job.id}-${segmentIndex}` });
};

/** Handles `GET /api/open/tts/jobs/{taskId}/audio` of v1: redirects to a signed link (docs/api/jobs.md#v1). */
export const getTaskAudio: Handler<'getTaskAudio'> = async (call, context) => {
  const job = requireJob(call, context, 'speech', call.parameters.taskId);
  await requireAudio(job, context);
  const target = { taskId: job.id, download: call.query.download === '1' };
  const { expires, signature } = context.links.sign(target);
  const query = new URLSearchParams({
    expires: String(expires),
    signature,
    ...(target.download ? { download: '1' } : {}),
  });
  const Location = `${endpointPath('getSignedAudio', { taskId: job.id })}?${query.toString()}`;
  return new Response(null, { status: 302, headers: { Location } });
};

/** Handles the signed link `GET /api/open/tts/audio/{taskId}`: sends the audio of a job (embedded service only). */
export const getSignedAudio: Handler<'getSignedAudio'> = (call, context) => {
  const { taskId } = call.parameters;
  requireSigned(call, context, { taskId, download: call.query.download === '1' });
  const job = context.jobs.findAny('speech', taskId);
  if (job === undefined) throw new ServiceError('ERR_JOB_NOT_FOUND', 'No such job');
  return wholeAudio(call, job, context);
};

async function wholeAudio(
  call: Call & { readonly query: { readonly download?: '0' | '1' } },
  job: StoredJob,
  context: ServiceContext,
): Promise<Response> {
  const audio = await requireAudio(job, context);
  const { format, unspoken } = storedOrder(StoredSpeech, job);
  const response = storedAudioResponse(call, audio, { format, name: job.id });
  if (unspoken !== undefined) response.headers.set(HEADERS.unspoken, unspoken);
  return response;
}

async function requireAudio(job: StoredJob, context: ServiceContext): Promise<StoredAudio> {
  const audio = hasAudio(job) ? await context.audio.find(job.id, wholeFile(job)) : undefined;
  if (audio !== undefined) return audio;
  throw noAudio(job, context, `The job has no audio; its status is ${SPEECH_STATUS[job.status]}`);
}

// With `Retry-After` while the job is running.
function noAudio(job: StoredJob, context: ServiceContext, message: string) {
  const headers = pollHeaders(job, secondsLeft(job), context.clock);
  const details = { status: SPEECH_STATUS[job.status] };
  return new ServiceError('ERR_AUDIO_NOT_FOUND', message, { headers, details });
}
