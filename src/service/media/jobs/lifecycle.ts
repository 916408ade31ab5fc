import type { MediaJobStatus } from '../../../contract/lip-sync.ts';
import { MAX_ATTEMPTS } from '../../jobs/lifecycle.ts';

/**
 * What can become of a media job (docs/api/lip-sync.md), as a pure machine: it says what a job is after
 * something happened to it and what that means for its money.
 */

export interface MediaJobState {
  readonly status: MediaJobStatus;
  /** How often it was begun by somebody who did not give it back. */
  readonly attempts: number;
}

export type MediaJobEvent =
  /** A worker takes it, for the first time or because whoever had it is gone. */
  | 'claimed'
  /** Its owner gives it back unfinished, because its process ends. */
  | 'released'
  /** What it is for is a file now. */
  | 'finished'
  /** It cannot be done. */
  | 'broken';

export interface MediaTransition {
  readonly state: MediaJobState;
  /** What happens to the money that was set aside when it was accepted. */
  readonly settlement: 'none' | 'commit' | 'refund';
}

export const NEW_MEDIA_JOB: MediaJobState = { status: 'pending', attempts: 0 };

/** Whether nothing can happen to it any more. */
export function hasEnded(status: MediaJobStatus): boolean {
  return status === 'completed' || status === 'failed';
}

/** The job after an event; `undefined` when that cannot happen to it, and then nothing may be done. */
export function transition(
  { status, attempts }: MediaJobState,
  event: MediaJobEvent,
): MediaTransition | undefined {
  if (hasEnded(status)) return undefined;
  switch (event) {
    case 'claimed':
      if (attempts >= MAX_ATTEMPTS) return end('failed', attempts);
      return go({ status: 'processing', attempts: attempts + 1 });
    case 'released':
      return go({
        status: 'pending',
        attempts: status === 'processing' ? attempts - 1 : attempts,
      });
    case 'finished':
      return status === 'processing' ? end('completed', attempts) : undefined;
    case 'broken':
      return end('failed', attempts);
  }
}

function end(status: 'completed' | 'failed', attempts: number): MediaTransition {
  const settlement = status === 'completed' ? 'commit' : 'refund';
  return { state: { status, attempts }, settlement };
}

function go(state: MediaJobState): MediaTransition {
  return { state, settlement: 'none' };
}
