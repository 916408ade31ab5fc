import type { Clock } from '../../system/clock.ts';
import type { Owner, Ownership } from '../operations/owner.ts';
import { forgetOwner, isAbandoned } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import { storageFullError } from '../service-error.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/open-store.ts';
import type { StoredJob, JobKind, Json } from './job-records.ts';
import { readJob } from './job-records.ts';
import type { JobEvent, JobState, Settlement } from './lifecycle.ts';
import { hasEnded, transition } from './lifecycle.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { SpeechLength } from '../../audio/encode/file-head.ts';
import { commit, commitPart, refund } from '../ledger/ledger.ts';
import type { Connection } from '../store/connection.ts';

/** The functions that perform one kind of job, such as speech or video jobs. */
export interface JobType {
  /**
   * Performs the next step of a job; called until the job has ended. If the returned promise rejects, the job fails and
   * is refunded. If it rejects after `signal` was aborted, another process continues the job instead.
   */
  work(job: StoredJob, signal: AbortSignal): Promise<JobStep>;
  /** Returns the failure message for clients; `undefined` for the default message of the endpoint. */
  describeFailure(error: unknown): string | undefined;
  /** Called when this process no longer works on a job, whether the job has ended or not. */
  leave?(jobId: string): Promise<void>;
  /** Called after a job has ended. Deletes the files that only the unfinished job needed. */
  cleanUp?(job: StoredJob): Promise<void>;
}

export type JobTypes = Readonly<Record<JobKind, JobType>>;

interface WorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ownership: Ownership;
  readonly types: JobTypes;
  readonly report: (event: ServiceEvent) => void;
}

/**
 * Claims a job and works on it until it ends. Stores the result of each step, so that another process can continue
 * after a crash.
 * @throws StoreError when a step cannot be stored; the job stays unchanged
 */
export async function workOnJob(deps: WorkDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const { ownership, report, types } = deps;
  let job = await record(deps, jobId, { event: { type: 'claimed' } });
  if (job !== undefined && hasEnded(job.status)) {
    const error = new Error(`Job ${jobId} failed: ${job.attempts} attempts did not finish`);
    report({ type: 'failure', requestId: jobId, error });
  }
  const type = job === undefined ? undefined : types[job.kind];
  try {
    while (job?.ownerId === ownership.owner.id) {
      job = await record(deps, jobId, await nextStep(deps, job, signal));
    }
  } finally {
    await type?.leave?.(jobId);
  }
  if (job !== undefined && hasEnded(job.status)) await type?.cleanUp?.(job);
}

