import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../limits.ts';

/** Voice item of v3 (docs/api/voices.md). */
export const Voice = Type.Object(
  {
    voiceId: Type.String({ description: 'Voice id' }),
    name: Type.String({ description: 'Display name; may change, so not a stable key' }),
    isPersonal: Type.Boolean({ description: 'Personal (owned) voice, or a public one' }),
    primaryLanguage: Type.String({ description: 'Language code' }),
    languages: Type.Array(Type.String(), { description: 'Supported language codes' }),
    modelIds: Type.Array(Type.String(), { description: 'Models that the voice works with' }),
  },
  { $id: 'Voice' },
);
export type Voice = Static<typeof Voice>;

/** One voice by its id: the item of the list with the trace id (spec 4.1; shape chosen by us). */
export const VoiceAnswer = Type.Interface(
  [Voice],
  { requestId: Type.String() },
  { $id: 'VoiceAnswer' },
);
export type VoiceAnswer = Static<typeof VoiceAnswer>;

/** List envelope of v3 voices (docs/api/voices.md). */
export const VoiceList = Type.Object(
  {
    total: Type.Integer({ minimum: 0 }),
    page: Type.Integer({ minimum: 1 }),
    pageSize: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }),
    totalPages: Type.Integer({ minimum: 0 }),
    items: Type.Array(Voice),
    requestId: Type.String(),
  },
  { $id: 'VoiceList' },
);
export type VoiceList = Static<typeof VoiceList>;

/** Query of `GET /voices` in v3 (spec 4.1 and section 8). */
export const VoiceListQuery = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, default: 1, description: 'Page number, from 1' }),
    ),
    pageSize: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PAGE_SIZE_MAX,
        default: PAGE_SIZE_DEFAULT,
        description: 'Voices a page',
      }),
    ),
    includePersonal: Type.Optional(
      Type.Boolean({ default: false, description: 'Also list the personal voices of the account' }),
    ),
  },
  { $id: 'VoiceListQuery', additionalProperties: false },
);
export type VoiceListQuery = Static<typeof VoiceListQuery>;
