/**
 * What may be done after a request may have reached the service.
 *
 * - `safe`: asking again changes nothing (reads, and writes that say the same twice).
 * - `keyed`: the service recognizes a repetition by its key.
 * - `never`: nothing protects from a second charge or a second resource.
 */
export type RetryRule = 'safe' | 'keyed' | 'never';

/** How an attempt ended, as far as it matters for the next one. */
export type AttemptOutcome =
  /** It is certain that the service never had the whole request. */
  | {
      readonly kind: 'unsent';
      readonly permanent: boolean;
      /** More than once more would not help: a name that nobody knows. */
      readonly once?: boolean | undefined;
    }
  /** Sent, and no answer began. */
  | { readonly kind: 'unanswered' }
  /** An answer began and cannot be used: cut, not HTTP, redirected where it may not go. */
  | { readonly kind: 'unusable' }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** The service's error code. */
      readonly code?: string | undefined;
      /** The service's own word on it (`details.retryable`). */
      readonly retryable?: boolean | undefined;
      readonly retryAfterMs?: number | undefined;
    };

export interface RetryQuestion {
  readonly outcome: AttemptOutcome;
  /** Attempts made so far, from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly rule: RetryRule;
  readonly keyMadeByTool: boolean;
  /** A new key was taken before; that happens once. */
  readonly keyRenewed: boolean;
  /** For a 503 of a speech request, what a fresh capability record says; unknown elsewhere. */
  readonly modelAvailable?: boolean | undefined;
  /** Chance, in [0, 1). */
  readonly fraction: number;
}

type RetryDecision =
  | { readonly retry: false }
  | { readonly retry: true; readonly delayMs: number; readonly newKey: boolean };

/** A longer `Retry-After` is told to the user instead of waited for. */
export const LONGEST_RETRY_AFTER_MS = 120_000;
export const BACKOFF_BASE_MS = 500;
export const BACKOFF_CAP_MS = 20_000;

const STOP: RetryDecision = { retry: false };

/**
 * Whether, when and how to ask again. The delay is what the service asked for plus full jitter over
 * an exponential backoff (0.5 s doubling to 20 s); an unfinished earlier request is given a second
 * and more to finish.
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { outcome, attempt, maxRetries, rule } = question;
  if (attempt > maxRetries) return STOP;
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

/** A 429 did nothing; of the rest only the service's own word makes a repetition safe without a key. */
function allowed(rule: RetryRule, { status, retryable }: StatusOutcome): boolean {
  if (status === 429 || status === 425) return true;
  if (rule === 'never') return status >= 500 && retryable === true;
  return status === 408 || (status >= 500 && !PERMANENT_5XX.has(status));
}

/** Not implemented, version not supported, and a network that wants a login first. */
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
  const renewable = question.keyMadeByTool && !question.keyRenewed && question.rule === 'keyed';
  if (code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED' && renewable) {
    return { ...after(question, retryAfterMs), newKey: true };
  }
  return STOP;
}

function after(question: RetryQuestion, retryAfterMs: number) {
  const jitter = backoff(question.attempt, BACKOFF_BASE_MS) * question.fraction;
  return { retry: true, delayMs: retryAfterMs + jitter, newKey: false } as const;
}

/** The longest wait before the next attempt, in milliseconds. */
export function backoff(attempt: number, baseMs: number): number {
  return Math.min(BACKOFF_CAP_MS, baseMs * 2 ** (attempt - 1));
}

/** No honest service asks for more; beyond it dates stop making sense. */
const MOST_SECONDS = 10 * 365 * 24 * 3_600;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds, or an HTTP date, which is
 * taken against the answer's own `Date` so that a wrong clock here does no harm. What has passed is
 * 0; what is neither form is `undefined`.
 * @param now milliseconds since the epoch, for an answer without `Date`
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

/** The preferred form of RFC 9110 and the two old ones; all of them are in GMT. */
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
