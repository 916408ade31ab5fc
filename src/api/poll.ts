import type { Clock } from '../system/clock.ts';
import type { Random } from '../system/random.ts';
import { Failure } from '../errors/failure.ts';
import { reviseFailure } from './failures.ts';

/** The fields of a job that polling needs. */
export interface PolledJob {
  readonly id: string;
  readonly status: string;
  readonly phase: JobPhase;
  /** The reserved credits of a running job, or the cost of an ended job; undefined if the service does not report it. */
  readonly creditsUsed: number | undefined;
  /** The `Retry-After` header of the response that reported this job status, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Options for one request that reads a job's status. */
export interface PollCall {
  readonly signal: AbortSignal | undefined;
  /** Maximum number of retries; default: the limit of the client. */
  readonly maxRetries: number | undefined;
}

export interface PollDeps<Job extends PolledJob = PolledJob> {
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: PollPace;
  readonly signal?: AbortSignal | undefined;
  /** When to stop waiting, in milliseconds of the monotonic clock. */
  readonly deadlineAt?: number | undefined;
  /** Expected duration of the job in milliseconds. The first poll is sent after this duration. */
  readonly expectedMs?: number | undefined;
  readonly onState?: ((job: Job) => void) | undefined;
  /** Called when a poll fails but polling continues. */
  readonly onTrouble?: ((failure: Failure) => void) | undefined;
}

/** Returns a function for `onTrouble` that prints the first failed poll. Polling continues. */
export function noticeTrouble(notice: (line: string) => void): (failure: Failure) => void {
  let isTold = false;
  return ({ message }) => {
    if (!isTold) notice(`foley: ${message}; retrying`);
    isTold = true;
  };
}

/**
 * Polls a job until the job has ended. Rate limits and 5xx responses do not end the polling, except for a full disk of
 * the service. Connection errors do not end it either, unless they occur before the first response. Fields that a poll does not report keep the value of the
 * response before, beginning with `subject.known`.
 * @throws Failure with the code `deadline` and the job id in `details`, if the deadline passes
 * @throws the Failure of a poll that must not be repeated
 * @throws the signal's abort reason
 */
export async function pollJob<Job extends PolledJob>(
  subject: { readonly id: string; readonly known?: Job | undefined },
  read: (call: PollCall) => Promise<Job>,
  deps: PollDeps<Job>,
): Promise<Job> {
  const { clock, deadlineAt, signal } = deps;
  const remainingMs = deadlineAt === undefined ? 0 : deadlineAt - clock.monotonic();
  // One poll is sent even if the deadline has already passed.
  if (remainingMs <= 0) return poll(subject, read, deps, signal);
  const limit = new AbortController();
  const stop = clock.after(remainingMs, () => limit.abort(new DeadlineReached()));
  const either = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  return poll(subject, read, deps, either).finally(stop);
}

// A service may report credits, quota and ignored parameters only when it creates the job (docs/api/jobs.md#v3).
function withEarlierFields<Job extends PolledJob>(state: Job, earlier: Job): Job {
  const { creditsUsed = jobCost(state.status, earlier.creditsUsed), retryAfterMs } = state;
  const reported = Object.entries(state).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(reported), creditsUsed, retryAfterMs };
}

class DeadlineReached extends Error {
  override readonly name = 'DeadlineReached';
}

async function poll<Job extends PolledJob>(
  { id, known }: { readonly id: string; readonly known?: Job | undefined },
  read: (call: PollCall) => Promise<Job>,
  deps: PollDeps<Job>,
  signal: AbortSignal | undefined,
): Promise<Job> {
  const { clock, expectedMs, pace, random } = deps;
  const start = clock.monotonic();
  let last = known;
  let failures = 0;
  let retryAfterMs = known?.retryAfterMs;
  try {
    for (let isFirst = true; ; isFirst = false) {
      if (last !== undefined && last.phase !== 'running') return last;
      if (last !== undefined || !isFirst) {
        const elapsedMs = clock.monotonic() - start;
        const fraction = random.fraction();
        const state = { elapsedMs, expectedMs, failures, fraction, pace, retryAfterMs };
        await pause(deps, pollDelay(state), isFirst, signal);
      }
      try {
        const hasAnswered = last !== undefined || failures > 0;
        const state = await read({ signal, maxRetries: hasAnswered ? 0 : undefined });
        last = last === undefined ? state : withEarlierFields(state, last);
        failures = 0;
        ({ retryAfterMs } = last);
        deps.onState?.(last);
      } catch (error) {
        const trouble = transient(error, last !== undefined || failures > 0);
        failures += 1;
        retryAfterMs = trouble.retryAfter === undefined ? undefined : trouble.retryAfter * 1_000;
        deps.onTrouble?.(trouble);
      }
    }
  } catch (error) {
    throw error instanceof DeadlineReached ? deadlineFailure(id, last) : error;
  }
}

async function pause<Job extends PolledJob>(
  { clock, deadlineAt, expectedMs }: PollDeps<Job>,
  delayMs: number,
  isFirst: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const wantedMs = isFirst ? Math.max(delayMs, expectedMs ?? 0) : delayMs;
  const remainingMs = deadlineAt === undefined ? Infinity : deadlineAt - clock.monotonic();
  await clock.sleep(Math.max(0, Math.min(wantedMs, remainingMs)), signal);
  if (wantedMs > remainingMs) throw new DeadlineReached();
}

