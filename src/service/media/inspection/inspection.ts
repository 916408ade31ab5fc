import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';

const Seconds = Type.Number({ exclusiveMinimum: 0, maximum: MEDIA_SECONDS_MAX });

/** The track of pictures in a file. */
export const VideoFacts = Type.Object({
  codec: Type.String(),
  /** As they are shown, turned the way the file says. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** From the first picture to the end of the last. */
  seconds: Seconds,
});
export type VideoFacts = Static<typeof VideoFacts>;

/** The same, with how much of it there is. */
export const InspectedVideo = Type.Object({
  ...VideoFacts.properties,
  pictures: Type.Integer({ minimum: 1 }),
  /** Of its pictures alone. */
  bytes: Type.Integer({ minimum: 1 }),
});
export type InspectedVideo = Static<typeof InspectedVideo>;

/** The track of sound in a file. */
export const AudioFacts = Type.Object({
  codec: Type.String(),
  /** Without what an encoder added before and behind the sound. */
  seconds: Seconds,
  /** When the sound begins, on the clock of the packets; what comes before is an encoder's. */
  start: Type.Number(),
  /** How far `seconds` may be too long, since nothing tells what the encoder added. */
  paddingSeconds: Type.Number({ minimum: 0 }),
});
export type AudioFacts = Static<typeof AudioFacts>;

/** What is in a file that was imported. */
export const Inspection = Type.Object({
  video: Type.Union([InspectedVideo, Type.Null()]),
  audio: Type.Union([AudioFacts, Type.Null()]),
});
export type Inspection = Static<typeof Inspection>;

/** What is to be inspected. */
export const InspectionOrder = Type.Object({
  path: Type.String(),
  /** Which of its tracks is needed. */
  needs: Type.Enum(['video', 'audio']),
});
export type InspectionOrder = Static<typeof InspectionOrder>;
