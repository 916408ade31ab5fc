/** How eagerly a service may be asked about its jobs. */
export interface PollPace {
  /** The shortest delay, in milliseconds, where the service names none. */
  readonly floorMs: number;
  /** Instead of a delay that grows (`--poll-interval`), in milliseconds. */
  readonly intervalMs?: number | undefined;
}

export interface PollQuestion {
  /** How long the job has been waited for, in milliseconds. */
  readonly elapsedMs: number;
  /** How long it was expected to take, if anything was known of that, in milliseconds. */
  readonly expectedMs?: number | undefined;
  /** The delay that the service named last, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly pace: PollPace;
  /** How many polls in a row had no answer that tells of the job. */
  readonly failures: number;
  /** Chance, in [0, 1). */
  readonly fraction: number;
}

/** Spec section 8 asks for 3 to 5 seconds with backoff in v1; elsewhere it names nothing. */
export const POLL_FLOOR_MS = 500;
export const POLL_FLOOR_V1_MS = 3_000;
export const POLL_CAP_MS = 10_000;

/** A service that names no delay at all wants to be asked at once: this soon, growing with the wait. */
const SOON_MS = 10;
const SOON_SHARE = 0.2;
/** What was expected to be done by now will be very soon: so much of that time later, and of what it is over it. */
const OVERDUE_SHARE = 0.05;
const OVERDUE_GROWTH = 0.5;
/** What still takes long is not asked about more often than this, whatever the service named. */
const SOON_CAP_MS = 2_000;

/**
 * How long to wait before a job is asked about again, in milliseconds. Never less than the service
 * named, and never more than twice that. Where it names nothing: a tenth of the time that has
 * passed, so that polling adds little to what the job takes by itself. Chance spreads those who
 * wait for the same service.
 */
export function pollDelay(question: PollQuestion): number {
  const { failures, fraction, pace, retryAfterMs } = question;
  const usual = pace.intervalMs ?? ownDelay(question);
  const named = retryAfterMs ?? 0;
  // Never under the floor, also when it names less; beyond that its word alone counts.
  const delay = retryAfterMs === undefined ? usual : Math.max(named, leastBeside(question));
  if (failures === 0) return delay;
  const backoff = Math.min(POLL_CAP_MS, POLL_FLOOR_MS * 2 ** (failures - 1));
  return Math.max(delay, named + backoff * (0.5 + fraction / 2));
}

function ownDelay({ elapsedMs, fraction, pace: { floorMs } }: PollQuestion): number {
  const tenth = elapsedMs * 0.1 * (0.8 + 0.4 * fraction);
  const least = floorMs * (1 + 0.2 * fraction);
  const most = Math.max(POLL_CAP_MS, floorMs) * (0.8 + 0.2 * fraction);
  return Math.max(least, Math.min(tenth, most));
}

/** What is waited at least when the service names a delay, and a little more than it names. */
function leastBeside(question: PollQuestion): number {
  const { fraction, pace, retryAfterMs = 0 } = question;
  if (pace.intervalMs !== undefined) return pace.intervalMs;
  const obliged = pace.floorMs > POLL_FLOOR_MS ? pace.floorMs : 0;
  if (retryAfterMs > 0) return Math.max(obliged, retryAfterMs * (1 + 0.1 * fraction));
  return Math.max(obliged, soonDelay(question) * (1 + 0.2 * fraction));
}

/** Where the service names no delay at all. */
function soonDelay({ elapsedMs, expectedMs }: PollQuestion): number {
  const soon = Math.min(SOON_CAP_MS, Math.max(SOON_MS, elapsedMs * SOON_SHARE));
  if (expectedMs === undefined) return soon;
  const overdueMs = Math.max(0, elapsedMs - expectedMs);
  return Math.min(soon, expectedMs * OVERDUE_SHARE + overdueMs * OVERDUE_GROWTH);
}
