import type { SegmentStatus } from '../../contract/jobs.ts';

// The lifecycle of a job as a pure state machine: computes the next state and what happens to the charge
// (docs/api/jobs.md#states).

/**
 * The job statuses in the database. API responses use other names for some statuses. Only speech jobs can be `partial`.
 */
export const JOB_STATUSES = ['pending', 'processing', 'done', 'partial', 'failed'] as const;
export type StoredStatus = (typeof JOB_STATUSES)[number];

export interface JobState {
  readonly status: StoredStatus;
  /**
   * Number of times that a worker started the job. A start is not counted if the worker stopped because the service was
   * closing.
   */
  readonly attempts: number;
  /** Statuses of the segments of a speech job; empty for other jobs. */
  readonly segments: readonly SegmentStatus[];
}

export type JobEvent =
  /** A worker starts a new job, or continues the job of a dead process. */
  | { readonly type: 'claimed' }
  /** The worker stops because its process is ending. Another process will continue the job. */
  | { readonly type: 'released' }
  | {
      readonly type: 'segment_finished';
      readonly index: number;
      readonly outcome: Exclude<SegmentStatus, 'pending'>;
    }
  /** The worker has stored all results. A speech job becomes `failed` if none of its segments was spoken. */
  | { readonly type: 'finished' }
  | { readonly type: 'failed' };

/** What happens to a job's reserved credits. `commit_part` charges for the spoken segments and refunds the rest. */
export type Settlement = 'none' | 'commit' | 'commit_part' | 'refund';

export interface Transition {
  readonly state: JobState;
  readonly settlement: Settlement;
}

/**
 * Maximum number of times that a job is started. Without a limit, a job that crashes the service would be restarted
 * forever. The limit is high, because processes also end for other reasons.
 */
export const MAX_ATTEMPTS = 100;

/** Returns the state of a newly accepted job. */
export function newJob(segmentCount: number): JobState {
  const segments = Array.from({ length: segmentCount }, () => 'pending' as const);
  return { status: 'pending', attempts: 0, segments };
}

/** Returns whether a job has ended. */
export function hasEnded(status: StoredStatus): boolean {
  return status !== 'pending' && status !== 'processing';
}

/** Returns the next state of a job; `undefined` if the current state does not allow the event. */
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
  // A job that has failed speaks no further segment.
  const segments = state.segments.map((one) => (one === 'pending' ? 'fail' : one));
  return { state: { ...state, status, segments }, settlement: SETTLEMENTS[status] };
}

function proceed(state: JobState): Transition {
  return { state, settlement: 'none' };
}
