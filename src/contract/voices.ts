import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, RequestId, strict } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  REFERENCE_FILES_MAX,
  REFERENCE_TEXT_MAX_CHARACTERS,
  VOICE_DESCRIPTION_MAX_CHARACTERS,
  VOICE_NAME_MAX_CHARACTERS,
} from './limits.ts';
import { REFERENCE_EXTENSIONS, VOICE_VISIBILITIES } from './reference-audio.ts';
import { VOICE_TYPES } from './values.ts';

/** A voice in the v3 voice list (docs/api/voices.md). */
export const Voice = named('Voice', {
  voiceId: Type.String({ description: 'Voice id' }),
  name: Type.String({ description: 'Display name, which may change' }),
  isPersonal: Type.Boolean({ description: 'true for a personal voice, false for a public one' }),
  primaryLanguage: Type.String({ description: 'Language code' }),
  languages: Type.Array(Type.String(), { description: 'Supported language codes' }),
  modelIds: Type.Array(Type.String(), { description: 'Ids of the models that can use the voice' }),
  description: Type.Optional(
    Type.String({ description: 'Who speaks, and how. An extension of the embedded service' }),
  ),
  phonemes: Type.Optional(
    Type.String({
      description:
        'Signs of IPA that the voice speaks in `pronunciations`. An extension of the embedded service',
    }),
  ),
});
export type Voice = Static<typeof Voice>;

/**
 * Response with a single voice: the same fields as a voice in the list, and the request id. foley defines this format.
 */
export const VoiceAnswer = named('VoiceAnswer', {
  ...Voice.properties,
  requestId: RequestId,
});
export type VoiceAnswer = Static<typeof VoiceAnswer>;

const ListPage = {
  total: Type.Integer({ minimum: 0, description: 'Number of voices in all pages' }),
  page: Type.Integer({ minimum: 1, description: 'Number of this page, from 1' }),
  pageSize: Type.Integer({
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: 'Maximum number of voices per page',
  }),
  totalPages: Type.Integer({ minimum: 0, description: 'Number of pages' }),
};

export const VoiceList = named('VoiceList', {
  ...ListPage,
  items: Type.Array(Voice, { description: 'Voices on this page' }),
  requestId: RequestId,
});
export type VoiceList = Static<typeof VoiceList>;

export const VoiceListQuery = strict('VoiceListQuery', {
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Page number, from 1' })),
  pageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      default: PAGE_SIZE_DEFAULT,
      description: 'Voices per page',
    }),
  ),
  includePersonal: Type.Optional(
    Type.Boolean({ default: false, description: 'Also list the personal voices of the account' }),
  ),
});

/** A voice in the v1 voice list (docs/api/voices.md). `id` equals `voiceId`, and `name` equals `title`. */
export const VoiceV1 = named('VoiceV1', {
  voiceId: Type.String({ description: 'Voice id' }),
  title: Type.String({ description: 'Display name' }),
  description: Type.String({ description: 'Description of the voice' }),
  created_at: Type.String({
    format: 'date-time',
    description: 'Time when the voice was created (ISO 8601)',
  }),
  updated_at: Type.String({
    format: 'date-time',
    description: 'Time when the voice was last changed (ISO 8601)',
  }),
  isPersonal: Type.Boolean({ description: 'true for a personal voice, false for a public one' }),
  id: Type.String({ description: 'Same value as voiceId' }),
  name: Type.String({ description: 'Same value as title' }),
  provider: Type.String({ description: 'Model family of the voice, such as altA' }),
});
export type VoiceV1 = Static<typeof VoiceV1>;

export const VoiceListV1 = named('VoiceListV1', {
  ...ListPage,
  items: Type.Array(VoiceV1, { description: 'Voices on this page' }),
});
export type VoiceListV1 = Static<typeof VoiceListV1>;

const { page, pageSize, includePersonal } = VoiceListQuery.properties;

export const VoiceListV1Query = named('VoiceListV1Query', {
  page,
  pageSize,
  modelType: Type.Optional(
    Type.Enum([...VOICE_TYPES], {
      description: 'Which voices to list (default: public, or all with includePersonal=true)',
    }),
  ),
  includePersonal,
  language: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'List only voices with this primary language (exact match)',
    }),
  ),
  supportsLanguage: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'List only voices that support this language (en also matches en-US)',
    }),
  ),
  search: Type.Optional(
    Type.String({ description: 'List only voices whose name or description contains this text' }),
  ),
  provider: Type.Optional(
    Type.String({ minLength: 1, description: 'Model family of the voices, such as altA' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      description: 'Number of voices per page (cannot be combined with pageSize)',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Index of the first item, counted from 0 (cannot be combined with page)',
    }),
  ),
});
export type VoiceListV1Query = Static<typeof VoiceListV1Query>;

/** Form fields of a request that creates a voice from reference audio (docs/api/voices.md), without the audio files. */
export const VoiceUpload = named('VoiceUpload', {
  name: Type.String({
    minLength: 1,
    maxLength: VOICE_NAME_MAX_CHARACTERS,
    description: 'Display name',
  }),
  audioFiles: Type.Array(Type.String({ format: 'binary' }), {
    minItems: 1,
    maxItems: REFERENCE_FILES_MAX,
    description: `Recordings of the voice. File extensions: ${REFERENCE_EXTENSIONS.join(', ')}`,
  }),
  description: Type.Optional(
    Type.String({
      maxLength: VOICE_DESCRIPTION_MAX_CHARACTERS,
      description: 'Description of the voice',
    }),
  ),
  referenceText: Type.Optional(
    Type.String({
      maxLength: REFERENCE_TEXT_MAX_CHARACTERS,
      description: 'Transcript of the reference audio',
    }),
  ),
  visibility: Type.Optional(
    Type.Enum([...VOICE_VISIBILITIES], {
      default: 'private',
      description: 'Who may use the voice: the account (private) or everyone (public)',
    }),
  ),
  languages: Type.Optional(
    Type.String({ description: 'Language codes as a JSON array of strings' }),
  ),
});

