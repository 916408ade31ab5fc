import { isOpenAiPath } from '../../contract/error-body.ts';
import type { ErrorBody, OpenAiErrorBody } from '../../contract/error-body.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import { ServiceError, storageFullError } from '../service-error.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * Returns the response to an error: the flat body of the spec's section 7, without internals. Paths of
 * the OpenAI interface get the same fields once more where its clients read them.
 * @param path of the request, where it could be read
 */
export function errorResponse(error: unknown, requestId: string, path = ''): Response {
  const { code, message, details, headers } = asServiceError(error);
  const body: ErrorBody = {
    code,
    message,
    requestId,
    ...(details === undefined ? {} : { details }),
  };
  const whole = isOpenAiPath(path) ? withOpenAiError(body, SERVICE_ERRORS[code]) : body;
  return Response.json(whole, { status: SERVICE_ERRORS[code], headers });
}

function withOpenAiError(body: ErrorBody, status: number): OpenAiErrorBody {
  const { code, message, details } = body;
  const problems: unknown = details?.['errors'];
  const field: unknown = Array.isArray(problems) ? Object(problems[0]).field : undefined;
  const param = typeof field === 'string' && field !== 'body' ? field : null;
  const other = status >= 500 ? 'server_error' : 'invalid_request_error';
  const type = OPENAI_ERROR_TYPES[status] ?? other;
  return { ...body, error: { message, type, code, param } };
}

const OPENAI_ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Whether this program or its disk is to blame, so that whoever runs it should be told. */
export function isInternal(error: unknown): boolean {
  const status = SERVICE_ERRORS[asServiceError(error).code];
  return status === 500 || status === 507;
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError && error.reason === 'locked') {
    return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is busy; ask again', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  const full = storageFullError(error);
  if (full !== undefined) return full;
  return new ServiceError('ERR_INTERNAL', 'The service failed; the request id names the failure', {
    cause: error,
  });
}
