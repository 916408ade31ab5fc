import { HEADERS } from '../../contract/headers.ts';
import type { Random } from '../../effects/random.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** The trace id of a request: the client's where it can be echoed safely, else a new one (spec 4.1). */
export function requestIdOf(headers: Headers, random: Random): string {
  const given = headers.get(HEADERS.requestId);
  return given !== null && VISIBLE_ASCII.test(given) ? given : random.uuid();
}
