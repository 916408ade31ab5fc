import { Type } from 'typebox';
import type { Static } from 'typebox';
import { BILLING_RULES } from '../../../contract/schemas/lip-sync.ts';
import { AudioFacts, VideoFacts } from '../inspection/inspection.ts';

/** What is stored of a lip sync that was asked for; its files are in the folder of the job. */
export const StoredLipSync = Type.Object({
  video: VideoFacts,
  audio: AudioFacts,
  /** The name of the file with the sound. */
  audioFile: Type.String(),
  /** How long the result is. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** How much faster the sound is to be, at the same pitch. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  billedSeconds: Type.Integer({ minimum: 1 }),
  /** What was set aside for it. */
  credits: Type.Integer({ minimum: 0 }),
  rule: Type.Enum([...BILLING_RULES]),
});
export type StoredLipSync = Static<typeof StoredLipSync>;

/** Names of the files that came in, in the folder of their job. */
export const VIDEO_FILE = 'video';
export const AUDIO_FILE = 'audio';
