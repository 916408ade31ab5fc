import type { ServiceErrorCode } from '../contract/service-errors.ts';
import { hasErrno } from '../durable/file-failures.ts';

export interface ServiceErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Headers of the answer, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** An answer of the service that is an error of the spec's section 7; its code gives the status. */
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

/** One field of a request that is wrong. */
export interface FieldProblem {
  /** Name of the field, query parameter or header. */
  readonly field: string;
  /** What was given and what is allowed. */
  readonly message: string;
}

const LISTED_PROBLEMS_MAX = 20;

/**
 * Returns a 400 for a request that can never succeed as it is. The message is that of the first problem
 * with the number of the others, of which `details.errors` lists the first.
 */
export function invalidRequest(problems: readonly [FieldProblem, ...FieldProblem[]]): ServiceError {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return new ServiceError('ERR_INVALID_REQUEST', `${first.message}${more}`, {
    details: { errors: problems.slice(0, LISTED_PROBLEMS_MAX) },
  });
}

/** Says that speech failed and was refunded. @param why the engine's own message, where there is one */
export function speechFailureMessage(why: string | undefined): string {
  const reason = why === undefined ? '; what' : `: ${why}. What`;
  return `The speech could not be made${reason} it would have cost was refunded`;
}

/** Returns a 507 where the disk or quota of the data folder is used up, whatever is wrapped around the system's error. */
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

/** 503 for what comes when the service closes; whoever takes its place can be asked soon. */
export function closingError(): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', {
    headers: { 'Retry-After': '1', Connection: 'close' },
  });
}
