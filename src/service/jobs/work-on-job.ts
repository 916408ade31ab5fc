import type { Clock } from '../../effects/clock.ts';
import type { Owner } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import { storageFullError } from '../service-error.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/open-store.ts';
import type { JobStep } from './advance-job.ts';
import { advanceJob } from './advance-job.ts';
import type { Job, JobKind } from './job-records.ts';
import { hasEnded } from './lifecycle.ts';

/** How jobs of one kind are done. */
export interface JobType {
  /**
   * Does the next part of a job, and is called again until the job has ended. An error ends the job, refunded; after
   * the signal is aborted it releases the job.
   */
  work(job: Job, signal: AbortSignal): Promise<JobStep>;
  /** Explains a failure to clients; `undefined` where the endpoint does. */
  describeFailure(error: unknown): string | undefined;
  /** Removes the files that an ended job needs no more. */
  cleanUp?(job: Job): Promise<void>;
}

export type JobTypes = Readonly<Record<JobKind, JobType>>;

interface WorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly types: JobTypes;
  readonly report: (event: ServiceEvent) => void;
}

/**
 * Claims a job and works on it until it ends. Each step is recorded at once, so that the next process continues after
 * the last one. Releases the job once the signal is aborted, and stops when another process owns it.
 * @throws StoreError when a step cannot be recorded; the job stays as it was before
 */
export async function workOnJob(deps: WorkDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const { owner, report, types } = deps;
  let job = await record(deps, jobId, { event: { type: 'claimed' } });
  if (job !== undefined && hasEnded(job.status)) {
    const error = new Error(`Job ${jobId} failed: ${job.attempts} attempts did not finish`);
    report({ type: 'failure', requestId: jobId, error });
  }
  while (job?.ownerId === owner.id) {
    job = await record(deps, jobId, await nextStep(deps, job, signal));
  }
  if (job !== undefined && hasEnded(job.status)) await types[job.kind].cleanUp?.(job);
}

/** Does the next step. Never rejects: a failure is a step too. */
async function nextStep(
  { report, types }: WorkDeps,
  job: Job,
  signal: AbortSignal,
): Promise<JobStep> {
  const type = types[job.kind];
  try {
    if (job.fault !== 'fail') return await type.work(job, signal);
    return { event: { type: 'failed' }, errorMessage: type.describeFailure(undefined) };
  } catch (error) {
    if (signal.aborted) return { event: { type: 'released' } };
    report({ type: 'failure', requestId: job.id, error });
    const full = storageFullError(error);
    const errorMessage = full?.message ?? type.describeFailure(error);
    return { event: { type: 'failed' }, errorMessage, errorCode: full?.code };
  }
}

/** How often and how long to wait for a locked database, on top of what the store waits. */
const WRITES = 5;
const WRITE_RETRY_MS = 500;

async function record(
  { store, owner, clock }: WorkDeps,
  jobId: string,
  step: JobStep,
): Promise<Job | undefined> {
  for (let turn = 1; ; turn += 1) {
    try {
      return store.write((db) => advanceJob(db, { jobId, owner, now: clock.now(), ...step }));
    } catch (error) {
      const isLocked = error instanceof StoreError && error.reason === 'locked';
      if (!isLocked || turn === WRITES) throw error;
      await clock.sleep(WRITE_RETRY_MS);
    }
  }
}