async function nextStep(
  { report, types }: WorkDeps,
  job: StoredJob,
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

// Attempts to write to a database that another process has locked.
const WRITE_ATTEMPTS = 5;
const WRITE_RETRY_MS = 500;

async function record(
  { store, ownership, clock }: WorkDeps,
  jobId: string,
  step: JobStep,
): Promise<StoredJob | undefined> {
  const { owner } = ownership;
  for (let turn = 1; ; turn += 1) {
    try {
      return store.write((db) => advanceJob(db, { jobId, owner, now: clock.now(), ...step }));
    } catch (error) {
      const isLocked = error instanceof StoreError && error.reason === 'locked';
      if (!isLocked || turn === WRITE_ATTEMPTS) throw error;
      await clock.sleep(WRITE_RETRY_MS);
    }
  }
}

/** The result of one step of a job: an event that changes the state of the job, and values to store. */
export interface JobStep {
  readonly event: JobEvent;
  /** Duration of the segment that was spoken in this step. */
  readonly length?: SpeechLength | undefined;
  /** Why the job or its segment failed. */
  readonly errorMessage?: string | undefined;
  /** Error code of the failure. Default: the error code for this kind of job. */
  readonly errorCode?: ServiceErrorCode | undefined;
  readonly result?: Json | undefined;
  /** Writes additional rows in the transaction that stores this step. */
  readonly alongside?: ((db: Connection) => void) | undefined;
}

interface Advance extends JobStep {
  readonly jobId: string;
  readonly owner: Owner;
  readonly now: number;
}

/**
 * Applies an event to a job, in the caller's transaction. If the event ends the job, spends or refunds the reserved
 * credits.
 * @returns the updated job; `undefined` if nothing was changed, because the job is missing, another process owns the
 * job, or the state of the job does not allow the event
 */
export function advanceJob(db: Connection, advance: Advance): StoredJob | undefined {
  const { alongside, event, jobId, now, owner } = advance;
  const job = readJob(db, jobId);
  if (job === undefined) return undefined;
  const isOwner = job.ownerId === owner.id;
  if (!isOwner && (event.type !== 'claimed' || !isUnowned(db, job, owner))) return undefined;
  const { status, attempts, segments } = job;
  const state = { status, attempts, segments: segments.map((segment) => segment.status) };
  const next = transition(state, event);
  if (next === undefined) return undefined;
  writeState(db, advance, next.state);
  if (job.ownerId !== undefined && !isOwner) forgetOwner(db, job.ownerId);
  if (event.type === 'segment_finished') writeSegment(db, advance, event);
  alongside?.(db);
  settle(db, job, next.settlement, now);
  return readJob(db, jobId);
}

/** Returns whether a job is unfinished and has no living process as its owner. */
export function isUnowned(db: Connection, { status, ownerId }: StoredJob, owner: Owner): boolean {
  return !hasEnded(status) && isAbandoned(db, ownerId, owner);
}

// Writes both in one statement, because a constraint of the table relates status and result.
function writeState(
  db: Connection,
  { errorCode, errorMessage, event, jobId, now, owner, result }: Advance,
  { status, attempts }: JobState,
): void {
  const isEnd = hasEnded(status);
  const isKept = !isEnd && event.type !== 'released';
  if (isKept) owner.renew(db);
  db.run(
    `UPDATE job SET status = ?, attempts = ?, owner_id = ?, finished_at = ?, error_code = ?,
       error_message = coalesce(?, error_message), result_json = ?,
       progress = iif(? = 'done', 100, progress)
     WHERE id = ?`,
    [
      status,
      attempts,
      isKept ? owner.id : null,
      isEnd ? now : null,
      errorCode ?? null,
      errorMessage ?? null,
      result === undefined ? null : JSON.stringify(result),
      status,
      jobId,
    ],
  );
  if (!isEnd) return;
  db.run("UPDATE job_segment SET status = 'fail' WHERE job_id = ? AND status = 'pending'", [jobId]);
}

function writeSegment(
  db: Connection,
  { jobId, length }: Advance,
  { index, outcome }: Extract<JobEvent, { type: 'segment_finished' }>,
): void {
  db.run(
    `UPDATE job_segment SET status = ?, samples = ?, sample_rate = ?
     WHERE job_id = ? AND number = ?`,
    [outcome, length?.samples ?? null, length?.sampleRate ?? null, jobId, index],
  );
}

function settle(db: Connection, job: StoredJob, settlement: Settlement, now: number): void {
  if (settlement === 'none') return;
  const { id } = job;
  const spent = spentOn(job, settlement);
  const isSettled =
    settlement === 'commit'
      ? commit(db, id, now)
      : settlement === 'refund'
        ? refund(db, id, now)
        : commitPart(db, id, spent, now);
  if (!isSettled) throw new Error(`The charge of job ${id} was settled before the job ended`);
  db.run('UPDATE job SET credits = ? WHERE id = ?', [spent.credits, id]);
  if (settlement !== 'refund') return;
  db.run("UPDATE operation SET state = 'refunded' WHERE id = ?", [id]);
}

// The price without the share of the characters in failed segments.
function spentOn(job: StoredJob, settlement: Exclude<Settlement, 'none'>) {
  if (settlement === 'refund') return { credits: 0, quota: 0 };
  if (settlement === 'commit') return { credits: job.credits, quota: job.characters };
  const quota = job.segments
    .filter(({ status }) => status !== 'fail')
    .reduce((sum, { characters }) => sum + characters, 0);
  return { credits: Math.ceil((job.credits * quota) / job.characters), quota };
}
