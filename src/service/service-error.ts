import type { ServiceErrorCode } from '../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../contract/service-errors.ts';
import { hasErrno } from '../durable/file-failures.ts';
import type { ErrorBody, OpenAiErrorBody } from '../contract/error-body.ts';
import { isOpenAiPath } from '../contract/error-body.ts';
import { StoreError } from './store/open-store.ts';

export interface ServiceErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Headers of the response, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** An error response (docs/api/errors.md). The error code determines the HTTP status. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ServiceErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

export interface FieldProblem {
  /** Name of the invalid field, query parameter or header. */
  readonly field: string;
  /** The error message, with the given value and the allowed values. */
  readonly message: string;
}

const LISTED_PROBLEMS_MAX = 20;

/** Returns the 400 error for invalid fields. The message states the first problem; `details.errors` lists up to 20. */
export function invalidRequest(problems: readonly [FieldProblem, ...FieldProblem[]]): ServiceError {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return new ServiceError('ERR_INVALID_REQUEST', `${first.message}${more}`, {
    details: { errors: problems.slice(0, LISTED_PROBLEMS_MAX) },
  });
}

/** Returns the message for speech that failed and was refunded. @param why the engine's error message */
export function speechFailureMessage(why: string | undefined): string {
  const reason = why === undefined ? '; the' : `: ${why}. The`;
  return `The speech could not be made${reason} charge was refunded`;
}

/** Returns the 507 error if `error` was caused by a full disk or disk quota; otherwise `undefined`. */
export function storageFullError(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!hasErrno(error, 'ENOSPC', 'EDQUOT', 'SQLITE_FULL')) return storageFullError(error.cause);
  const message =
    'The disk of the service is full; nothing was charged. Make room in its data folder';
  return new ServiceError('ERR_STORAGE_FULL', message, {
    details: { retryable: false },
    cause: error,
  });
}

/** Returns the 503 error for requests that arrive while the service closes. */
export function closingError(): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', {
    headers: { 'Retry-After': '1', Connection: 'close' },
  });
}

/**
 * Returns the response to an error, without internal details (docs/api/errors.md). For paths of the OpenAI interface,
 * the body also has OpenAI's error fields.
 * @param path path of the request, if known
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

/** Returns whether an error must be reported to the operator, because the service or its disk failed. */
export function isInternal(error: unknown): boolean {
  const status = SERVICE_ERRORS[asServiceError(error).code];
  return status === 500 || status === 507;
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError && error.reason === 'locked') {
    return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is busy; retry later', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  const full = storageFullError(error);
  if (full !== undefined) return full;
  return new ServiceError('ERR_INTERNAL', 'The service failed; its log has the cause', {
    cause: error,
  });
}
