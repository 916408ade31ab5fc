import { HEADERS } from '../../contract/headers.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import type { OperationRequest } from '../operations/claim.ts';
import { findByKey, isSameRequest } from '../operations/claim.ts';
import { invalidRequest } from '../service-error.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

/**
 * The idempotency key of a request that does nothing without one (spec section 4.6).
 * @throws ServiceError 400 when it is missing or not clean
 */
export function requireKeyOf(headers: Headers): string {
  const field = HEADERS.idempotencyKey;
  const key = idempotencyKeyOf(headers);
  if (key !== undefined) return key;
  throw invalidRequest([{ field, message: `${field} is missing; it is required here` }]);
}

/** The id of the operation that was completed for this very request before, if one was. */
export function wasCompleted(
  store: Store,
  request: Pick<OperationRequest, 'accountId' | 'endpoint' | 'idempotencyKey' | 'fingerprint'>,
): string | undefined {
  const earlier = store.read((db) => findByKey(db, request));
  const isDone = earlier !== undefined && text(earlier, 'state') === 'completed';
  return isDone && isSameRequest(earlier, request) ? text(earlier, 'id') : undefined;
}
