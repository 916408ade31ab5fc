import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { Failure } from '../errors/failure.ts';

/** What polling needs to know of a job of any kind. */
export interface PolledJob {
  readonly id: string;
  /** The service's own word. */
  readonly status: string;
  readonly phase: JobPhase;
  /** The delay that the service named with this answer, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** How a poll is to be sent. */
export interface PollCall {
  readonly signal: AbortSignal | undefined;
  /** `undefined` leaves it to the client. */
  readonly maxRetries: number | undefined;
}

export interface PollDeps<Job extends PolledJob = PolledJob> {
  readonly clock: Clock;
  readonly random: Random;
  readonly pace: PollPace;
  readonly signal?: AbortSignal | undefined;
  /** When waiting ends although the job runs, on the monotonic clock, in milliseconds. */
  readonly deadlineAt?: number | undefined;
  /** How long jobs like it took, in milliseconds: it is not asked about before that. */
  readonly expectedMs?: number | undefined;
  /** Told of each answer. */
  readonly onState?: ((job: Job) => void) | undefined;
  /** Told of each poll that failed and does not fail the wait. */
  readonly onTrouble?: ((failure: Failure) => void) | undefined;
}

/** A job, with the state in which it was created where that has just happened. */
interface PollSubject<Job extends PolledJob> {
  readonly id: string;
  readonly known?: Job | undefined;
}

/**
 * Waits until a job of any kind has ended, well or not. Once the service has answered, only an answer
 * that says that the job is not there or not ours fails the wait; whatever else goes wrong is tried
 * again. Before that a service that cannot be reached fails it, after the usual retries.
 * @throws Failure: deadline when that is reached (the details name the job), else of the poll that
 *   failed; or the reason of the signal
 */
export async function pollJob<Job extends PolledJob>(
  subject: PollSubject<Job>,
  read: (call: PollCall) => Promise<Job>,
  deps: PollDeps<Job>,
): Promise<Job> {
  const { clock, deadlineAt, signal } = deps;
  const remainingMs = deadlineAt === undefined ? 0 : deadlineAt - clock.monotonic();
  // A deadline that has passed already leaves room for one look.
  if (deadlineAt === undefined || remainingMs <= 0) return poll(subject, read, deps, signal);
  const limit = new AbortController();
  const stop = clock.after(remainingMs, () => limit.abort(new DeadlineReached()));
  const either = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    return await poll(subject, read, deps, either);
  } finally {
    stop();
  }
}

/** Why a poll or a pause was cut short. */
class DeadlineReached extends Error {
  override readonly name = 'DeadlineReached';
}

async function poll<Job extends PolledJob>(
  { id, known }: PollSubject<Job>,
  read: (call: PollCall) => Promise<Job>,
  deps: PollDeps<Job>,
  signal: AbortSignal | undefined,
): Promise<Job> {
  const { clock } = deps;
  const start = clock.monotonic();
  let last = known;
  let failures = 0;
  let retryAfterMs = known?.retryAfterMs;
  try {
    for (let isFirst = true; ; isFirst = false) {
      if (last !== undefined && last.phase !== 'running') return last;
      if (last !== undefined || !isFirst) {
        const elapsedMs = clock.monotonic() - start;
        await pause(deps, { elapsedMs, retryAfterMs, failures, isFirst }, signal);
      }
      try {
        const hasAnswered = last !== undefined || failures > 0;
        last = await read({ signal, maxRetries: hasAnswered ? 0 : undefined });
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

interface Moment {
  readonly elapsedMs: number;
  readonly retryAfterMs: number | undefined;
  readonly failures: number;
  readonly isFirst: boolean;
}

async function pause<Job extends PolledJob>(
  { clock, deadlineAt, expectedMs, pace, random }: PollDeps<Job>,
  { isFirst, ...moment }: Moment,
  signal: AbortSignal | undefined,
): Promise<void> {
  const delayMs = pollDelay({ ...moment, expectedMs, pace, fraction: random.fraction() });
  const wantedMs = isFirst ? Math.max(delayMs, expectedMs ?? 0) : delayMs;
  const remainingMs = deadlineAt === undefined ? Infinity : deadlineAt - clock.monotonic();
  await clock.sleep(Math.max(0, Math.min(wantedMs, remainingMs)), signal);
  if (wantedMs > remainingMs) throw new DeadlineReached();
}

/** Gives the failure back when the wait goes on after it; else throws it. */
function transient(error: unknown, hasAnswered: boolean): Failure {
  if (!(error instanceof Failure)) throw error;
  const { exit, status = 0 } = error;
  const isBusy = exit === 'rateLimited' || (exit === 'service' && status !== 501) || status === 408;
  const isUnheard = exit === 'network' || exit === 'badAnswer';
  if (isBusy || (hasAnswered && isUnheard)) return error;
  throw error;
}

function deadlineFailure(id: string, last: PolledJob | undefined): Failure {
  const status = last?.status;
  const said = status === undefined ? 'nothing is known of it yet' : `its status is ${status}`;
  return new Failure(`the time is over and job ${id} still runs (${said})`, {
    code: 'deadline',
    exit: 'deadline',
    // It is charged for as soon as it is done, whether anybody waits or not.
    billed: 'yes',
    details: { jobId: id, ...(status === undefined ? {} : { status }) },
  });
}

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

/** Where a job is, whatever kind of job it is. */
type JobPhase = 'running' | 'success' | 'partial' | 'failed';

/** The words with which a job ends (docs/api/README.md). */
const ENDS: ReadonlyMap<string, JobPhase> = new Map([
  ...['success', 'completed', 'succeeded', 'done'].map((word) => [word, 'success'] as const),
  ...['fail', 'failed', 'error', 'cancelled', 'canceled', 'expired'].map(
    (word) => [word, 'failed'] as const,
  ),
  ['partial_fail', 'partial'] as const,
]);

/** What a job costs: a failed one is refunded (docs/api/jobs.md#states), though its fields may still show the price. */
export function jobCost(status: string, reported: number | undefined): number | undefined {
  return reported !== undefined && jobPhase(status) === 'failed' ? 0 : reported;
}

/** What a status of the service means; a word that nobody knows is one of a job that runs. */
export function jobPhase(status: string): JobPhase {
  return ENDS.get(status.trim().toLowerCase()) ?? 'running';
}
