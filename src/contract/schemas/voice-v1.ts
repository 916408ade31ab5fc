import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PAGE_SIZE_MAX } from '../limits.ts';
import { VOICE_TYPES } from '../values.ts';
import { VoiceListQuery } from './voice.ts';

/** Voice item of v1 (docs/api/voices.md): the fields of both descriptions of it. */
export const VoiceV1 = Type.Object(
  {
    voiceId: Type.String({ description: 'Voice id' }),
    title: Type.String({ description: 'Display name' }),
    description: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    isPersonal: Type.Boolean({ description: 'Personal (owned) voice, or a public one' }),
    id: Type.String({ description: 'The same as voiceId' }),
    name: Type.String({ description: 'The same as title' }),
    provider: Type.String({ description: 'Engine family' }),
  },
  { $id: 'VoiceV1' },
);
export type VoiceV1 = Static<typeof VoiceV1>;

/** List envelope of v1 voices (docs/api/voices.md). */
export const VoiceListV1 = Type.Object(
  {
    total: Type.Integer({ minimum: 0 }),
    page: Type.Integer({ minimum: 1 }),
    pageSize: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
    totalPages: Type.Integer({ minimum: 0 }),
    items: Type.Array(VoiceV1),
  },
  { $id: 'VoiceListV1' },
);
export type VoiceListV1 = Static<typeof VoiceListV1>;

const { page, pageSize, includePersonal } = VoiceListQuery.properties;

/**
 * Query of `GET /voices` in v1, and body of the older `POST /list-models` (docs/api/voices.md and docs/api/versions.md).
 * What it does not know it does not refuse.
 */
export const VoiceListV1Query = Type.Object(
  {
    page,
    pageSize,
    modelType: Type.Optional(
      Type.Enum([...VOICE_TYPES], { description: 'public, unless includePersonal makes it all' }),
    ),
    includePersonal,
    language: Type.Optional(
      Type.String({ minLength: 1, description: 'Exactly this primary language' }),
    ),
    supportsLanguage: Type.Optional(
      Type.String({ minLength: 1, description: 'A supported language, or a more general one' }),
    ),
    search: Type.Optional(Type.String({ description: 'Part of the name or the description' })),
    provider: Type.Optional(Type.String({ minLength: 1, description: 'Engine family' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, description: 'Instead of pageSize' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Instead of page, from 0' })),
  },
  { $id: 'VoiceListV1Query' },
);
export type VoiceListV1Query = Static<typeof VoiceListV1Query>;
