import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { Failure } from '../errors/failure.ts';
import type { JobPhase } from './job-phase.ts';
import type { PollPace } from './poll-delay.ts';
import { pollDelay } from './poll-delay.ts';

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
export interface PollSubject<Job extends PolledJob> {
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
