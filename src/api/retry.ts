/**
 * Whether foley may repeat a request that the service might have received. With `safe`, repeating the request has no
 * further effect (reads and idempotent writes). With `keyed`, the service recognizes a repeated request by its
 * idempotency key. With `never`, a repeated request could be billed twice or create a second resource.
 */
export type RetryRule = 'safe' | 'keyed' | 'never';

/** The outcome of an attempt to send a request. The retry decision depends on it. */
export type AttemptOutcome =
  /** The service certainly did not receive the whole request. */
  | {
      readonly kind: 'unsent';
      readonly permanent: boolean;
      /** True if foley retries this failure only once. An example is an unknown host name. */
      readonly once?: boolean | undefined;
    }
  /** The whole request was sent, but no response arrived. */
  | { readonly kind: 'unanswered' }
  /** The response cannot be used: it is incomplete, not HTTP, or a redirect that must not be followed. */
  | { readonly kind: 'unusable' }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** The error code in the response. */
      readonly code?: string | undefined;
      /** The field `details.retryable` in the response body. */
      readonly retryable?: boolean | undefined;
      readonly retryAfterMs?: number | undefined;
    };

export interface RetryQuestion {
  readonly outcome: AttemptOutcome;
  /** Number of attempts to send the request so far, including the failed one. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly rule: RetryRule;
  readonly keyMadeByTool: boolean;
  /** Whether foley has already replaced the idempotency key once. */
  readonly keyRenewed: boolean;
  /** After a 503 response: whether the service still lists the model as available; undefined if unknown. */
  readonly modelAvailable?: boolean | undefined;
  /** Random number in [0, 1), for the jitter. */
  readonly fraction: number;
}

type RetryDecision =
  | { readonly retry: false }
  | { readonly retry: true; readonly delayMs: number; readonly newKey: boolean };

/** Maximum `Retry-After` delay. If the service asks for a longer delay, foley reports the error instead of retrying. */
export const LONGEST_RETRY_AFTER_MS = 120_000;
export const BACKOFF_BASE_MS = 500;
export const BACKOFF_CAP_MS = 20_000;

const STOP: RetryDecision = { retry: false };

/**
 * Decides whether and when to send a failed request again. The delay is `Retry-After` plus a random share of an
 * exponential backoff (0.5 s, doubling up to 20 s). If the service is still processing an earlier attempt, the delay is
 * longer. A refunded request is sent once more under a new key, also after the last retry.
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { outcome, attempt, maxRetries, rule } = question;
  // A new key is not a further attempt of the refunded request.
  if (attempt > maxRetries && !isRenewable(question)) return STOP;
  if (outcome.kind === 'status') return decideStatus(question, outcome);
  const again =
    outcome.kind === 'unsent'
      ? !outcome.permanent && (outcome.once !== true || attempt === 1)
      : outcome.kind === 'unanswered' && rule !== 'never';
  return again ? after(question, 0) : STOP;
}

type StatusOutcome = Extract<AttemptOutcome, { kind: 'status' }>;

function decideStatus(question: RetryQuestion, outcome: StatusOutcome): RetryDecision {
  const { status, code, retryable, retryAfterMs = 0 } = outcome;
  if (retryable === false || retryAfterMs > LONGEST_RETRY_AFTER_MS) return STOP;
  if (status === 409) return decideConflict(question, code, retryAfterMs);
  if (status === 503 && question.modelAvailable === false) return STOP;
  return allowed(question.rule, outcome) ? after(question, retryAfterMs) : STOP;
}

// 429 and 425 always allow a retry, because the service has not processed the request.
function allowed(rule: RetryRule, { status, retryable }: StatusOutcome): boolean {
  if (status === 429 || status === 425) return true;
  if (rule === 'never') return status >= 500 && retryable === true;
  return status === 408 || (status >= 500 && !PERMANENT_5XX.has(status));
}

// Not implemented, version not supported, network login required.
const PERMANENT_5XX = new Set([501, 505, 511]);

function decideConflict(
  question: RetryQuestion,
  code: string | undefined,
  retryAfterMs: number,
): RetryDecision {
  if (code === 'ERR_REQUEST_IN_PROGRESS') {
    const step = backoff(question.attempt, 2 * BACKOFF_BASE_MS);
    const wait = step / 2 + (step / 2) * question.fraction;
    return { retry: true, delayMs: Math.max(retryAfterMs, wait), newKey: false };
  }
  return isRenewable(question) ? { ...after(question, retryAfterMs), newKey: true } : STOP;
}

function isRenewable({ keyMadeByTool, keyRenewed, outcome, rule }: RetryQuestion): boolean {
  const isRefunded =
    outcome.kind === 'status' &&
    outcome.status === 409 &&
    outcome.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED';
  return isRefunded && keyMadeByTool && !keyRenewed && rule === 'keyed';
}

function after(question: RetryQuestion, retryAfterMs: number) {
  const jitter = backoff(question.attempt, BACKOFF_BASE_MS) * question.fraction;
  return { retry: true, delayMs: retryAfterMs + jitter, newKey: false } as const;
}

/**
 * Returns the maximum delay before the next attempt, in milliseconds: `baseMs`, doubled after each attempt, up to 20 s.
 */
export function backoff(attempt: number, baseMs: number): number {
  return Math.min(BACKOFF_CAP_MS, baseMs * 2 ** (attempt - 1));
}

const MOST_SECONDS = 10 * 365 * 24 * 3_600;

/**
 * Converts a `Retry-After` header (seconds or an HTTP date) to milliseconds. Returns 0 for a past date, and undefined
 * for an invalid value. A date is compared with the `Date` header of the response, because the local clock may be
 * wrong.
 * @param now current time in milliseconds since the Unix epoch, used if the response has no `Date` header
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const given = retryAfter.trim();
  if (/^\d+(\.\d+)?$/.test(given)) return Math.min(Number(given), MOST_SECONDS) * 1_000;
  const until = parseHttpDate(given);
  if (until === undefined) return undefined;
  const from = (date === undefined ? undefined : parseHttpDate(date.trim())) ?? now;
  return Math.min(Math.max(until - from, 0), MOST_SECONDS * 1_000);
}

// The preferred date format of RFC 9110 and the two obsolete ones, all in GMT.
const HTTP_DATES = [
  /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined;
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
