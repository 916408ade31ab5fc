import { Type } from 'typebox';
import type { Static } from 'typebox';
import { JobError, named, nullable, QuotaRemaining, RequestId, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './limits.ts';
import { AudioQuery, SignedAudioQuery, SpeechRequest, SpeechRequestV1 } from './speech.ts';

/** Statuses of a speech job (docs/api/jobs.md#states). */
export const JOB_STATUSES = ['pending', 'processing', 'success', 'partial_fail', 'fail'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * Statuses of a segment in a speech job. The API documents none; foley defines them itself. A segment without words is
 * `skipped`.
 */
export const SEGMENT_STATUSES = ['pending', 'success', 'skipped', 'fail'] as const;
export type SegmentStatus = (typeof SEGMENT_STATUSES)[number];

const Status = Type.Enum([...JOB_STATUSES], {
  description: 'Status of the job (partial_fail: the audio lacks the failed text segments)',
});
const CreditsUsed = Type.Integer({
  minimum: 0,
  description: 'Credits reserved when the job was created',
});
const Characters = Type.Integer({ minimum: 0, description: 'Number of billed characters' });
const CreatedAt = Type.String({ description: 'Time when the job was created (ISO 8601)' });
const JobId = Type.String({ description: 'Job id' });
const VoiceId = Type.String({ description: 'Voice id' });
const ModelId = Type.String({ description: 'Id of the model that speaks the text' });
const IgnoredParameters = Type.Array(Type.String(), {
  description: 'Names of controls, such as pitch, that the model does not support',
});
const SegmentState = Type.Enum([...SEGMENT_STATUSES], {
  description: 'Status of the text segment (skipped: no words to speak)',
});
const SegmentIndex = Type.Integer({
  minimum: 0,
  description: 'Number of the text segment, from 0',
});
const DurationMs = nullable(
  Type.Integer({ minimum: 0 }),
  'Length of the audio in milliseconds (null until the audio is ready)',
);
const SegmentUrl = nullable(
  Type.String(),
  'URL of the audio of the text segment (null if the segment has no audio)',
);
const AudioUrl = nullable(Type.String(), 'URL of the audio (null until the audio is ready)');

export const JobAccepted = named('JobAccepted', {
  task: Type.Object(
    { taskId: JobId, status: Status, voiceId: VoiceId, modelId: ModelId },
    { description: 'The new job' },
  ),
  requestId: RequestId,
  quotaRemaining: QuotaRemaining,
  creditsUsed: CreditsUsed,
  ignoredParameters: IgnoredParameters,
});
export type JobAccepted = Static<typeof JobAccepted>;

/** A segment of a v3 job. The API documents no fields for segments; foley defines them itself. */
export const JobSegment = named('JobSegment', {
  index: SegmentIndex,
  status: SegmentState,
  characters: Characters,
  durationMs: DurationMs,
  audioUrl: SegmentUrl,
});
export type JobSegment = Static<typeof JobSegment>;

const ListItem = {
  taskId: JobId,
  status: Status,
  characters: Characters,
  textPreview: Type.String({ description: 'First 80 characters of the text' }),
  textFingerprint: Type.String({
    description: '`sha256:` followed by the hex digest of the submitted text',
  }),
  voiceId: VoiceId,
  creditsUsed: CreditsUsed,
  createdAt: CreatedAt,
  audioUrl: AudioUrl,
};

/** A job in the v3 job list (docs/api/jobs.md#v3). */
export const JobListItem = named('JobListItem', { ...ListItem, modelId: ModelId });
export type JobListItem = Static<typeof JobListItem>;

/** A v3 job. It has the fields of a job in the v3 list, and progress fields that foley adds to the documented API. */
export const Job = named('Job', {
  task: Type.Object(
    {
      ...JobListItem.properties,
      format: Type.String({ description: 'Audio format' }),
      durationMs: DurationMs,
      finishedAt: nullable(
        Type.String(),
        'Time when the job ended (ISO 8601), or null if it has not ended',
      ),
      segments: Type.Array(JobSegment, { description: 'Text segments of the job, in order' }),
      error: nullable(Type.Object(JobError), 'Why the job failed (null unless the status is fail)'),
    },
    { description: 'The job' },
  ),
  requestId: RequestId,
  quotaRemaining: QuotaRemaining,
  creditsUsed: CreditsUsed,
  ignoredParameters: IgnoredParameters,
});
export type Job = Static<typeof Job>;

/** The page number and size of a list response (docs/api/jobs.md#v1). */
export const Pagination = named('Pagination', {
  page: Type.Integer({ minimum: 1, description: 'Number of this page, from 1' }),
  limit: Type.Integer({
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: 'Maximum number of jobs per page',
  }),
  hasMore: Type.Boolean({ description: 'Whether more pages follow' }),
  nextPage: nullable(
    Type.Integer({ minimum: 2 }),
    'Number of the next page (null on the last page)',
  ),
});

export const JobList = named('JobList', {
  items: Type.Array(JobListItem, { description: 'Jobs on this page' }),
  pagination: Pagination,
  requestId: RequestId,
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
  task: Type.Object(
    {
      id: JobId,
      taskId: Type.String({ description: 'Same value as id' }),
      status: Status,
      audioUrl: AudioUrl,
      delivery: Type.Object(
        {
          playbackUrl: nullable(Type.String(), 'Same URL as `task.audioUrl`'),
          downloadUrl: nullable(
            Type.String(),
            'URL that sends the audio as an attachment (null until the audio is ready)',
          ),
          downloadReady: Type.Boolean({ description: 'Whether the audio can be downloaded' }),
        },
        { description: 'URLs of the audio' },
      ),
      segments: Type.Optional(
        Type.Array(
          Type.Object({
            index: SegmentIndex,
            status: SegmentState,
            playbackUrl: SegmentUrl,
          }),
          { description: 'Text segments of the job (sent only when the audio is ready)' },
        ),
      ),
      error: Type.Optional(
        Type.Object(JobError, {
          description: 'Why the job failed (sent only if the status is fail)',
        }),
      ),
    },
    { description: 'The job' },
  ),
  record: Type.Object({ id: JobId, status: Status }, { description: 'Id and status of the job' }),
  requestId: RequestId,
  quotaRemaining: QuotaRemaining,
  creditsUsed: CreditsUsed,
});
export type JobV1 = Static<typeof JobV1>;

/** A job in the v1 job list (docs/api/jobs.md#v1). */
export const JobListItemV1 = named('JobListItemV1', { ...ListItem, engineModelId: ModelId });
export type JobListItemV1 = Static<typeof JobListItemV1>;

export const JobListV1 = named('JobListV1', {
  items: Type.Array(JobListItemV1, { description: 'Jobs on this page' }),
  pagination: Pagination,
  requestId: RequestId,
});
export type JobListV1 = Static<typeof JobListV1>;

export const JobListQueryV1 = named('JobListQueryV1', {
  ...JobListQuery.properties,
  createdAfter: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'List only jobs created after this time (ISO 8601)',
    }),
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
    summary: 'Create a speech job (a retry with the same idempotency key returns the same job)',
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
    summary: 'Download the audio of one text segment of a job',
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
    summary: 'Create a speech job (v1, with `X-Request-Id` as the idempotency key)',
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
    summary: 'Download the audio of a job by its signed URL',
    query: SignedAudioQuery,
    success: 'stored-audio',
    errors: [...AUDIO_ERRORS, 'ERR_FORBIDDEN'],
  },
] as const satisfies readonly Endpoint[];
