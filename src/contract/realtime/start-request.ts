import { Type } from 'typebox';
import type { Static } from 'typebox';
import { SpeechControls } from '../schemas/speech.ts';
import {
  CHUNK_LENGTH_RANGE,
  LEGACY_VOLUME_RANGE,
  REALTIME_LANGUAGE_MAX_CHARACTERS,
} from './limits.ts';
import { PARAMETER_PROFILES, REALTIME_FORMATS } from './protocols.ts';

const { speed, volume, pitch, stability, similarity, emotion, textNormalization } =
  SpeechControls.properties;
const instructions = SpeechControls.properties.instruction;

const both = {
  voiceId: Type.String({ minLength: 1, description: 'Voice id' }),
  modelId: Type.String({ minLength: 1, description: 'Public model id' }),
  format: Type.Optional(
    Type.Enum([...REALTIME_FORMATS], { default: 'mp3', description: 'One of the capabilities' }),
  ),
  speed,
  volume,
  stability,
  similarity,
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: REALTIME_LANGUAGE_MAX_CHARACTERS,
      description: 'Language hint, such as en or pt-BR',
    }),
  ),
  textNormalization,
  chunkLength: Type.Optional(
    Type.Integer({ ...CHUNK_LENGTH_RANGE, description: 'Characters that are spoken in one go' }),
  ),
  latency: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Sooner or better: the word is the service’s',
    }),
  ),
};

/** `start.request` of v3 (spec section 4.10). What the model does not know is ignored with a warning. */
export const StartRequest = Type.Object(both, { $id: 'RealtimeStartRequest' });
export type StartRequest = Static<typeof StartRequest>;

const [legacyProfile, productProfile] = PARAMETER_PROFILES;
const optimizeInstructions = Type.Optional(
  Type.Boolean({ description: 'Let the model word the instruction; only where it is listed' }),
);

/** `start.request` of v2 under `product_v1`, with the names of v3: what is out of range is clamped. */
export const ProductStartRequest = Type.Object(
  {
    parameterProfile: Type.Literal(productProfile),
    ...both,
    pitch,
    emotion,
    instructions,
    optimizeInstructions,
  },
  { $id: 'RealtimeProductStartRequest' },
);
export type ProductStartRequest = Static<typeof ProductStartRequest>;

const { textNormalization: _productOnly, ...legacy } = both;

/** `start.request` of v2 without a profile, with the names of v3: what it does not know it refuses. */
export const LegacyStartRequest = Type.Object(
  {
    parameterProfile: Type.Optional(Type.Literal(legacyProfile)),
    ...legacy,
    volume: Type.Optional(Type.Number({ ...LEGACY_VOLUME_RANGE, description: 'Loudness' })),
    emotion,
    instructions,
    optimizeInstructions,
  },
  { $id: 'RealtimeLegacyStartRequest', additionalProperties: false },
);
export type LegacyStartRequest = Static<typeof LegacyStartRequest>;
