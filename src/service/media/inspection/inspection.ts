import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';

const Seconds = Type.Number({ exclusiveMinimum: 0, maximum: MEDIA_SECONDS_MAX });

export const VideoMetadata = Type.Object({
  codec: Type.String(),
  /** Width and height in pixels, after the rotation that the file declares. */
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  /** Time from the start of the first video frame to the end of the last one, in seconds. */
  seconds: Seconds,
});
export type VideoMetadata = Static<typeof VideoMetadata>;

export const InspectedVideo = Type.Object({
  ...VideoMetadata.properties,
  pictures: Type.Integer({ minimum: 1 }),
  /** Total size of the video packets in bytes. */
  bytes: Type.Integer({ minimum: 1 }),
});
export type InspectedVideo = Static<typeof InspectedVideo>;

export const AudioMetadata = Type.Object({
  codec: Type.String(),
  /**
   * Duration in seconds. If the file declares silence that the encoder added, the duration does not include this
   * silence.
   */
  seconds: Seconds,
  /** Timestamp of the first sample in seconds. Leading silence from the encoder is skipped if the file declares it. */
  start: Type.Number(),
  /**
   * An encoder may add silence that the file does not declare. This is the maximum length of that silence in seconds; 0
   * if there is none. `seconds` includes it.
   */
  paddingSeconds: Type.Number({ minimum: 0 }),
});
export type AudioMetadata = Static<typeof AudioMetadata>;

/** Metadata of the inspected track. For a video track `audio` is null, and for an audio track `video` is null. */
export const Inspection = Type.Object({
  video: Type.Union([InspectedVideo, Type.Null()]),
  audio: Type.Union([AudioMetadata, Type.Null()]),
});
export type Inspection = Static<typeof Inspection>;

export const InspectionOrder = Type.Object({
  path: Type.String(),
  needs: Type.Enum(['video', 'audio']),
});
export type InspectionOrder = Static<typeof InspectionOrder>;

/** Parameters of the task `align-sound`, which replaces the sound of a video. All paths are absolute. */
export const AlignParameters = Type.Object({
  video: Type.String(),
  audio: Type.String(),
  audioFacts: AudioMetadata,
  /** Duration of the resulting video in seconds. The source video is truncated or repeated to reach this duration. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** Factor for the tempo of the sound; the pitch stays the same. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  output: Type.String(),
});
export type AlignParameters = Static<typeof AlignParameters>;

export const Aligned = Type.Object({
  audioCodec: Type.String(),
  bytes: Type.Integer({ minimum: 1 }),
});
export type Aligned = Static<typeof Aligned>;
