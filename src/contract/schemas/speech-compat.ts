import { Type } from 'typebox';
import type { Static } from 'typebox';
import { SPEECH_SURFACES } from '../speech-surfaces.ts';
import { SpeechControls, SpeechRequest } from './speech.ts';

const { speed, stability, similarity, textNormalization } = SpeechControls.properties;

/** Body of `POST /v1/tts` (spec section 4.4). What it does not know it does not refuse. */
export const CompatTtsRequest = Type.Object(
  {
    text: SpeechRequest.properties.text,
    reference_id: Type.String({ minLength: 1, description: 'Voice id; there is no default voice' }),
    format: Type.Optional(
      Type.String({ default: 'mp3', description: 'mp3, wav or pcm; anything else is mp3' }),
    ),
    prosody: Type.Optional(Type.Object({ speed })),
    speed,
    temperature: stability,
    top_p: similarity,
    normalize: textNormalization,
    chunk_length: Type.Optional(Type.Unknown({ description: 'Not used' })),
    latency: Type.Optional(Type.Unknown({ description: 'Not used' })),
  },
  { $id: 'CompatTtsRequest' },
);
export type CompatTtsRequest = Static<typeof CompatTtsRequest>;

/** Body of `POST /v1/audio/speech` (spec section 4.4). What it does not know it does not refuse. */
export const CompatSpeechRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      description: 'Model id; the names of the other interface are no aliases',
    }),
    input: SpeechRequest.properties.text,
    voice: Type.Union([
      Type.String({ minLength: 1 }),
      Type.Object({ id: Type.String({ minLength: 1 }) }),
    ]),
    response_format: Type.Optional(
      Type.Enum([...SPEECH_SURFACES['compat-speech'].formats], { default: 'mp3' }),
    ),
    speed,
  },
  { $id: 'CompatSpeechRequest' },
);
export type CompatSpeechRequest = Static<typeof CompatSpeechRequest>;

/** `GET /v1/audio/voices` (spec section 4.4). */
export const CompatVoices = Type.Object(
  {
    voices: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Voice id' }),
        name: Type.String({ description: 'Display name' }),
      }),
    ),
  },
  { $id: 'CompatVoices' },
);
export type CompatVoices = Static<typeof CompatVoices>;
