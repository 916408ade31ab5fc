import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, nullable } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { IMPORT_ERRORS } from './endpoint.ts';
import { Pagination } from './jobs.ts';
import { MEDIA_URL_MAX_CHARACTERS, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './limits.ts';
import { SignedAudioQuery, SpeechRequest } from './speech.ts';

/** Statuses of lip sync, dubbing, images and videos (docs/api/lip-sync.md; `processing` is ours). */
export const MEDIA_JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type MediaJobStatus = (typeof MEDIA_JOB_STATUSES)[number];

/** What is imported from an address (docs/api/errors.md). */
const MEDIA_KINDS = ['video', 'audio', 'image'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** How far an import came (docs/api/errors.md names `download`; the others are ours). */
const IMPORT_STAGES = ['url', 'download', 'inspection'] as const;
export type ImportStage = (typeof IMPORT_STAGES)[number];

/** `details` of an import that failed (docs/api/errors.md). */
export const ImportErrorDetails = Type.Object({
  media_kind: Type.Enum([...MEDIA_KINDS]),
  stage: Type.Enum([...IMPORT_STAGES]),
  retryable: Type.Boolean({ description: 'Whether the same request may do better later' }),
});
export type ImportErrorDetails = Static<typeof ImportErrorDetails>;

/** What every media job tells of itself (docs/api/lip-sync.md, docs/api/lip-sync.md#dubbing and docs/api/media.md#jobs; what they leave open is ours). */
export const MEDIA_JOB_FIELDS = {
  id: Type.String(),
  status: Type.Enum([...MEDIA_JOB_STATUSES], { description: 'pending and processing go on' }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent that is done' }),
  created_at: Type.String({ description: 'ISO 8601 timestamp' }),
  finished_at: nullable(Type.String({ description: 'ISO 8601 timestamp' })),
  result_url: nullable(Type.String({ description: 'Where the result is, for a while' })),
  error: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Of a failed one; it was refunded' },
    ),
  ),
};

/** The address of a file that the service fetches. */
const MediaAddress = Type.String({
  minLength: 1,
  maxLength: MEDIA_URL_MAX_CHARACTERS,
  format: 'uri',
  description: 'http or https address that the service can reach',
});

/** Body of `POST /media/lip-sync/jobs` (docs/api/lip-sync.md). What it does not know it does not refuse. */
export const LipSyncRequest = named('LipSyncRequest', {
  video_url: MediaAddress,
  audio_url: MediaAddress,
  video_extension: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Repeat the video up to the end of the audio, which then gives the length',
    }),
  ),
});
export type LipSyncRequest = Static<typeof LipSyncRequest>;

/** What is billed: the shorter input, or the audio where the video is extended (docs/api/lip-sync.md). */
export const BILLING_RULES = ['shorter_input_rounded_up', 'audio_rounded_up'] as const;
export type BillingRule = (typeof BILLING_RULES)[number];

const Seconds = Type.Number({ minimum: 0, description: 'Seconds, without the padding of codecs' });

const Billing = {
  billing_duration_seconds: Type.Integer({ minimum: 1 }),
  video_duration_seconds: Seconds,
  audio_duration_seconds: Seconds,
  billing_rule: Type.Enum([...BILLING_RULES]),
};

/** What a lip-sync job made (ours: the spec does not show it). */
export const LipSyncResult = named('LipSyncResult', {
  duration_seconds: Seconds,
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  video_codec: Type.String(),
  audio_codec: Type.String(),
  size_bytes: Type.Integer({ minimum: 1 }),
});
export type LipSyncResult = Static<typeof LipSyncResult>;

/** A lip-sync job by itself and in a list (docs/api/lip-sync.md; what it leaves open is ours). */
export const LipSyncJob = named('LipSyncJob', {
  ...MEDIA_JOB_FIELDS,
  credits_used: Type.Integer({
    minimum: 0,
    description: 'Set aside while the job runs, then what it cost',
  }),
  ...Billing,
  result: nullable(LipSyncResult),
});
export type LipSyncJob = Static<typeof LipSyncJob>;

