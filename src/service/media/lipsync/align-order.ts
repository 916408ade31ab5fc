import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AudioFacts } from '../inspection/inspection.ts';

/** Order of the media child to replace the sound of a video; paths are absolute. */
export const AlignOrder = Type.Object({
  video: Type.String(),
  audio: Type.String(),
  audioFacts: AudioFacts,
  /** Length of the result: the video is cut or repeated to it. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** Factor by which the sound is faster, at the same pitch. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  output: Type.String(),
});
export type AlignOrder = Static<typeof AlignOrder>;

export const Aligned = Type.Object({
  audioCodec: Type.String(),
  bytes: Type.Integer({ minimum: 1 }),
});
export type Aligned = Static<typeof Aligned>;
