import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AudioFacts } from '../inspection/inspection.ts';

/** What is to be put together, with absolute paths. */
export const AlignOrder = Type.Object({
  video: Type.String(),
  audio: Type.String(),
  audioFacts: AudioFacts,
  /** How long the result is: the video is cut there, or shown again up to there. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** How much faster the sound is to be, at the same pitch. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  /** Where the result is written. */
  output: Type.String(),
});
export type AlignOrder = Static<typeof AlignOrder>;

/** What was made. */
export const Aligned = Type.Object({
  audioCodec: Type.String(),
  bytes: Type.Integer({ minimum: 1 }),
});
export type Aligned = Static<typeof Aligned>;
