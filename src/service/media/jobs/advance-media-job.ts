import { commit, refund } from '../../ledger/ledger.ts';
import type { Owner } from '../../operations/owner.ts';
import { forgetOwner, isAbandoned } from '../../operations/owner.ts';
import type { Connection } from '../../store/connection.ts';
import { writeMediaFile } from '../media-files.ts';
import type { MediaTransition } from './lifecycle.ts';
import { hasEnded, transition } from './lifecycle.ts';
import type { Json, MediaJob, MediaJobError } from './media-job-records.ts';
import { readMediaJob } from './media-job-records.ts';

/** What was made of a job. */
export interface MediaResult {
  /** The file, in the folder of the job. */
  readonly name: string;
  readonly contentType: string;
  /** What else is told of it; the kind of job says what. */
  readonly facts: Json;
}

export type MediaStep =
  | { readonly event: 'claimed' | 'released' }
  | { readonly event: 'finished'; readonly result: MediaResult }
  | { readonly event: 'broken'; readonly error: MediaJobError };

export interface MediaAdvance {
  readonly jobId: string;
  readonly owner: Owner;
  readonly now: number;
  readonly step: MediaStep;
}

/**
 * Writes down what happened to a job, and settles its money when that was its end, inside the caller's
 * transaction. Gives the job as it is then; `undefined`, with nothing done, when it has ended or is
 * somebody else's by now.
 */
export function advanceMediaJob(db: Connection, advance: MediaAdvance): MediaJob | undefined {
  const { jobId, owner, step } = advance;
  const job = readMediaJob(db, jobId);
  if (job === undefined || !mayAct(db, job, advance)) return undefined;
  const next = transition(job, step.event);
  if (next === undefined) return undefined;
  writeState(db, advance, next);
  if (job.ownerId !== undefined && job.ownerId !== owner.id) forgetOwner(db, job.ownerId);
  writeFileOf(db, advance);
  settle(db, job, next.settlement, advance.now);
  return readMediaJob(db, jobId);
}

/** Nobody's jobs, and those of owners that are gone, may be claimed; everything else is the owner's. */
function mayAct(db: Connection, job: MediaJob, { owner, step }: MediaAdvance): boolean {
  if (job.ownerId === owner.id) return true;
  return step.event === 'claimed' && isAbandoned(db, job.ownerId, owner);
}

/** In one statement, since a job that has ended has either a result or an error. */
function writeState(
  db: Connection,
  { jobId, owner, now, step }: MediaAdvance,
  { state: { status, attempts } }: MediaTransition,
): void {
  const ended = hasEnded(status);
  const keeps = !ended && step.event !== 'released';
  if (keeps) owner.renew(db);
  const error = status === 'failed' ? errorOf(step) : undefined;
  db.run(
    `UPDATE media_job SET status = ?, attempts = ?, owner_id = ?, finished_at = ?, result = ?,
       error_code = ?, error_message = ?, progress = iif(? = 'completed', 100, progress)
     WHERE id = ?`,
    [
      status,
      attempts,
      keeps ? owner.id : null,
      ended ? now : null,
      step.event === 'finished' ? JSON.stringify(step.result.facts) : null,
      error?.code ?? null,
      error?.message ?? null,
      status,
      jobId,
    ],
  );
}

const GIVEN_UP: MediaJobError = {
  code: 'ERR_GENERATION_FAILED',
  message: 'The job was begun too often without an end; what it would have cost was refunded',
};

function errorOf(step: MediaStep): MediaJobError {
  return step.event === 'broken' ? step.error : GIVEN_UP;
}

function writeFileOf(db: Connection, { jobId, step }: MediaAdvance): void {
  if (step.event !== 'finished') return;
  const { contentType, name } = step.result;
  writeMediaFile(db, { id: jobId, folder: jobId, name, contentType });
}

function settle(
  db: Connection,
  { id }: MediaJob,
  settlement: MediaTransition['settlement'],
  now: number,
): void {
  if (settlement === 'none') return;
  const isSettled = settlement === 'commit' ? commit(db, id, now) : refund(db, id, now);
  if (!isSettled) throw new Error(`the charge of job ${id} was settled before its end`);
  if (settlement === 'commit') return;
  db.run('UPDATE media_job SET credits = 0 WHERE id = ?', [id]);
  db.run("UPDATE operation SET state = 'refunded' WHERE id = ?", [id]);
}