function transient(error: unknown, hasAnswered: boolean): Failure {
  if (!(error instanceof Failure)) throw error;
  const { code, exit, status = 0 } = error;
  if (code === 'ERR_STORAGE_FULL') {
    const hint = 'Free up disk space there: the service then continues the job.';
    // The service bills the job when it ends.
    throw reviseFailure(error, { hint, billed: 'unknown' });
  }
  const isBusy = exit === 'rateLimited' || (exit === 'service' && status !== 501) || status === 408;
  const isUnheard = exit === 'network' || exit === 'badAnswer';
  if (isBusy || (hasAnswered && isUnheard)) return error;
  throw error;
}

function deadlineFailure(id: string, last: PolledJob | undefined): Failure {
  const status = last?.status;
  const lastStatus = status === undefined ? 'status not known yet' : `status: ${status}`;
  return new Failure(`timed out: job ${id} is still running (${lastStatus})`, {
    code: 'deadline',
    exit: 'deadline',
    // The service bills a job when it ends, even if no client waits for it.
    billed: 'yes',
    details: { jobId: id, ...(status === undefined ? {} : { status }) },
  });
}

/** The limits for the delays between polls. */
export interface PollPace {
  /** Minimum delay in milliseconds when the service sends no `Retry-After`. */
  readonly floorMs: number;
  /** Fixed delay between two polls, in milliseconds (`--poll-interval`). */
  readonly intervalMs?: number | undefined;
}

export interface PollState {
  /** Milliseconds since foley began to wait for the job. */
  readonly elapsedMs: number;
  /** Expected duration of the job in milliseconds, if known. */
  readonly expectedMs?: number | undefined;
  /** The `Retry-After` header of the last response, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly pace: PollPace;
  /** Number of consecutive failed polls. */
  readonly failures: number;
  /** Random number in [0, 1), for the jitter. */
  readonly fraction: number;
}

/** Minimum delay between two polls of a job. Jobs of v1 need a longer delay: 3 to 5 seconds (docs/api/limits.md). */
export const POLL_FLOOR_MS = 500;
export const POLL_FLOOR_V1_MS = 3_000;
export const POLL_CAP_MS = 10_000;

// The delay after `Retry-After: 0` is a share of the elapsed time, from `SOON_MS` to `SOON_CAP_MS`.
const SOON_MS = 10;
const SOON_CAP_MS = 2_000;
const SOON_SHARE = 0.2;
// After `Retry-After: 0`, the delay is at most this share of the expected duration, plus half of the time overdue.
const OVERDUE_SHARE = 0.05;
const OVERDUE_GROWTH = 0.5;

/**
 * Returns the delay before the next poll, in milliseconds: the longer of `Retry-After` and the fixed interval. If
 * neither is set, the delay is about a tenth of the elapsed time. Consecutive failed polls increase the delay
 * exponentially. Delays without a fixed interval include random jitter.
 */
export function pollDelay(question: PollState): number {
  const { failures, fraction, pace, retryAfterMs } = question;
  const usual = pace.intervalMs ?? ownDelay(question);
  const named = retryAfterMs ?? 0;
  // The minimum delay applies even if the service asks for a shorter one.
  const delay = retryAfterMs === undefined ? usual : Math.max(named, minimumDelay(question));
  if (failures === 0) return delay;
  const backoff = Math.min(POLL_CAP_MS, POLL_FLOOR_MS * 2 ** (failures - 1));
  return Math.max(delay, named + backoff * (0.5 + fraction / 2));
}

function ownDelay({ elapsedMs, fraction, pace: { floorMs } }: PollState): number {
  const tenth = elapsedMs * 0.1 * (0.8 + 0.4 * fraction);
  const least = floorMs * (1 + 0.2 * fraction);
  const most = Math.max(POLL_CAP_MS, floorMs) * (0.8 + 0.2 * fraction);
  return Math.max(least, Math.min(tenth, most));
}

function minimumDelay(question: PollState): number {
  const { fraction, pace, retryAfterMs = 0 } = question;
  if (pace.intervalMs !== undefined) return pace.intervalMs;
  const obliged = pace.floorMs > POLL_FLOOR_MS ? pace.floorMs : 0;
  if (retryAfterMs > 0) return Math.max(obliged, retryAfterMs * (1 + 0.1 * fraction));
  return Math.max(obliged, soonDelay(question) * (1 + 0.2 * fraction));
}

function soonDelay({ elapsedMs, expectedMs }: PollState): number {
  const soon = Math.min(SOON_CAP_MS, Math.max(SOON_MS, elapsedMs * SOON_SHARE));
  if (expectedMs === undefined) return soon;
  const overdueMs = Math.max(0, elapsedMs - expectedMs);
  return Math.min(soon, expectedMs * OVERDUE_SHARE + overdueMs * OVERDUE_GROWTH);
}

type JobPhase = 'running' | 'success' | 'partial' | 'failed';

const ENDS: ReadonlyMap<string, JobPhase> = new Map([
  ...['success', 'completed', 'succeeded', 'done'].map((word) => [word, 'success'] as const),
  ...['fail', 'failed', 'error', 'cancelled', 'canceled', 'expired'].map(
    (word) => [word, 'failed'] as const,
  ),
  ['partial_fail', 'partial'] as const,
]);

/** Returns the credits that a job cost: 0 for a failed job, which the service refunds (docs/api/jobs.md#states). */
export function jobCost(status: string, reported: number | undefined): number | undefined {
  return reported !== undefined && jobPhase(status) === 'failed' ? 0 : reported;
}

/** Returns the phase of a job from its status; unknown statuses count as running. */
export function jobPhase(status: string): JobPhase {
  return ENDS.get(status.trim().toLowerCase()) ?? 'running';
}
