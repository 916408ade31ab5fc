import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MEDIA_URL_MAX_CHARACTERS, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../limits.ts';
import { Pagination } from './job.ts';
import { MEDIA_JOB_FIELDS, MEDIA_JOB_STATUSES, nullable } from './media-job.ts';

/** The address of a file that the service fetches. */
export const MediaAddress = Type.String({
  minLength: 1,
  maxLength: MEDIA_URL_MAX_CHARACTERS,
  format: 'uri',
  description: 'http or https address that the service can reach',
});

/** Body of `POST /media/lip-sync/jobs` (docs/api/lip-sync.md). What it does not know it does not refuse. */
export const LipSyncRequest = Type.Object(
  {
    video_url: MediaAddress,
    audio_url: MediaAddress,
    video_extension: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Repeat the video up to the end of the audio, which then gives the length',
      }),
    ),
  },
  { $id: 'LipSyncRequest' },
);
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
export const LipSyncResult = Type.Object(
  {
    duration_seconds: Seconds,
    width: Type.Integer({ minimum: 1 }),
    height: Type.Integer({ minimum: 1 }),
    video_codec: Type.String(),
    audio_codec: Type.String(),
    size_bytes: Type.Integer({ minimum: 1 }),
  },
  { $id: 'LipSyncResult' },
);
export type LipSyncResult = Static<typeof LipSyncResult>;

/** A lip-sync job by itself and in a list (docs/api/lip-sync.md; what it leaves open is ours). */
export const LipSyncJob = Type.Object(
  {
    ...MEDIA_JOB_FIELDS,
    credits_used: Type.Integer({
      minimum: 0,
      description: 'Set aside while the job runs, then what it cost',
    }),
    ...Billing,
    result: nullable(LipSyncResult),
  },
  { $id: 'LipSyncJob' },
);
export type LipSyncJob = Static<typeof LipSyncJob>;

/** Begins the body of every lip-sync and dubbing answer (docs/api/lip-sync.md). */
export const MEDIA_ENVELOPE = {
  success: Type.Boolean({
    description: 'Whether the request was understood; not how the job ends',
  }),
  message: Type.String(),
};

/** Answer to `POST /media/lip-sync/jobs` (docs/api/lip-sync.md). */
export const LipSyncAccepted = Type.Object(
  {
    ...MEDIA_ENVELOPE,
    data: Type.Object({
      id: MEDIA_JOB_FIELDS.id,
      status: MEDIA_JOB_FIELDS.status,
      credits_used: LipSyncJob.properties.credits_used,
      ...Billing,
    }),
  },
  { $id: 'LipSyncAccepted' },
);
export type LipSyncAccepted = Static<typeof LipSyncAccepted>;

/** Answer to `GET /media/lip-sync/jobs/{jobId}` (docs/api/lip-sync.md). */
export const LipSyncAnswer = Type.Object(
  { ...MEDIA_ENVELOPE, data: LipSyncJob },
  { $id: 'LipSyncAnswer' },
);
export type LipSyncAnswer = Static<typeof LipSyncAnswer>;

/** Answer to `GET /media/lip-sync/jobs` (docs/api/lip-sync.md; shape chosen by us). */
export const LipSyncList = Type.Object(
  {
    ...MEDIA_ENVELOPE,
    data: Type.Object({ items: Type.Array(LipSyncJob), pagination: Pagination }),
  },
  { $id: 'LipSyncList' },
);
export type LipSyncList = Static<typeof LipSyncList>;

/** Query of the list of lip-sync jobs (docs/api/lip-sync.md). What it does not know it does not refuse. */
export const LipSyncListQuery = Type.Object(
  {
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
    ),
    status: Type.Optional(Type.Enum([...MEDIA_JOB_STATUSES], { description: 'Only these' })),
  },
  { $id: 'LipSyncListQuery' },
);
export type LipSyncListQuery = Static<typeof LipSyncListQuery>;

/** Query of `GET /lip-sync/query`, from before v1 (docs/api/versions.md; the name is ours). */
export const LipSyncQuery = Type.Object(
  { jobId: Type.String({ minLength: 1, description: 'The job that is asked about' }) },
  { $id: 'LipSyncQuery' },
);
export type LipSyncQuery = Static<typeof LipSyncQuery>;
