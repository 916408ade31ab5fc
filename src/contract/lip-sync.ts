import { Type } from 'typebox';
import type { Static } from 'typebox';
import { JobError, named, nullable } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { IMPORT_ERRORS } from './endpoint.ts';
import { JobListQuery, Pagination } from './jobs.ts';
import { MEDIA_URL_MAX_CHARACTERS } from './limits.ts';
import { SignedAudioQuery, SpeechRequest } from './speech.ts';

/** Statuses of media jobs (docs/api/lip-sync.md). foley adds `processing` to the documented statuses. */
export const MEDIA_JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type MediaJobStatus = (typeof MEDIA_JOB_STATUSES)[number];

const MEDIA_KINDS = ['video', 'audio', 'image'] as const;
export type InputKind = (typeof MEDIA_KINDS)[number];

// docs/api/errors.md names only the stage `download`.
const IMPORT_STAGES = ['url', 'download', 'inspection'] as const;
export type ImportStage = (typeof IMPORT_STAGES)[number];

/** The field `details` of the error response after a failed import (docs/api/errors.md). */
export const ImportErrorDetails = Type.Object({
  media_kind: Type.Enum([...MEDIA_KINDS], { description: 'Kind of the file whose import failed' }),
  stage: Type.Enum([...IMPORT_STAGES], {
    description: 'Failed step: checking the URL, downloading the file or inspecting it',
  }),
  retryable: Type.Boolean({ description: 'Whether a retry of the same request may succeed' }),
});
export type ImportErrorDetails = Static<typeof ImportErrorDetails>;

/** Fields of every media job (docs/api/lip-sync.md and docs/api/media.md#jobs). */
export const MEDIA_JOB_FIELDS = {
  id: Type.String({ description: 'Job id' }),
  status: Type.Enum([...MEDIA_JOB_STATUSES], {
    description: 'Status of the job',
  }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Progress in percent' }),
  created_at: Type.String({ description: 'Time when the job was created (ISO 8601)' }),
  finished_at: nullable(
    Type.String(),
    'Time when the job ended (ISO 8601), or null if it has not ended',
  ),
  result_url: nullable(
    Type.String(),
    'URL of the result file, which expires (null until the job is completed)',
  ),
  error: nullable(
    Type.Object(JobError),
    'Why the job failed, or null if it did not fail (a failed job is refunded)',
  ),
};

const mediaUrl = (description: string) =>
  Type.String({ minLength: 1, maxLength: MEDIA_URL_MAX_CHARACTERS, format: 'uri', description });
const VideoUrl = mediaUrl('http or https URL of the video file');

export const LipSyncRequest = named('LipSyncRequest', {
  video_url: VideoUrl,
  audio_url: mediaUrl('http or https URL of the audio file'),
  video_extension: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Repeat the video until the audio ends',
    }),
  ),
});
export type LipSyncRequest = Static<typeof LipSyncRequest>;

/**
 * Which duration of a lip sync is billed: that of the shorter input, or that of the audio if the video is repeated.
 * Both are rounded up to whole seconds.
 */
export const BILLING_RULES = ['shorter_input_rounded_up', 'audio_rounded_up'] as const;

const seconds = (description: string) => Type.Number({ minimum: 0, description });

const Billing = {
  billing_duration_seconds: Type.Integer({
    minimum: 1,
    description: 'Billed length in whole seconds',
  }),
  video_duration_seconds: seconds('Length of the source video in seconds'),
  audio_duration_seconds: seconds('Audio length in seconds, without encoder padding'),
  billing_rule: Type.Enum([...BILLING_RULES], {
    description:
      'Which length is billed: the shorter of video and audio, or (with `video_extension`) the audio',
  }),
};

/** Result of a lip-sync job. The API does not document these fields; foley defines them itself. */
export const LipSyncResult = named('LipSyncResult', {
  duration_seconds: seconds('Length of the result video in seconds'),
  width: Type.Integer({ minimum: 1, description: 'Width of the video in pixels' }),
  height: Type.Integer({ minimum: 1, description: 'Height of the video in pixels' }),
  video_codec: Type.String({ description: 'Video codec, such as avc' }),
  audio_codec: Type.String({ description: 'Audio codec, such as aac' }),
  size_bytes: Type.Integer({ minimum: 1, description: 'File size in bytes' }),
});
export type LipSyncResult = Static<typeof LipSyncResult>;