/** Response to a v1 request that created a voice. `id` equals `voiceId`, and `name` equals `title`. */
export const VoiceCreated = named('VoiceCreated', {
  voiceId: Type.String({ description: 'Voice id' }),
  title: Type.String({ description: 'Display name' }),
  description: Type.String({
    description: 'Description of the voice, as the request gave it',
  }),
  createdAt: Type.String({
    format: 'date-time',
    description: 'Time when the voice was created (ISO 8601)',
  }),
  id: Type.String({ description: 'Same value as voiceId' }),
  name: Type.String({ description: 'Same value as title' }),
  provider: Type.String({ description: 'Model family of the voice, such as altA' }),
  isPersonal: Type.Boolean({
    description: 'Always true, because the voice belongs to the account',
  }),
  visibility: Type.Enum([...VOICE_VISIBILITIES], {
    description: 'Who may use the voice: the account (private) or everyone (public)',
  }),
  languages: Type.Array(Type.String(), {
    description: 'Codes of the languages that the voice speaks',
  }),
  notices: Type.Optional(
    Type.Array(Type.String(), { description: 'How the service made the voice' }),
  ),
});
export type VoiceCreated = Static<typeof VoiceCreated>;

/**
 * Response to a v3 request that created a voice. Contains the fields of the v3 voice list and some fields of the v1
 * response.
 */
export const VoiceCreatedV3 = named('VoiceCreatedV3', {
  ...Voice.properties,
  description: VoiceCreated.properties.description,
  createdAt: VoiceCreated.properties.createdAt,
  visibility: VoiceCreated.properties.visibility,
  notices: VoiceCreated.properties.notices,
  requestId: RequestId,
});
export type VoiceCreatedV3 = Static<typeof VoiceCreatedV3>;

export const VoiceDeleted = named('VoiceDeleted', {
  voiceId: Type.String({ description: 'Id of the deleted voice' }),
});
export type VoiceDeleted = Static<typeof VoiceDeleted>;

export const VoiceDeletion = named('VoiceDeletion', {
  voiceId: Type.Optional(Type.String({ minLength: 1, description: 'Voice id' })),
  reference_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Older name of voiceId (send one of the two)' }),
  ),
});

const DELETE_ERRORS = ['ERR_VOICE_NOT_FOUND', 'ERR_VOICE_IN_USE'] as const;

const CREATE = {
  method: 'POST',
  charges: 'voice',
  body: VoiceUpload,
  bodyType: 'multipart/form-data',
  success: VoiceCreated,
  errors: [...BODY_ERRORS, 'ERR_VOICE_LIMIT_REACHED'],
} as const;

const DELETE = {
  method: 'DELETE',
  success: VoiceDeleted,
  errors: DELETE_ERRORS,
} as const;

export const VOICE_ENDPOINTS = [
  {
    id: 'listVoices',
    method: 'GET',
    path: '/api/open/v3/voices',
    section: 'voices',
    summary: 'List voices',
    query: VoiceListQuery,
    success: VoiceList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  {
    id: 'getVoice',
    method: 'GET',
    path: '/api/open/v3/voices/{voiceId}',
    section: 'voices',
    summary: 'Get a voice',
    success: VoiceAnswer,
    errors: ['ERR_VOICE_NOT_FOUND'],
  },
  {
    ...CREATE,
    id: 'createVoice',
    path: '/api/open/v1/voices',
    section: 'voices#create',
    summary: 'Create a voice from recordings (v1)',
  },
  {
    ...DELETE,
    id: 'deleteVoice',
    path: '/api/open/v1/voices/{voiceId}',
    section: 'voices#delete',
    summary: 'Delete a personal voice (v1)',
  },
  {
    ...CREATE,
    id: 'createVoiceV3',
    path: '/api/open/v3/voices',
    section: 'versions#legacy-paths',
    summary: 'Create a voice from recordings',
    success: VoiceCreatedV3,
  },
  {
    ...DELETE,
    id: 'deleteVoiceV3',
    path: '/api/open/v3/voices/{voiceId}',
    section: 'versions#legacy-paths',
    summary: 'Delete a personal voice',
  },
  {
    ...CREATE,
    id: 'createModel',
    path: '/api/open/create-model',
    section: 'versions#legacy-paths',
    summary: 'Create a voice from recordings (old endpoint, from before v1)',
  },
  {
    id: 'deleteModel',
    method: 'POST',
    path: '/api/open/delete-model',
    section: 'versions#legacy-paths',
    summary: 'Delete a personal voice (old endpoint, from before v1)',
    body: VoiceDeletion,
    success: VoiceDeleted,
    errors: [...BODY_ERRORS, ...DELETE_ERRORS],
  },
  {
    id: 'listVoicesV1',
    method: 'GET',
    path: '/api/open/v1/voices',
    section: 'voices#v1-list',
    summary: 'List voices with filters (v1)',
    query: VoiceListV1Query,
    success: VoiceListV1,
    errors: ['ERR_INVALID_REQUEST'],
  },
  {
    id: 'listVoicesByPost',
    method: 'POST',
    path: '/api/open/list-models',
    section: 'versions#legacy-paths',
    summary: 'List voices with filters (old endpoint, from before v1)',
    body: VoiceListV1Query,
    isBodyOptional: true,
    success: VoiceListV1,
    errors: BODY_ERRORS,
  },
] as const satisfies readonly Endpoint[];
