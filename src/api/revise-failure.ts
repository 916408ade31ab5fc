import type { FailureOptions } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { Redactor } from './redact.ts';

/** The same failure with something told differently. */
export function reviseFailure(
  failure: Failure,
  changes: Partial<FailureOptions> & { readonly message?: string },
): Failure {
  const { code, exit, hint, billed, status, requestId, retryAfter, details, cause } = failure;
  return new Failure(changes.message ?? failure.message, {
    code,
    exit,
    hint,
    billed,
    status,
    requestId,
    retryAfter,
    details,
    cause,
    ...changes,
  });
}

/** The same failure without the secrets that a server may have put into what it said. */
export function redactFailure(failure: Failure, redactor: Redactor): Failure {
  const { details, hint } = failure;
  const clean = redactor.data(details);
  return reviseFailure(failure, {
    message: redactor.text(failure.message),
    hint: hint === undefined ? undefined : redactor.text(hint),
    code: redactor.text(failure.code),
    requestId: failure.requestId === undefined ? undefined : redactor.text(failure.requestId),
    details: isDetails(clean) ? clean : undefined,
  });
}

function isDetails(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
