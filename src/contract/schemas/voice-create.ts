import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  REFERENCE_FILES_MAX,
  REFERENCE_TEXT_MAX_CHARACTERS,
  VOICE_DESCRIPTION_MAX_CHARACTERS,
  VOICE_NAME_MAX_CHARACTERS,
} from '../limits.ts';
import { REFERENCE_EXTENSIONS, VOICE_VISIBILITIES } from '../reference-audio.ts';
import { Voice } from './voice.ts';

/**
 * Form of a voice that is made from reference audio (docs/api/voices.md), `multipart/form-data`. What it
 * does not know it does not refuse; the files are checked while they come.
 */
export const VoiceUpload = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: VOICE_NAME_MAX_CHARACTERS,
      description: 'Display name',
    }),
    audioFiles: Type.Array(Type.String({ format: 'binary' }), {
      minItems: 1,
      maxItems: REFERENCE_FILES_MAX,
      description: `Reference audio: ${REFERENCE_EXTENSIONS.join(', ')}`,
    }),
    description: Type.Optional(Type.String({ maxLength: VOICE_DESCRIPTION_MAX_CHARACTERS })),
    referenceText: Type.Optional(
      Type.String({
        maxLength: REFERENCE_TEXT_MAX_CHARACTERS,
        description: 'What is said in the reference audio',
      }),
    ),
    visibility: Type.Optional(
      Type.Enum([...VOICE_VISIBILITIES], { default: 'private', description: 'Who may use it' }),
    ),
    languages: Type.Optional(
      Type.String({ description: 'Language codes as a JSON array of strings' }),
    ),
  },
  { $id: 'VoiceUpload' },
);
export type VoiceUpload = Static<typeof VoiceUpload>;

/**
 * Answer to a voice that was made, in v1 (docs/api/voices.md): `voiceId`, `title`, `description` and
 * `createdAt` of the spec, the names of the other description of voices, and what was settled on.
 */
export const VoiceCreated = Type.Object(
  {
    voiceId: Type.String({ description: 'Voice id' }),
    title: Type.String({ description: 'Display name' }),
    description: Type.String({ description: 'What it is, and what it is made of' }),
    createdAt: Type.String({ format: 'date-time' }),
    id: Type.String({ description: 'The same as voiceId' }),
    name: Type.String({ description: 'The same as title' }),
    provider: Type.String({ description: 'Engine family' }),
    isPersonal: Type.Boolean(),
    visibility: Type.Enum([...VOICE_VISIBILITIES]),
    languages: Type.Array(Type.String(), { description: 'Languages that it speaks here' }),
  },
  { $id: 'VoiceCreated' },
);
export type VoiceCreated = Static<typeof VoiceCreated>;

/** The same answer in v3: the item of its list, with what v1 says besides (shape chosen by us). */
export const VoiceCreatedV3 = Type.Interface(
  [Voice],
  {
    description: VoiceCreated.properties.description,
    createdAt: VoiceCreated.properties.createdAt,
    visibility: VoiceCreated.properties.visibility,
    requestId: Type.String(),
  },
  { $id: 'VoiceCreatedV3' },
);
export type VoiceCreatedV3 = Static<typeof VoiceCreatedV3>;

/** Answer to a voice that was deleted (docs/api/voices.md). */
export const VoiceDeleted = Type.Object({ voiceId: Type.String() }, { $id: 'VoiceDeleted' });
export type VoiceDeleted = Static<typeof VoiceDeleted>;

/** Body of the older `POST /delete-model` (docs/api/versions.md). What it does not know it does not refuse. */
export const VoiceDeletion = Type.Object(
  {
    voiceId: Type.Optional(Type.String({ minLength: 1, description: 'Voice id' })),
    reference_id: Type.Optional(
      Type.String({ minLength: 1, description: 'Older name of voiceId; one of them is required' }),
    ),
  },
  { $id: 'VoiceDeletion' },
);
export type VoiceDeletion = Static<typeof VoiceDeletion>;
