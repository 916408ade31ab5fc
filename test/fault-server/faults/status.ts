import { answer } from '../http-text.ts';
import type { HeaderLines } from '../http-text.ts';
import type { Step } from '../steps.ts';

/** Answers that say what is wrong by their status (docs/api/errors.md). */

export interface ErrorOptions {
  readonly code?: string;
  readonly message?: string;
  readonly requestId?: string;
  readonly details?: unknown;
  /** The value of `Retry-After` as it is sent. */
  readonly retryAfter?: string;
  readonly headers?: HeaderLines;
}

/** An error in the service's own envelope, `details` only when given. */
export function errorAnswer(status: number, options: ErrorOptions = {}): Step[] {
  const requestId = options.requestId ?? `r-${status}`;
  const body = {
    code: options.code ?? `ERR_${status}`,
    message: options.message ?? `The service says ${status}.`,
    requestId,
    ...(options.details === undefined ? {} : { details: options.details }),
  };
  const wait = options.retryAfter === undefined ? {} : { 'Retry-After': options.retryAfter };
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': requestId };
  return answer(status, { ...headers, ...wait, ...options.headers }, JSON.stringify(body));
}

/** An error of something in between, which knows no envelope. */
export function proxyError(status: number, headers: HeaderLines = {}): Step[] {
  const page = `<html><head><title>${status}</title></head><body>nginx</body></html>`;
  return answer(status, { 'Content-Type': 'text/html', ...headers }, page);
}

/** 429. */
export function rateLimited(retryAfter?: string): Step[] {
  return errorAnswer(429, { code: 'ERR_RATE_LIMITED', ...withWait(retryAfter) });
}

/** 503 of the service: the model is not available. */
export function unavailable(retryAfter?: string): Step[] {
  return errorAnswer(503, { code: 'ERR_MODEL_UNAVAILABLE', ...withWait(retryAfter) });
}

/**
 * 503 that names the hour at which to come again, so many seconds after the server's own clock,
 * which may be far from ours.
 */
export function unavailableUntil(seconds: number, serverClock: Date = new Date()): Step[] {
  const until = new Date(serverClock.getTime() + seconds * 1000);
  return errorAnswer(503, {
    code: 'ERR_MODEL_UNAVAILABLE',
    retryAfter: until.toUTCString(),
    headers: { Date: serverClock.toUTCString() },
  });
}

/** Values of `Retry-After` that mean nothing, or nothing good. */
export const BAD_RETRY_AFTER = {
  words: 'soon',
  empty: '',
  negative: '-5',
  fraction: '1.5',
  hexadecimal: '0x10',
  infinity: 'Infinity',
  past: 'Wed, 21 Oct 2015 07:28:00 GMT',
  year: '31536000',
  beyondIntegers: '99999999999999999999',
  badDate: 'Wed, 99 Foo 2015 07:28:00 GMT',
} as const;

/** 409: the same key is being worked on. */
export function requestInProgress(retryAfter?: string): Step[] {
  return errorAnswer(409, { code: 'ERR_REQUEST_IN_PROGRESS', ...withWait(retryAfter) });
}

/** 409: the key was answered before, and the answer is not sent again. */
export function requestAlreadyCompleted(): Step[] {
  return errorAnswer(409, { code: 'ERR_REQUEST_ALREADY_COMPLETED' });
}

/** 409: the key was refunded; a new one is needed. */
export function requestPreviouslyRefunded(): Step[] {
  return errorAnswer(409, { code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
}

/** 409: the key came with another body before. */
export function requestIdConflict(): Step[] {
  return errorAnswer(409, { code: 'ERR_REQUEST_ID_CONFLICT' });
}

/** An error of a media import, which says whether trying again can help (docs/api/errors.md). */
export function mediaImportFailed(status: 413 | 415 | 422 | 503 | 504, retryable: boolean): Step[] {
  return errorAnswer(status, {
    code: 'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT',
    details: { media_kind: 'video', stage: 'download', retryable },
  });
}

/** 407, as an answer to CONNECT or to a request in absolute form. */
export function proxyAuthenticationRequired(): Step[] {
  return proxyError(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' });
}

function withWait(retryAfter: string | undefined): ErrorOptions {
  return retryAfter === undefined ? {} : { retryAfter };
}
