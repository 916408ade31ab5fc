import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { SpeechLength } from '../engine/encode/mp3-file-head.ts';
import { commit, commitPart, refund } from '../ledger/ledger.ts';
import { noteFailure } from '../operations/operation.ts';
import type { Owner } from '../operations/owner.ts';
import { forgetOwner, isAbandoned } from '../operations/owner.ts';
import type { Connection } from '../store/connection.ts';
import type { WholeJob } from './job-records.ts';
import { readJob } from './job-records.ts';
import type { JobEvent, Settlement, Transition } from './lifecycle.ts';
import { isTerminal, transition } from './lifecycle.ts';

/** Something that happened to a job in this process. */
export interface Advance {
  readonly jobId: string;
  readonly owner: Owner;
  readonly now: number;
  readonly event: JobEvent;
  /** How long the speech is, when the event is a segment that was spoken. */
  readonly length?: SpeechLength | undefined;
  /** Why it or one of its segments failed, in the words of the engine. */
  readonly failure?: string | undefined;
  /** The code of its failure, where it is not the engine's. */
  readonly errorCode?: ServiceErrorCode | undefined;
}

/**
 * Writes down what happened to a job, and settles its money when that was its end, inside the caller's
 * transaction. Gives the job as it is then; `undefined`, with nothing done, when it has ended or is
 * somebody else's by now.
 */
export function advanceJob(db: Connection, advance: Advance): WholeJob | undefined {
  const { jobId, owner, event } = advance;
  const job = readJob(db, jobId);
  if (job === undefined || !mayAct(db, job, owner, event)) return undefined;
  const { status, attempts, segments } = job;
  const state = { status, attempts, segments: segments.map((segment) => segment.status) };
  const next = transition(state, event);
  if (next === undefined) return undefined;
  writeState(db, advance, next);
  if (job.ownerId !== undefined && job.ownerId !== owner.id) forgetOwner(db, job.ownerId);
  if (advance.failure !== undefined) noteFailure(db, jobId, advance.failure);
  if (event.type === 'segment_settled') writeSegment(db, advance, event);
  settle(db, job, next.settlement, advance.now);
  return readJob(db, jobId);
}

/** Nobody's jobs, and those of owners that are gone, may be claimed; everything else is the owner's. */
function mayAct(db: Connection, job: WholeJob, owner: Owner, event: JobEvent): boolean {
  return job.ownerId === owner.id || (event.type === 'claimed' && isUnowned(db, job, owner));
}

/** Whether nobody works on this job, or nobody who still can. */
export function isUnowned(
  db: Connection,
  { status, ownerId }: Pick<WholeJob, 'status' | 'ownerId'>,
  owner: Owner,
): boolean {
  return !isTerminal(status) && isAbandoned(db, ownerId, owner);
}

function writeState(
  db: Connection,
  { errorCode, event, jobId, now, owner }: Advance,
  next: Transition,
): void {
  const { status, attempts } = next.state;
  const hasEnded = isTerminal(status);
  const keeps = !hasEnded && event.type !== 'released';
  if (keeps) owner.renew(db);
  db.run(
    `UPDATE job SET status = ?, attempts = ?, owner_id = ?, finished_at = ?, error_code = ?
     WHERE id = ?`,
    [status, attempts, keeps ? owner.id : null, hasEnded ? now : null, errorCode ?? null, jobId],
  );
}

function writeSegment(
  db: Connection,
  { jobId, length }: Advance,
  { index, outcome }: Extract<JobEvent, { type: 'segment_settled' }>,
): void {
  db.run(
    `UPDATE job_segment SET status = ?, samples = ?, sample_rate = ?
     WHERE job_id = ? AND number = ?`,
    [outcome, length?.samples ?? null, length?.sampleRate ?? null, jobId, index],
  );
}

function settle(db: Connection, job: WholeJob, settlement: Settlement, now: number): void {
  if (settlement === 'none') return;
  if (!move(db, job, settlement, now)) {
    throw new Error(`the charge of job ${job.id} was settled before its end`);
  }
  const { credits } = settlement === 'commit' ? job : spentOn(job, settlement);
  db.run('UPDATE job SET credits = ? WHERE id = ?', [credits, job.id]);
  if (settlement !== 'refund') return;
  db.run("UPDATE operation SET state = 'refunded' WHERE id = ?", [job.id]);
}

function move(
  db: Connection,
  job: WholeJob,
  settlement: Exclude<Settlement, 'none'>,
  now: number,
): boolean {
  switch (settlement) {
    case 'commit':
      return commit(db, job.id, now);
    case 'commit_part':
      return commitPart(db, job.id, spentOn(job, settlement), now);
    case 'refund':
      return refund(db, job.id, now);
  }
}

/** The price of a job without the segments that failed: their share of it, rounded up. */
function spentOn(job: WholeJob, settlement: 'commit_part' | 'refund') {
  if (settlement === 'refund') return { credits: 0, quota: 0 };
  const quota = job.segments
    .filter(({ status }) => status !== 'fail')
    .reduce((sum, { characters }) => sum + characters, 0);
  return { credits: Math.ceil((job.credits * quota) / job.characters), quota };
}