/** Begins the body of every lip-sync and dubbing answer (docs/api/lip-sync.md). */
const MEDIA_ENVELOPE = {
  success: Type.Boolean({
    description: 'Whether the request was understood; not how the job ends',
  }),
  message: Type.String(),
};

/** Answer to `POST /media/lip-sync/jobs` (docs/api/lip-sync.md). */
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

/** Answer to `GET /media/lip-sync/jobs/{jobId}` (docs/api/lip-sync.md). */
export const LipSyncAnswer = named('LipSyncAnswer', { ...MEDIA_ENVELOPE, data: LipSyncJob });
export type LipSyncAnswer = Static<typeof LipSyncAnswer>;

/** Answer to `GET /media/lip-sync/jobs` (docs/api/lip-sync.md; shape chosen by us). */
export const LipSyncList = named('LipSyncList', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({ items: Type.Array(LipSyncJob), pagination: Pagination }),
});
export type LipSyncList = Static<typeof LipSyncList>;

/** Query of the list of lip-sync jobs (docs/api/lip-sync.md). What it does not know it does not refuse. */
export const LipSyncListQuery = named('LipSyncListQuery', {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
  ),
  status: Type.Optional(Type.Enum([...MEDIA_JOB_STATUSES], { description: 'Only these' })),
});

/** Query of `GET /lip-sync/query`, from before v1 (docs/api/versions.md; the name is ours). */
export const LipSyncQuery = named('LipSyncQuery', {
  jobId: Type.String({ minLength: 1, description: 'The job that is asked about' }),
});

const { text, voiceId, modelId, speed, language } = SpeechRequest.properties;

/** Body of `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md). What it does not know it does not refuse. */
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
      description: 'Speak faster or slower, 0.5x to 2x, so that it ends with the video',
    }),
  ),
});
export type DubbingRequest = Static<typeof DubbingRequest>;

/** What a dubbing cost, by its parts (docs/api/lip-sync.md#dubbing). */
const Credits = Type.Integer({ minimum: 0 });
export const DubbingCredits = named('DubbingCredits', {
  tts: Credits,
  lip_sync: Credits,
  total: Credits,
});
export type DubbingCredits = Static<typeof DubbingCredits>;

/** Answer to `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md#dubbing). */
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

/** Answer to `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing; what it leaves open is ours). */
export const DubbingAnswer = named('DubbingAnswer', {
  ...MEDIA_ENVELOPE,
  data: Type.Object({
    ...lipSync,
    credits_used: DubbingCredits,
    tempo: Type.Number({
      description: 'How much faster than spoken the voice is; 1 unless fitted',
    }),
    tts_audio_url: Type.String({ description: 'The speech as it was spoken, for a while' }),
  }),
});
export type DubbingAnswer = Static<typeof DubbingAnswer>;

/** What files of media jobs may be. */
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
  summary: 'The same, for clients from before v1',
} as const;

/** Lip sync and dubbing, and the files that media jobs made (docs/api/lip-sync.md). */
export const LIP_SYNC_ENDPOINTS = [
  {
    ...CREATE,
    id: 'createLipSync',
    path: '/api/open/v1/media/lip-sync/jobs',
    section: 'lip-sync#lip-sync',
    summary: 'Replace the sound of a video by another, once both were imported',
  },
  {
    ...LIST,
    id: 'listLipSync',
    path: '/api/open/v1/media/lip-sync/jobs',
    section: 'lip-sync#lip-sync',
    summary: 'Lip syncs, the newest first, a page at a time',
  },
  {
    id: 'getLipSync',
    method: 'GET',
    path: '/api/open/v1/media/lip-sync/jobs/{jobId}',
    section: 'lip-sync#lip-sync',
    summary: 'How far a lip sync is, and where its result is',
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
    summary: 'Speak a text and put it in the place of the sound of a video',
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
    summary: 'How far a dubbing is, what each of its parts cost, and where its result is',
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
    summary: 'What a media job made, for whoever was given this address, for a while',
    query: SignedAudioQuery,
    success: 'stored-file',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_MEDIA_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
