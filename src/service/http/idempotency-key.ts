import { HEADERS } from '../../contract/headers.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { invalidRequest } from '../service-error.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The idempotency key of a request, if it has one (spec sections 4.1 and 8).
 * @throws ServiceError 400 when it is too long or holds anything but visible ASCII
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  return keyIn(headers, HEADERS.idempotencyKey);
}

/**
 * The idempotency key of a request that does nothing without one (spec sections 4.6 and 4.8).
 * @throws ServiceError 400 when it is missing, too long or holds anything but visible ASCII
 */
export function requireIdempotencyKey(headers: Headers): string {
  const key = idempotencyKeyOf(headers);
  if (key !== undefined) return key;
  const field = HEADERS.idempotencyKey;
  throw invalidRequest([{ field, message: `${field} is missing; it is required` }]);
}

/**
 * The key of a request of v1 or v2, where the request id is the key (spec sections 4.2, 4.3 and 9). A
 * client that sends the header of v3 as well means that one.
 * @throws ServiceError 400 when it is too long or holds anything but visible ASCII
 */
export function requestKeyOf(headers: Headers): string | undefined {
  return keyIn(headers, HEADERS.idempotencyKey) ?? keyIn(headers, HEADERS.requestId);
}

function keyIn(headers: Headers, field: string): string | undefined {
  const key = headers.get(field);
  if (key === null) return undefined;
  if (key.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS && VISIBLE_ASCII.test(key)) return key;
  const allowed = `1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters`;
  const given = VISIBLE_ASCII.test(key) ? `has ${key.length} characters` : 'is not clean';
  throw invalidRequest([{ field, message: `${field} ${given}; allowed are ${allowed}` }]);
}
