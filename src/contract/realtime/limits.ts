// Limits of realtime speech (docs/api/limits.md). Characters are Unicode code points.

/**
 * Maximum text length of a realtime request in mode `simple`, in code points. The texts of all its `input` events count
 * together.
 */
export const SIMPLE_INPUT_MAX_CHARACTERS = 10_000;
export const TEXT_EVENT_MAX_CHARACTERS = 2_000;
export const SEGMENT_MAX_CHARACTERS = 10_000;
/** Maximum number of billable units in a session; the hosted service may allow fewer. */
export const SESSION_MAX_UNITS = 100_000;
/** Maximum length of a request id or a segment id in realtime speech. */
export const REALTIME_ID_MAX_CHARACTERS = 128;
export const CHUNK_LENGTH_RANGE = { minimum: 50, maximum: 1_000 } as const;
export const REALTIME_LANGUAGE_MAX_CHARACTERS = 32;
/**
 * Range of the control `volume` in the v2 profile `legacy`. The other v2 profile and v3 have the same range as HTTP
 * speech requests.
 */
export const LEGACY_VOLUME_RANGE = { minimum: 0, maximum: 10 } as const;

/**
 * Limits for WebSocket frames, both sent and received. foley defines these limits itself. Larger frames are refused.
 */
export const FRAME_LIMITS = {
  frameBytes: 4 * 1024 * 1024,
  binaryBytes: 4 * 1024 * 1024,
  stringBytes: 256 * 1024,
  arrayItems: 4_096,
  mapEntries: 256,
  /** Maximum nesting depth of the maps and arrays in a frame. */
  depth: 16,
} as const;
