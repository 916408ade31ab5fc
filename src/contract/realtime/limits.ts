/** Every limit of realtime speech (docs/api/limits.md). Characters are Unicode code points. */

/** All `input` events of a simple request together. */
export const SIMPLE_INPUT_MAX_CHARACTERS = 10_000;
export const TEXT_EVENT_MAX_CHARACTERS = 2_000;
export const SEGMENT_MAX_CHARACTERS = 10_000;
/** Billable units of a session; a deployment may allow less. */
export const SESSION_MAX_UNITS = 100_000;
/** Of a request id and of a segment id. */
export const REALTIME_ID_MAX_CHARACTERS = 128;
export const CHUNK_LENGTH_RANGE = { minimum: 50, maximum: 1_000 } as const;
export const REALTIME_LANGUAGE_MAX_CHARACTERS = 32;
/** Of the `legacy` profile of v2; elsewhere the range is that of HTTP speech. */
export const LEGACY_VOLUME_RANGE = { minimum: 0, maximum: 10 } as const;

/**
 * Limits of a frame in both directions (ours). A frame is one message; a larger one is refused.
 */
export const FRAME_LIMITS = {
  frameBytes: 4 * 1024 * 1024,
  binaryBytes: 4 * 1024 * 1024,
  stringBytes: 256 * 1024,
  arrayItems: 4_096,
  mapEntries: 256,
  /** Nested maps and arrays. */
  depth: 16,
} as const;
