import type { ErrorBody } from '../../contract/schemas/error.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import { ServiceError } from '../service-error.ts';
import { StoreError } from '../store/store-error.ts';

/** The answer to an error, in the flat body of the spec's section 7; internals stay inside. */
export function errorResponse(error: unknown, requestId: string): Response {
  const { code, message, details, headers } = asServiceError(error);
  const body: ErrorBody = {
    code,
    message,
    requestId,
    ...(details === undefined ? {} : { details }),
  };
  return Response.json(body, { status: SERVICE_ERRORS[code], headers });
}

/** Whether this program is to blame, so that whoever runs it should be told. */
export function isInternal(error: unknown): boolean {
  return SERVICE_ERRORS[asServiceError(error).code] === 500;
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError && error.reason === 'locked') {
    return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is busy; ask again', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  return new ServiceError('ERR_INTERNAL', 'The service failed; the request id names the failure', {
    cause: error,
  });
}
