import type { JobStatus, SegmentStatus } from '../../contract/jobs.ts';

/**
 * What can become of a speech job (docs/api/jobs.md#states), as a pure machine: it says what a job is after
 * something happened to it and what that means for its money. It knows neither database nor engine.
 */

export interface JobState {
  readonly status: JobStatus;
  /** How often it was begun by somebody who did not give it back. */
  readonly attempts: number;
  /** At least one. */
  readonly segments: readonly SegmentStatus[];
}

export type JobEvent =
  /** A worker takes it, for the first time or because whoever had it is gone. */
  | { readonly type: 'claimed' }
  /** Its owner gives it back unfinished, because its process ends. */
  | { readonly type: 'released' }
  | {
      readonly type: 'segment_settled';
      readonly index: number;
      readonly outcome: Exclude<SegmentStatus, 'pending'>;
    }
  /** What was spoken is one file now; with nothing spoken, there was none to make. */
  | { readonly type: 'finished' }
  /** It cannot be done at all, such as on a full disk. */
  | { readonly type: 'broken' };

/** What happens to the money that was set aside when the job was accepted. */
export type Settlement =
  | 'none'
  /** All of it is spent. */
  | 'commit'
  /** What the failed segments cost is given back, the rest is spent. */
  | 'commit_part'
  /** All of it is given back. */
  | 'refund';

export interface Transition {
  readonly state: JobState;
  readonly settlement: Settlement;
}

/**
 * A job during which so many processes died is given up: it may be the reason. Most of them were just
 * ended, and some are ended again and again while one job is the first in the queue.
 */
export const MAX_ATTEMPTS = 100;

/** A job as it is accepted. */
export function newJob(segmentCount: number): JobState {
  return {
    status: 'pending',
    attempts: 0,
    segments: Array.from({ length: segmentCount }, () => 'pending' as const),
  };
}

/** Whether nothing can happen to it any more. */
export function isTerminal(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'processing';
}

/** The job after an event; `undefined` when that cannot happen to it, and then nothing may be done. */
export function transition(state: JobState, event: JobEvent): Transition | undefined {
  if (isTerminal(state.status)) return undefined;
  switch (event.type) {
    case 'claimed':
      return claim(state);
    case 'released':
      return release(state);
    case 'segment_settled':
      return settleSegment(state, event.index, event.outcome);
    case 'finished':
      return finish(state);
    case 'broken':
      return end(state, 'fail');
  }
}

function claim(state: JobState): Transition {
  if (state.attempts >= MAX_ATTEMPTS) return end(state, 'fail');
  return go({ ...state, status: 'processing', attempts: state.attempts + 1 });
}

function release(state: JobState): Transition {
  const { status, attempts } = state;
  return go({
    ...state,
    status: 'pending',
    attempts: status === 'processing' ? attempts - 1 : attempts,
  });
}

function settleSegment(
  state: JobState,
  index: number,
  outcome: Exclude<SegmentStatus, 'pending'>,
): Transition | undefined {
  if (state.status !== 'processing' || state.segments[index] !== 'pending') return undefined;
  return go({ ...state, segments: state.segments.with(index, outcome) });
}

function finish(state: JobState): Transition | undefined {
  const { status, segments } = state;
  if (status !== 'processing' || segments.includes('pending')) return undefined;
  if (!segments.includes('success')) return end(state, 'fail');
  return end(state, segments.includes('fail') ? 'partial_fail' : 'success');
}

const SETTLEMENTS = { success: 'commit', partial_fail: 'commit_part', fail: 'refund' } as const;

function end(state: JobState, status: keyof typeof SETTLEMENTS): Transition {
  return { state: { ...state, status }, settlement: SETTLEMENTS[status] };
}

function go(state: JobState): Transition {
  return { state, settlement: 'none' };
}
