import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, nullable, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './limits.ts';
import { AudioQuery, SignedAudioQuery, SpeechRequest, SpeechRequestV1 } from './speech.ts';

/** Statuses of a speech job (docs/api/jobs.md#states). */
export const JOB_STATUSES = ['pending', 'processing', 'success', 'partial_fail', 'fail'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Statuses of a segment of a job, which foley defines itself. A segment without words is `skipped`. */
export const SEGMENT_STATUSES = ['pending', 'success', 'skipped', 'fail'] as const;
export type SegmentStatus = (typeof SEGMENT_STATUSES)[number];

const Status = Type.Enum([...JOB_STATUSES], {
  description: 'A job that is pending or processing has not ended',
});
const CreditsUsed = Type.Integer({
  minimum: 0,
  description: 'Credits: reserved while the job runs, then charged',
});
const Characters = Type.Integer({ minimum: 0, description: 'Number of billed characters' });
const Instant = Type.String({ description: 'ISO 8601 timestamp' });

export const JobAccepted = named('JobAccepted', {
  task: Type.Object({
    taskId: Type.String(),
    status: Status,
    voiceId: Type.String(),
    modelId: Type.String(),
  }),
  requestId: Type.String(),
  quotaRemaining: Type.Integer(),
  creditsUsed: CreditsUsed,
  ignoredParameters: Type.Array(Type.String(), {
    description: 'Controls of the request that were ignored',
  }),
});
export type JobAccepted = Static<typeof JobAccepted>;

/** A segment of a v3 job. The API documents no fields for segments; foley defines them itself. */
export const JobSegment = named('JobSegment', {
  index: Type.Integer({ minimum: 0, description: 'Index of the segment in the text, from 0' }),
  status: Type.Enum([...SEGMENT_STATUSES]),
  characters: Characters,
  durationMs: nullable(Type.Integer({ minimum: 0 })),
  audioUrl: nullable(Type.String()),
});
export type JobSegment = Static<typeof JobSegment>;

const ListItem = {
  taskId: Type.String(),
  status: Status,
  characters: Characters,
  textPreview: Type.String({ description: 'First 80 characters of the text' }),
  textFingerprint: Type.String({
    description: '`sha256:` followed by the hex digest of the submitted text',
  }),
  voiceId: Type.String(),
  creditsUsed: CreditsUsed,
  createdAt: Instant,
  audioUrl: nullable(
    Type.String({ description: 'URL of the audio; null until the audio is ready' }),
  ),
};

/** A job in the list of v3 (docs/api/jobs.md#v3). */
export const JobListItem = named('JobListItem', { ...ListItem, modelId: Type.String() });
export type JobListItem = Static<typeof JobListItem>;

/** A v3 job: the fields of a job in the list, and progress fields that foley adds to the documented API. */
export const Job = named('Job', {
  task: Type.Object({
    ...JobListItem.properties,
    format: Type.String(),
    durationMs: nullable(Type.Integer({ minimum: 0 })),
    finishedAt: nullable(Instant),
    segments: Type.Array(JobSegment),
    error: nullable(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        { description: 'Why the job failed; null if the status is not fail' },
      ),
    ),
  }),
  requestId: Type.String(),
  quotaRemaining: Type.Integer(),
  creditsUsed: CreditsUsed,
  ignoredParameters: Type.Array(Type.String()),
});
export type Job = Static<typeof Job>;

/** The page number and size of a list response (docs/api/jobs.md#v1). */
export const Pagination = named('Pagination', {
  page: Type.Integer({ minimum: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
  hasMore: Type.Boolean(),
  nextPage: nullable(Type.Integer({ minimum: 2 })),
});

export const JobList = named('JobList', {
  items: Type.Array(JobListItem),
  pagination: Pagination,
  requestId: Type.String(),
});
export type JobList = Static<typeof JobList>;

export const JobListQuery = strict('JobListQuery', {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Page number, from 1' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      default: PAGE_SIZE_DEFAULT,
      description: 'Jobs per page, newest first',
    }),
  ),
  status: Type.Optional(
    Type.Enum([...JOB_STATUSES], { description: 'List only jobs with this status' }),
  ),
});

export const JobRequestV1 = named('JobRequestV1', {
  ...SpeechRequest.properties,
  voiceId: SpeechRequestV1.properties.voiceId,
  reference_id: SpeechRequestV1.properties.reference_id,
});

