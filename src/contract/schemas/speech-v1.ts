import { Type } from 'typebox';
import type { Static } from 'typebox';
import { SpeechRequest } from './speech.ts';

const { voiceId, ...others } = SpeechRequest.properties;

/** Body of the v1 speech request (docs/api/speech.md#v1). What it does not know it does not refuse. */
export const SpeechRequestV1 = Type.Object(
  {
    ...others,
    voiceId: Type.Optional(voiceId),
    reference_id: Type.Optional(
      Type.String({ minLength: 1, description: 'Older name of voiceId; one of them is required' }),
    ),
    cache: Type.Optional(
      Type.Boolean({ default: false, description: 'Answer with the address of stored audio' }),
    ),
  },
  { $id: 'SpeechRequestV1' },
);
export type SpeechRequestV1 = Static<typeof SpeechRequestV1>;

/** Answer to a v1 speech request with `cache: true` (docs/api/speech.md#v1). */
export const CachedSpeech = Type.Object(
  {
    audio_url: Type.String({ format: 'uri', description: 'Where the audio is, for a while' }),
    credits_used: Type.Number(),
    quota_remaining: Type.Integer(),
  },
  { $id: 'CachedSpeech' },
);
export type CachedSpeech = Static<typeof CachedSpeech>;
