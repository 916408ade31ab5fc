/** Names and paths of the two versions of realtime speech (docs/api/realtime.md). */
export const REALTIME_PROTOCOLS = {
  v2: {
    subprotocol: 'realtime.tts.msgpack.v2',
    livePath: '/v2/tts/live',
  },
  v3: {
    subprotocol: 'realtime.tts.msgpack.v3',
    livePath: '/v3/tts/live',
  },
} as const;
export type RealtimeProtocol = keyof typeof REALTIME_PROTOCOLS;

export const REALTIME_MODES = ['simple', 'reliable'] as const;
export type RealtimeMode = (typeof REALTIME_MODES)[number];

export const REALTIME_FORMATS = ['mp3', 'wav', 'opus', 'pcm'] as const;
export type RealtimeFormat = (typeof REALTIME_FORMATS)[number];

/**
 * Profiles of v2, which determine how invalid values are handled. `legacy` (default) refuses them; `product_v1` clamps
 * or ignores them with a warning.
 */
export const PARAMETER_PROFILES = ['legacy', 'product_v1'] as const;

/** States of a request in `reliable` mode (docs/api/realtime.md#request-states). */
export const REQUEST_STATES = [
  'running',
  'completed',
  'failed_retryable',
  'failed_terminal',
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** The reasons for which a session ends (docs/api/realtime.md#finish-reasons). */
export const FINISH_REASONS = ['completed', 'error', 'timeout', 'server_draining'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

const IRREGULAR_V2_NAMES: Readonly<Record<string, string>> = {
  modelId: 'model',
};
const FROM_V2: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(IRREGULAR_V2_NAMES).map(([camel, other]) => [other, camel]),
);

// Marks field names that v2 does not have: `voiceId` in a v2 message must not count as the v3 field `voiceId`.
const FOREIGN = ':';

/** Returns the v2 name of a v3 field: `voice_id` for `voiceId`. */
export function v2FieldName(name: string): string {
  if (name.startsWith(FOREIGN)) return name.slice(FOREIGN.length);
  if (Object.hasOwn(IRREGULAR_V2_NAMES, name)) return IRREGULAR_V2_NAMES[name] ?? name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Renames the fields of an object, and of all objects inside it. The caller must limit the nesting depth. */
export function renameFields(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renameFields(item, rename));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [rename(name), renameFields(inner, rename)]),
  );
}

/**
 * Returns the v3 name of a v2 field: `voiceId` for `voice_id`. A name that v2 cannot have, such as `voiceId`, gets a
 * prefix instead, so that the field stays unknown. {@link v2FieldName} removes the prefix.
 */
export function v3FieldName(name: string): string {
  const known = Object.hasOwn(FROM_V2, name) ? FROM_V2[name] : undefined;
  const found =
    known ?? name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return name.startsWith(FOREIGN) || v2FieldName(found) !== name ? `${FOREIGN}${name}` : found;
}
