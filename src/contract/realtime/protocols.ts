/** What the two versions of realtime speech are called and where they are (docs/api/realtime.md). Paths are those of the realtime host. */
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

/** `legacy` is what a v2 `start` has that names none: strict. `product_v1` clamps, ignores and tells. */
export const PARAMETER_PROFILES = ['legacy', 'product_v1'] as const;

/** States of a reliable request (docs/api/realtime.md#request-states). */
export const REQUEST_STATES = [
  'running',
  'completed',
  'failed_retryable',
  'failed_terminal',
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** Why a session ends (docs/api/realtime.md#finish-reasons). */
export const FINISH_REASONS = ['completed', 'error', 'timeout', 'server_draining'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/**
 * A field is written once, as v3 has it (camelCase); v2 has the same in snake_case (docs/api/realtime.md).
 * The one name that does not follow the rule is here.
 */
const OTHER_NAMES_IN_V2: Readonly<Record<string, string>> = {
  modelId: 'model',
};
const FROM_V2: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OTHER_NAMES_IN_V2).map(([camel, other]) => [other, camel]),
);

/** Marks a name that v2 does not have, so that it is not taken for the field of v3 that is spelled like it. */
const FOREIGN = ':';

/** `voiceId` → `voice_id`: the name that v2 has for a field of v3. */
export function v2FieldName(name: string): string {
  if (name.startsWith(FOREIGN)) return name.slice(FOREIGN.length);
  if (Object.hasOwn(OTHER_NAMES_IN_V2, name)) return OTHER_NAMES_IN_V2[name] ?? name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The same value with other names of its fields, within maps and lists too; its depth is bounded by whoever read it. */
export function renameFields(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renameFields(item, rename));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [rename(name), renameFields(inner, rename)]),
  );
}

/**
 * `voice_id` → `voiceId`: the name that v3 has for a field of v2. Any other name, such as `voiceId` itself, is
 * no name of v3 afterwards; {@link v2FieldName} gives each back as it was.
 */
export function v3FieldName(name: string): string {
  const known = Object.hasOwn(FROM_V2, name) ? FROM_V2[name] : undefined;
  const found =
    known ?? name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return name.startsWith(FOREIGN) || v2FieldName(found) !== name ? `${FOREIGN}${name}` : found;
}
