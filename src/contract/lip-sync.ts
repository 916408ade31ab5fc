import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, nullable } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { IMPORT_ERRORS } from './endpoint.ts';
import { Pagination } from './jobs.ts';
import { MEDIA_URL_MAX_CHARACTERS, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './limits.ts';
import { SignedAudioQuery, SpeechRequest } from './speech.ts';

/** Statuses of media jobs (docs/api/lip-sync.md). foley adds `processing` to the documented statuses. */
export const MEDIA_JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type MediaJobStatus = (typeof MEDIA_JOB_STATUSES)[number];

const MEDIA_KINDS = ['video', 'audio', 'image'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

// docs/api/errors.md names only the stage `download`.
const IMPORT_STAGES = ['url', 'download', 'inspection'] as const;
export type ImportStage = (typeof IMPORT_STAGES)[number];

/** The field `details` of the error response after a failed import (docs/api/errors.md). */
export const ImportErrorDetails = Type.Object({
  media_kind: Type.Enum([...MEDIA_KINDS]),
  stage: Type.Enum([...IMPORT_STAGES]),
  retryable: Type.Boolean({ description: 'Whether a retry of the same request may succeed' }),
});
export type ImportErrorDetails = Static<typeof ImportErrorDetails>;

/** Fields of every media job (docs/api/lip-sync.md and docs/api/media.md#jobs). */
export const MEDIA_JOB_FIELDS = {
  id: Type.String(),
  status: Type.Enum([...MEDIA_JOB_STATUSES], {
    description: 'A job that is pending or processing has not ended',
  }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Progress in percent' }),
  created_at: Type.String({ description: 'ISO 8601 timestamp' }),
  finished_at: nullable(Type.String({ description: 'ISO 8601 timestamp' })),
  result_url: nullable(Type.String({ description: 'URL of the result; expires' })),
  error: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Why the job failed; null if it did not fail. A failed job is refunded' },
    ),
  ),
};

const MediaAddress = Type.String({
  minLength: 1,
  maxLength: MEDIA_URL_MAX_CHARACTERS,
  format: 'uri',
  description: 'http or https address that the service can download',
});

export const LipSyncRequest = named('LipSyncRequest', {
  video_url: MediaAddress,
  audio_url: MediaAddress,
  video_extension: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Repeat the video until the audio ends',
    }),
  ),
});
export type LipSyncRequest = Static<typeof LipSyncRequest>;

/** Which duration is billed: that of the shorter input, or that of the audio if the video is repeated. */
export const BILLING_RULES = ['shorter_input_rounded_up', 'audio_rounded_up'] as const;

const Seconds = Type.Number({
  minimum: 0,
  description: 'Audio length in seconds, without encoder padding',
});

const Billing = {
  billing_duration_seconds: Type.Integer({ minimum: 1 }),
  video_duration_seconds: Seconds,
  audio_duration_seconds: Seconds,
  billing_rule: Type.Enum([...BILLING_RULES]),
};

/** Result of a lip-sync job. The API does not document these fields; foley defines them itself. */
export const LipSyncResult = named('LipSyncResult', {
  duration_seconds: Seconds,
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  video_codec: Type.String(),
  audio_codec: Type.String(),
  size_bytes: Type.Integer({ minimum: 1 }),
});
export type LipSyncResult = Static<typeof LipSyncResult>;

/** A lip-sync job (docs/api/lip-sync.md). */
export const LipSyncJob = named('LipSyncJob', {
  ...MEDIA_JOB_FIELDS,
  credits_used: Type.Integer({
    minimum: 0,
    description: 'Credits: reserved while the job runs, then charged',
  }),
  ...Billing,
  result: nullable(LipSyncResult),
});
export type LipSyncJob = Static<typeof LipSyncJob>;

const MEDIA_ENVELOPE = {
  success: Type.Boolean({
    description: 'true for a valid request, even if the job fails',
  }),
  message: Type.String(),
};

export const LipSyncAccepted = named('LipSyncAccepted', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({
    id: MEDIA_JOB_FIELDS.id,
    status: MEDIA_JOB_FIELDS.status,
    credits_used: LipSyncJob.properties.credits_used,
    ...Billing,
  }),
});
export type LipSyncAccepted = Static<typeof LipSyncAccepted>;

export const LipSyncAnswer = named('LipSyncAnswer', { ...MEDIA_ENVELOPE, data: LipSyncJob });
export type LipSyncAnswer = Static<typeof LipSyncAnswer>;

/** Response to `GET /media/lip-sync/jobs`. docs/api/lip-sync.md names no fields; foley defines them itself. */
export const LipSyncList = named('LipSyncList', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({ items: Type.Array(LipSyncJob), pagination: Pagination }),
});
export type LipSyncList = Static<typeof LipSyncList>;

export const LipSyncListQuery = named('LipSyncListQuery', {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
  ),
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
  video_url: MediaAddress,
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

const Credits = Type.Integer({ minimum: 0 });
export const DubbingCredits = named('DubbingCredits', {
  tts: Credits,
  lip_sync: Credits,
  total: Credits,
});
export type DubbingCredits = Static<typeof DubbingCredits>;

export const DubbingAccepted = named('DubbingAccepted', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({
    id: MEDIA_JOB_FIELDS.id,
    status: MEDIA_JOB_FIELDS.status,
    credits_used: DubbingCredits,
  }),
});
export type DubbingAccepted = Static<typeof DubbingAccepted>;

const { credits_used: _, ...lipSync } = LipSyncJob.properties;

/** Response to `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing). */
export const DubbingAnswer = named('DubbingAnswer', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({
    ...lipSync,
    credits_used: DubbingCredits,
    tempo: Type.Number({
      description: 'Factor applied to the speed of the speech; 1 without fit_audio_to_video',
    }),
    tts_audio_url: Type.String({ description: 'URL of the speech audio; expires' }),
  }),
});
export type DubbingAnswer = Static<typeof DubbingAnswer>;

/** Media types of the files that media jobs make. */
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

const BEFORE_V1 = {
  section: 'versions#legacy-paths',
  summary: 'Older path of the lip-sync endpoint of v1',
} as const;

export const LIP_SYNC_ENDPOINTS = [
  {
    ...CREATE,
    id: 'createLipSync',
    path: '/api/open/v1/media/lip-sync/jobs',
    section: 'lip-sync#lip-sync',
    summary: 'Create a lip-sync job: replace the audio track of a video and sync the lips to it',
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
    summary: 'Create a dubbing job: speak a text and sync the lips of a video to it',
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
  { ...CREATE, ...BEFORE_V1, id: 'createLipSyncLegacy', path: '/api/open/lip-sync/create' },
  { ...LIST, ...BEFORE_V1, id: 'listLipSyncLegacy', path: '/api/open/lip-sync/list' },
  {
    ...BEFORE_V1,
    id: 'getLipSyncLegacy',
    method: 'GET',
    path: '/api/open/lip-sync/query',
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
    summary: 'Download the result of a media job; the URL expires and needs no key',
    query: SignedAudioQuery,
    success: 'stored-file',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_MEDIA_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
