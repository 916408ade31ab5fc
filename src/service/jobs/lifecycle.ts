import type { SegmentStatus } from '../../contract/jobs.ts';

/**
 * The lifecycle of a job of any kind (docs/api/jobs.md#states) as a pure state machine: the state after an event, and
 * the settlement of the charge.
 */

/** Stored statuses; each API maps them to its own names. Only speech is `partial`. */
export const JOB_STATUSES = ['pending', 'processing', 'done', 'partial', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export interface JobState {
  readonly status: JobStatus;
  /** How often a worker took the job and did not release it. */
  readonly attempts: number;
  /** Empty unless the job is of speech. */
  readonly segments: readonly SegmentStatus[];
}

export type JobEvent =
  /** A worker takes the job, for the first time or because the last owner is dead. */
  | { readonly type: 'claimed' }
  /** The owner releases the unfinished job, because its process ends. */
  | { readonly type: 'released' }
  | {
      readonly type: 'segment_finished';
      readonly index: number;
      readonly outcome: Exclude<SegmentStatus, 'pending'>;
    }
  /** The result is stored. A speech job without any speech has no result, and fails. */
  | { readonly type: 'finished' }
  /** The job cannot be done, such as on a full disk. */
  | { readonly type: 'failed' };

/** What happens to the reserved charge; `commit_part` refunds the segments that failed. */
export type Settlement = 'none' | 'commit' | 'commit_part' | 'refund';

export interface Transition {
  readonly state: JobState;
  readonly settlement: Settlement;
}

/**
 * A job fails after this many attempts, because it may crash its processes. The number is large, because most processes
 * just end, some of them often while the same job is the first in the queue.
 */
export const MAX_ATTEMPTS = 100;

/** Returns the state of a job that was just accepted. */
export function newJob(segmentCount: number): JobState {
  const segments = Array.from({ length: segmentCount }, () => 'pending' as const);
  return { status: 'pending', attempts: 0, segments };
}

/** Whether a job has ended. */
export function hasEnded(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'processing';
}

/** Returns the job after an event; `undefined` when its state does not allow the event. */
export function transition(state: JobState, event: JobEvent): Transition | undefined {
  const { status, attempts, segments } = state;
  if (hasEnded(status)) return undefined;
  switch (event.type) {
    case 'claimed':
      if (attempts >= MAX_ATTEMPTS) return end(state, 'failed');
      return proceed({ ...state, status: 'processing', attempts: attempts + 1 });
    case 'released': {
      const wasClaimed = status === 'processing';
      return proceed({ ...state, status: 'pending', attempts: attempts - (wasClaimed ? 1 : 0) });
    }
    case 'segment_finished':
      if (status !== 'processing' || segments[event.index] !== 'pending') return undefined;
      return proceed({ ...state, segments: segments.with(event.index, event.outcome) });
    case 'finished':
      if (status !== 'processing' || segments.includes('pending')) return undefined;
      if (segments.length > 0 && !segments.includes('success')) return end(state, 'failed');
      return end(state, segments.includes('fail') ? 'partial' : 'done');
    case 'failed':
      return end(state, 'failed');
  }
}

const SETTLEMENTS = { done: 'commit', partial: 'commit_part', failed: 'refund' } as const;

function end(state: JobState, status: keyof typeof SETTLEMENTS): Transition {
  return { state: { ...state, status }, settlement: SETTLEMENTS[status] };
}

function proceed(state: JobState): Transition {
  return { state, settlement: 'none' };
}
