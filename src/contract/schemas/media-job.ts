import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

/** Statuses of lip sync, dubbing, images and videos (docs/api/lip-sync.md; `processing` is ours). */
export const MEDIA_JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type MediaJobStatus = (typeof MEDIA_JOB_STATUSES)[number];

/** What is imported from an address (docs/api/errors.md). */
export const MEDIA_KINDS = ['video', 'audio', 'image'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** How far an import came (docs/api/errors.md names `download`; the others are ours). */
export const IMPORT_STAGES = ['url', 'download', 'inspection'] as const;
export type ImportStage = (typeof IMPORT_STAGES)[number];

/** `details` of an import that failed (docs/api/errors.md). */
export const ImportErrorDetails = Type.Object({
  media_kind: Type.Enum([...MEDIA_KINDS]),
  stage: Type.Enum([...IMPORT_STAGES]),
  retryable: Type.Boolean({ description: 'Whether the same request may do better later' }),
});
export type ImportErrorDetails = Static<typeof ImportErrorDetails>;

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

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
