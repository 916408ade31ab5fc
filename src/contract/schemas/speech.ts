import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  EMOTION_MAX_CHARACTERS,
  INSTRUCTION_MAX_CHARACTERS,
  LANGUAGE_MAX_CHARACTERS,
  PITCH_RANGE,
  SIMILARITY_RANGE,
  SPEED_RANGE,
  STABILITY_RANGE,
  TEXT_MAX_CHARACTERS,
  VOLUME_RANGE,
} from '../limits.ts';

export const SPEECH_FORMATS = ['mp3', 'wav', 'ogg'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/**
 * The controls of a speech request (docs/api/speech.md#v3). Ranges are the widest that any model takes;
 * a family's own range is checked once the model is known.
 */
export const SpeechControls = Type.Object({
  speed: Type.Optional(
    Type.Number({ ...SPEED_RANGE, default: 1, description: 'Speaking rate; 1 is the voice’s own' }),
  ),
  volume: Type.Optional(
    Type.Number({ ...VOLUME_RANGE, default: 0, description: 'Gain in decibels' }),
  ),
  pitch: Type.Optional(
    Type.Number({ ...PITCH_RANGE, default: 0, description: 'Pitch shift in semitones' }),
  ),
  stability: Type.Optional(
    Type.Number({ ...STABILITY_RANGE, description: 'How even the delivery is' }),
  ),
  similarity: Type.Optional(
    Type.Number({ ...SIMILARITY_RANGE, description: 'How close to the original voice' }),
  ),
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LANGUAGE_MAX_CHARACTERS,
      description: 'Language hint, such as en or pt-BR',
    }),
  ),
  emotion: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EMOTION_MAX_CHARACTERS,
      description: 'Emotion id for the whole text',
    }),
  ),
  instruction: Type.Optional(
    Type.String({
      maxLength: INSTRUCTION_MAX_CHARACTERS,
      description: 'How to speak: style, dialect, role or mood',
    }),
  ),
  textNormalization: Type.Optional(
    Type.Boolean({ description: 'Speak numbers, dates and units as words' }),
  ),
  filterEmoji: Type.Optional(
    Type.Boolean({ default: false, description: 'Leave decorative kaomoji out (experimental)' }),
  ),
});
export type SpeechControls = Static<typeof SpeechControls>;
export type ControlName = keyof SpeechControls;

/** Strict body of the v3 speech requests (docs/api/speech.md#v3): unknown properties are refused. */
export const SpeechRequest = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX_CHARACTERS,
      description: 'Text to speak',
    }),
    voiceId: Type.String({ minLength: 1, description: 'Voice id, from the voice list' }),
    modelId: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Model id; without it the default of the voice’s family',
      }),
    ),
    format: Type.Optional(
      Type.Enum([...SPEECH_FORMATS], { default: 'mp3', description: 'Audio format' }),
    ),
    ...SpeechControls.properties,
  },
  { $id: 'SpeechRequest', additionalProperties: false },
);
export type SpeechRequest = Static<typeof SpeechRequest>;
