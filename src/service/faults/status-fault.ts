import { CODE_OF_STATUS } from '../../contract/service-errors.ts';
import { ServiceError } from '../service-error.ts';
import type { FaultEffect } from './fault-rule.ts';

/** The error that a status rule answers with: the code of the service that stands for that status. */
export function statusFault({
  status,
  retryAfter,
}: Extract<FaultEffect, { kind: 'status' }>): ServiceError {
  const headers = retryAfter === undefined ? undefined : { 'Retry-After': String(retryAfter) };
  const message = `A fault rule of this service answers ${status}; nothing was done`;
  return new ServiceError(CODE_OF_STATUS[status], message, { headers });
}
