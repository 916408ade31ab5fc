/** What a call of the interface may cost, and what makes it safe to send it again. */
export interface Charge {
  /** It may create something or use credits. */
  readonly billed: boolean;
  /** The header by which the service recognizes the same request; none where none is documented. */
  readonly recognizedBy: 'Idempotency-Key' | 'X-Request-Id' | undefined;
}

/** Creates that the service recognizes by `Idempotency-Key` (docs/api/README.md). */
const BY_IDEMPOTENCY_KEY = [
  /^\/api\/open\/v3\/speech\/tts(\/aligned|\/jobs)?$/,
  /^\/api\/open\/v1\/voice-designs(\/[^/]+\/voices)?$/,
  /^\/api\/open\/v1\/media\/(video-dubbing|images|videos)\/jobs$/,
];

/** There the request id is the key (docs/api/speech.md#v2, docs/api/speech.md#v1 and docs/api/versions.md). */
const BY_REQUEST_ID = [/^\/api\/open\/v[12]\/speech\/tts$/, /^\/api\/open\/v1\/speech\/tts\/jobs$/];

/** Writes that create nothing and cost nothing (docs/api/account.md, docs/api/realtime.md and docs/api/versions.md). */
const FREE = [
  /^\/api\/open\/v1\/profile$/,
  /^\/api\/open\/(list-models|delete-model)$/,
  /^\/v[23]\/tts\/browser-tickets$/,
];

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * What a call may cost. A write that the spec does not know may cost anything.
 * @param path without its query
 */
export function chargeOf(method: string, path: string): Charge {
  const isFree = READS.has(method) || method === 'DELETE' || fits(path, FREE);
  if (isFree) return { billed: false, recognizedBy: undefined };
  if (method !== 'POST') return { billed: true, recognizedBy: undefined };
  if (fits(path, BY_IDEMPOTENCY_KEY)) return { billed: true, recognizedBy: 'Idempotency-Key' };
  return { billed: true, recognizedBy: fits(path, BY_REQUEST_ID) ? 'X-Request-Id' : undefined };
}

function fits(path: string, patterns: readonly RegExp[]): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