/** A lip-sync job (docs/api/lip-sync.md). */
export const LipSyncJob = named('LipSyncJob', {
  ...MEDIA_JOB_FIELDS,
  credits_used: Type.Integer({
    minimum: 0,
    description: 'Credits reserved when the job was created',
  }),
  ...Billing,
  result: nullable(
    LipSyncResult,
    'Size and format of the result video (null until the job is completed)',
  ),
});
export type LipSyncJob = Static<typeof LipSyncJob>;

/** The fields that every response about a media job contains. */
export const MEDIA_ENVELOPE = {
  success: Type.Boolean({
    description: 'Whether the request succeeded (true even if the job failed)',
  }),
  message: Type.String({ description: 'Status message for humans' }),
};

export const LipSyncAccepted = named('LipSyncAccepted', {
  ...MEDIA_ENVELOPE,
  data: Type.Object(
    {
      id: MEDIA_JOB_FIELDS.id,
      status: MEDIA_JOB_FIELDS.status,
      credits_used: LipSyncJob.properties.credits_used,
      ...Billing,
    },
    { description: 'The new job' },
  ),
});
export type LipSyncAccepted = Static<typeof LipSyncAccepted>;

export const LipSyncAnswer = named('LipSyncAnswer', { ...MEDIA_ENVELOPE, data: LipSyncJob });
export type LipSyncAnswer = Static<typeof LipSyncAnswer>;

/** Response to `GET /media/lip-sync/jobs`. docs/api/lip-sync.md names no fields; foley defines them itself. */
export const LipSyncList = named('LipSyncList', {
  ...MEDIA_ENVELOPE,
  data: Type.Object(
    {
      items: Type.Array(LipSyncJob, { description: 'Jobs on this page' }),
      pagination: Pagination,
    },
    { description: 'A page of the job list' },
  ),
});
export type LipSyncList = Static<typeof LipSyncList>;

export const LipSyncListQuery = named('LipSyncListQuery', {
  page: JobListQuery.properties.page,
  limit: JobListQuery.properties.limit,
  status: Type.Optional(
    Type.Enum([...MEDIA_JOB_STATUSES], { description: 'List only jobs with this status' }),
  ),
});

/** Query of `GET /lip-sync/query`, a path that is older than v1 (docs/api/versions.md). */
export const LipSyncQuery = named('LipSyncQuery', {
  jobId: Type.String({ minLength: 1, description: 'Job id' }),
});

const { text, voiceId, modelId, speed, language } = SpeechRequest.properties;

export const DubbingRequest = named('DubbingRequest', {
  video_url: VideoUrl,
  text,
  reference_id: voiceId,
  model_id: modelId,
  speed,
  language,
  fit_audio_to_video: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Speak faster or slower, 0.5x to 2x, so that the speech ends with the video',
    }),
  ),
});
export type DubbingRequest = Static<typeof DubbingRequest>;

const credits = (description: string) => Type.Integer({ minimum: 0, description });
export const DubbingCredits = named('DubbingCredits', {
  tts: credits('Credits for the speech'),
  lip_sync: credits('Credits for the lip sync, which are reserved when the job is created'),
  total: credits('Sum of tts and lip_sync'),
});
export type DubbingCredits = Static<typeof DubbingCredits>;

export const DubbingAccepted = named('DubbingAccepted', {
  ...MEDIA_ENVELOPE,
  data: Type.Object(
    {
      id: MEDIA_JOB_FIELDS.id,
      status: MEDIA_JOB_FIELDS.status,
      credits_used: DubbingCredits,
    },
    { description: 'The new job' },
  ),
});
export type DubbingAccepted = Static<typeof DubbingAccepted>;

const { credits_used: _, ...lipSync } = LipSyncJob.properties;

/** Response to `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing). */
export const DubbingAnswer = named('DubbingAnswer', {
  ...MEDIA_ENVELOPE,
  data: Type.Object(
    {
      ...lipSync,
      credits_used: DubbingCredits,
      tempo: Type.Number({
        description:
          'Speed factor that fits the speech to the video (1 without fit_audio_to_video)',
      }),
      tts_audio_url: Type.String({ description: 'Temporary URL of the speech audio' }),
    },
    { description: 'The job' },
  ),
});
export type DubbingAnswer = Static<typeof DubbingAnswer>;

