import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';

const Seconds = Type.Number({ exclusiveMinimum: 0, maximum: MEDIA_SECONDS_MAX });

/** Metadata of the video track of a file. */
export const VideoMetadata = Type.Object({
  codec: Type.String(),
  /** Width in pixels after the rotation that the file states. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** Duration in seconds, from the start of the first video frame to the end of the last one. */
  seconds: Seconds,
});
export type VideoMetadata = Static<typeof VideoMetadata>;

/** Metadata of a video track, with totals of the packets. */
export const InspectedVideo = Type.Object({
  ...VideoMetadata.properties,
  pictures: Type.Integer({ minimum: 1 }),
  /** Total size of the packets in bytes. */
  bytes: Type.Integer({ minimum: 1 }),
});
export type InspectedVideo = Static<typeof InspectedVideo>;

/** Metadata of the audio track of a file. */
export const AudioMetadata = Type.Object({
  codec: Type.String(),
  /** Duration without the silence that the encoder added. */
  seconds: Seconds,
  /** Timestamp in seconds at which the sound begins, after the silence that the encoder added. */
  start: Type.Number(),
  /** Upper limit, in seconds, of encoder silence included in `seconds`; 0 if the file declares the silence. */
  paddingSeconds: Type.Number({ minimum: 0 }),
});
export type AudioMetadata = Static<typeof AudioMetadata>;

/** Metadata of the inspected video or audio track of an imported file; the other field is null. */
export const Inspection = Type.Object({
  video: Type.Union([InspectedVideo, Type.Null()]),
  audio: Type.Union([AudioMetadata, Type.Null()]),
});
export type Inspection = Static<typeof Inspection>;

export const InspectionOrder = Type.Object({
  path: Type.String(),
  /** The track to inspect. */
  needs: Type.Enum(['video', 'audio']),
});
export type InspectionOrder = Static<typeof InspectionOrder>;

/** Task for the child process that decodes media: replace the sound of a video. Paths are absolute. */
export const AlignParameters = Type.Object({
  video: Type.String(),
  audio: Type.String(),
  audioFacts: AudioMetadata,
  /** Duration of the result; the video is truncated or repeated to match. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** Multiplies the tempo of the sound, without changing the pitch. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  output: Type.String(),
});
export type AlignParameters = Static<typeof AlignParameters>;

export const Aligned = Type.Object({
  audioCodec: Type.String(),
  bytes: Type.Integer({ minimum: 1 }),
});
export type Aligned = Static<typeof Aligned>;
