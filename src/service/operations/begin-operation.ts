import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { Amounts } from '../ledger/ledger.ts';
import { ServiceError } from '../service-error.ts';
import type { OperationRequest, Refusal, UsedKey } from './claim.ts';
import type { Operation } from './operation.ts';
import type { Operations } from './operations.ts';

/** Seconds after which a request that runs may be asked about again. */
const IN_PROGRESS_RETRY_AFTER = '1';

/**
 * Begins a paid request, or says why not (docs/api/errors.md#idempotency).
 * @throws ServiceError 402 when there is too little, 409 when the key was used before
 */
export function beginOperation(operations: Operations, request: OperationRequest): Operation {
  const begun = operations.begin(request);
  if (begun.kind === 'begun') return begun.operation;
  throw refusalError(begun, request);
}

/** Describes why a request was not charged (docs/api/errors.md#idempotency). */
export function refusalError(
  refusal: Refusal,
  { charge }: Pick<OperationRequest, 'charge'>,
): ServiceError {
  return refusal.kind === 'insufficient'
    ? insufficient(charge, refusal.available)
    : usedBefore(refusal);
}

const USED_BEFORE: Readonly<Record<UsedKey['kind'], readonly [ServiceErrorCode, string]>> = {
  conflict: [
    'ERR_REQUEST_ID_CONFLICT',
    'This idempotency key was used for another request; use a new one',
  ],
  in_progress: ['ERR_REQUEST_IN_PROGRESS', 'The request with this key still runs'],
  completed: [
    'ERR_REQUEST_ALREADY_COMPLETED',
    'The request with this key is complete and its result is not stored; nothing was charged again',
  ],
  refunded: [
    'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    'The request with this key failed and was refunded; use a new key',
  ],
};

/** Why a key that was used before cannot be used again (docs/api/errors.md#idempotency). */
export function usedBefore({ failure, kind }: UsedKey): ServiceError {
  const [code, message] = USED_BEFORE[kind];
  const headers = kind === 'in_progress' ? { 'Retry-After': IN_PROGRESS_RETRY_AFTER } : undefined;
  if (failure === undefined) return new ServiceError(code, message, { headers });
  return new ServiceError(code, `${message}. ${failure}`, { headers, details: { failure } });
}

/** 402 with what is needed and what there is. */
export function insufficient(needed: Amounts, available: Amounts): ServiceError {
  const unit = available.credits < needed.credits ? 'credits' : 'quota';
  return new ServiceError(
    'ERR_INSUFFICIENT_CREDITS',
    `The request needs ${needed[unit]} ${unit}; the account has ${available[unit]}`,
    { details: { needed, available } },
  );
}