/** The response to a request that creates or polls a v1 job (docs/api/jobs.md#v1). */
export const JobV1 = named('JobV1', {
  task: Type.Object({
    id: Type.String(),
    taskId: Type.String(),
    status: Status,
    audioUrl: nullable(Type.String()),
    delivery: Type.Object({
      playbackUrl: nullable(Type.String()),
      downloadUrl: nullable(Type.String()),
      downloadReady: Type.Boolean(),
    }),
    segments: Type.Optional(
      Type.Array(
        Type.Object({
          index: Type.Integer({ minimum: 0 }),
          status: Type.Enum([...SEGMENT_STATUSES]),
          playbackUrl: nullable(Type.String()),
        }),
        { description: 'Segments of the job; only when the audio is ready' },
      ),
    ),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
  }),
  record: Type.Object({ id: Type.String(), status: Status }),
  requestId: Type.String(),
  quotaRemaining: Type.Integer(),
  creditsUsed: CreditsUsed,
});
export type JobV1 = Static<typeof JobV1>;

/** A job in the list of v1 (docs/api/jobs.md#v1). */
export const JobListItemV1 = named('JobListItemV1', { ...ListItem, engineModelId: Type.String() });
export type JobListItemV1 = Static<typeof JobListItemV1>;

export const JobListV1 = named('JobListV1', {
  items: Type.Array(JobListItemV1),
  pagination: Pagination,
  requestId: Type.String(),
});
export type JobListV1 = Static<typeof JobListV1>;

export const JobListQueryV1 = named('JobListQueryV1', {
  ...JobListQuery.properties,
  createdAfter: Type.Optional(
    Type.String({ format: 'date-time', description: 'ISO 8601 timestamp; lists newer jobs only' }),
  ),
});

const ACCEPT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_VOICE_NOT_FOUND',
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_MODEL_UNAVAILABLE',
] as const;

const AUDIO_ERRORS = ['ERR_INVALID_REQUEST', 'ERR_JOB_NOT_FOUND', 'ERR_AUDIO_NOT_FOUND'] as const;

/** The endpoints for speech jobs and their audio (docs/api/jobs.md). */
export const JOB_ENDPOINTS = [
  {
    id: 'createJob',
    method: 'POST',
    path: '/api/open/v3/speech/tts/jobs',
    section: 'jobs#v3',
    charges: 'characters',
    repeat: 'replay',
    summary: 'Create a speech job; an identical request returns the same job',
    body: SpeechRequest,
    success: JobAccepted,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  {
    id: 'listJobs',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs',
    section: 'jobs#v3',
    summary: 'List jobs, newest first',
    query: JobListQuery,
    success: JobList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  {
    id: 'getJob',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}',
    section: 'jobs#v3',
    summary: 'Get a job',
    success: Job,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  {
    id: 'getJobAudio',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}/audio',
    section: 'jobs#v3',
    summary: 'Download the audio of a job',
    query: AudioQuery,
    success: 'stored-audio',
    errors: AUDIO_ERRORS,
  },
  {
    id: 'getJobSegment',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}/segments/{segmentIndex}',
    section: 'jobs#v3',
    summary: 'Download the audio of a segment, as soon as it is ready',
    query: AudioQuery,
    success: 'stored-audio',
    errors: AUDIO_ERRORS,
  },
  {
    id: 'createJobV1',
    method: 'POST',
    path: '/api/open/v1/speech/tts/jobs',
    section: 'jobs#v1',
    charges: 'characters',
    repeat: 'replay',
    isKeyedByRequestId: true,
    summary: 'Create a speech job (v1); the request id is the idempotency key',
    body: JobRequestV1,
    success: JobV1,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  {
    id: 'listJobsV1',
    method: 'GET',
    path: '/api/open/v1/speech/tts/jobs',
    section: 'jobs#v1',
    summary: 'List jobs, newest first (v1)',
    query: JobListQueryV1,
    success: JobListV1,
    errors: ['ERR_INVALID_REQUEST'],
  },
  {
    id: 'getJobV1',
    method: 'GET',
    path: '/api/open/v1/speech/tts/jobs/{taskId}',
    section: 'jobs#v1',
    summary: 'Get a job (v1)',
    success: JobV1,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  {
    id: 'getTaskAudio',
    method: 'GET',
    path: '/api/open/tts/jobs/{taskId}/audio',
    section: 'jobs#v1',
    summary: 'Redirect to the audio of a job (v1)',
    query: AudioQuery,
    success: 'redirect',
    errors: AUDIO_ERRORS,
  },
  {
    id: 'getSignedAudio',
    method: 'GET',
    path: '/api/open/tts/audio/{taskId}',
    public: true,
    section: 'ours',
    summary: 'Download the audio of a job; the URL expires and needs no key',
    query: SignedAudioQuery,
    success: 'stored-audio',
    errors: [...AUDIO_ERRORS, 'ERR_FORBIDDEN'],
  },
] as const satisfies readonly Endpoint[];