/** Media types of the files that media jobs create. */
export const MEDIA_FILE_TYPES = [
  'video/mp4',
  'audio/wav',
  'image/png',
  'image/jpeg',
  'image/webp',
] as const;

const LIP_SYNC_ERRORS = [
  ...IMPORT_ERRORS,
  'ERR_MEDIA_IMPORT_UNAVAILABLE',
  'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT',
] as const;

const CREATE = {
  method: 'POST',
  charges: 'seconds',
  body: LipSyncRequest,
  success: LipSyncAccepted,
  isAccepted: true,
  errors: LIP_SYNC_ERRORS,
} as const;

const LIST = {
  method: 'GET',
  query: LipSyncListQuery,
  success: LipSyncList,
  errors: ['ERR_INVALID_REQUEST'],
} as const;

const BEFORE_V1 = { section: 'versions#legacy-paths' } as const;

export const LIP_SYNC_ENDPOINTS = [
  {
    ...CREATE,
    id: 'createLipSync',
    path: '/api/open/v1/media/lip-sync/jobs',
    section: 'lip-sync#lip-sync',
    summary:
      'Create a lip-sync job: replace the audio of a video and sync the lips to the new audio',
  },
  {
    ...LIST,
    id: 'listLipSync',
    path: '/api/open/v1/media/lip-sync/jobs',
    section: 'lip-sync#lip-sync',
    summary: 'List lip-sync jobs, newest first',
  },
  {
    id: 'getLipSync',
    method: 'GET',
    path: '/api/open/v1/media/lip-sync/jobs/{jobId}',
    section: 'lip-sync#lip-sync',
    summary: 'Get a lip-sync job: progress, result',
    success: LipSyncAnswer,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  {
    id: 'createDubbing',
    method: 'POST',
    path: '/api/open/v1/media/video-dubbing/jobs',
    section: 'lip-sync#dubbing',
    charges: 'characters and seconds',
    repeat: 'replay',
    summary: 'Create a dubbing job: speak a text and sync the lips of a video to the speech',
    body: DubbingRequest,
    success: DubbingAccepted,
    isAccepted: true,
    errors: [
      ...LIP_SYNC_ERRORS,
      'ERR_DUBBING_FIT_IMPOSSIBLE',
      'ERR_VOICE_NOT_FOUND',
      'ERR_REQUEST_ID_CONFLICT',
      'ERR_REQUEST_PREVIOUSLY_REFUNDED',
      'ERR_GENERATION_FAILED',
      'ERR_MODEL_UNAVAILABLE',
    ],
  },
  {
    id: 'getDubbing',
    method: 'GET',
    path: '/api/open/v1/media/video-dubbing/jobs/{jobId}',
    section: 'lip-sync#dubbing',
    summary: 'Get a dubbing job: progress, costs, result',
    success: DubbingAnswer,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  {
    ...CREATE,
    ...BEFORE_V1,
    id: 'createLipSyncLegacy',
    path: '/api/open/lip-sync/create',
    summary: 'Create a lip-sync job (old endpoint, from before v1)',
  },
  {
    ...LIST,
    ...BEFORE_V1,
    id: 'listLipSyncLegacy',
    path: '/api/open/lip-sync/list',
    summary: 'List lip-sync jobs (old endpoint, from before v1)',
  },
  {
    ...BEFORE_V1,
    id: 'getLipSyncLegacy',
    method: 'GET',
    path: '/api/open/lip-sync/query',
    summary: 'Get a lip-sync job (old endpoint, from before v1)',
    query: LipSyncQuery,
    success: LipSyncAnswer,
    errors: ['ERR_INVALID_REQUEST', 'ERR_JOB_NOT_FOUND'],
  },
  {
    id: 'getMediaFile',
    method: 'GET',
    path: '/api/open/media/files/{fileId}',
    public: true,
    section: 'ours',
    summary: 'Download the result of a media job (the URL expires and needs no key)',
    query: SignedAudioQuery,
    success: 'stored-file',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_MEDIA_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
