import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SegmentStatus } from '../../../src/contract/jobs.ts';
import type {
  JobEvent,
  JobState,
  StoredStatus,
  Settlement,
} from '../../../src/service/jobs/lifecycle.ts';
import {
  hasEnded,
  JOB_STATUSES,
  MAX_ATTEMPTS,
  newJob,
  transition,
} from '../../../src/service/jobs/lifecycle.ts';

type Outcome = Exclude<SegmentStatus, 'pending'>;

function job(status: StoredStatus, attempts: number, ...segments: SegmentStatus[]): JobState {
  return { status, attempts, segments };
}

const settled = (index: number, outcome: Outcome): JobEvent => ({
  type: 'segment_finished',
  index,
  outcome,
});
const CLAIMED: JobEvent = { type: 'claimed' };
const RELEASED: JobEvent = { type: 'released' };
const FINISHED: JobEvent = { type: 'finished' };
const FAILED: JobEvent = { type: 'failed' };

describe('a job', () => {
  const last = MAX_ATTEMPTS;
  it.each<[string, JobState, JobEvent, JobState, Settlement]>([
    ['is taken', newJob(1), CLAIMED, job('processing', 1, 'pending'), 'none'],
    [
      'is taken over from a worker that is gone',
      job('processing', 1, 'success', 'pending'),
      CLAIMED,
      job('processing', 2, 'success', 'pending'),
      'none',
    ],
    [
      'is given up when its workers keep dying',
      job('processing', last, 'success', 'pending'),
      CLAIMED,
      job('failed', last, 'success', 'fail'),
      'refund',
    ],
    [
      'is given back, which is no attempt',
      job('processing', 2, 'success', 'pending'),
      RELEASED,
      job('pending', 1, 'success', 'pending'),
      'none',
    ],
    ['is given back before it was begun', newJob(1), RELEASED, newJob(1), 'none'],
    [
      'has a segment spoken',
      job('processing', 1, 'pending', 'pending'),
      settled(1, 'success'),
      job('processing', 1, 'pending', 'success'),
      'none',
    ],
    [
      'has succeeded',
      job('processing', 1, 'success', 'success'),
      FINISHED,
      job('done', 1, 'success', 'success'),
      'commit',
    ],
    [
      'has succeeded although a part has nothing to say',
      job('processing', 1, 'skipped', 'success'),
      FINISHED,
      job('done', 1, 'skipped', 'success'),
      'commit',
    ],
    [
      'has succeeded in part',
      job('processing', 1, 'success', 'fail', 'skipped'),
      FINISHED,
      job('partial', 1, 'success', 'fail', 'skipped'),
      'commit_part',
    ],
    [
      'has failed with all of its segments',
      job('processing', 1, 'fail', 'skipped'),
      FINISHED,
      job('failed', 1, 'fail', 'skipped'),
      'refund',
    ],
    [
      'has failed with nothing to say',
      job('processing', 1, 'skipped'),
      FINISHED,
      job('failed', 1, 'skipped'),
      'refund',
    ],
    [
      'has failed for another reason',
      job('processing', 1, 'success', 'pending'),
      FAILED,
      job('failed', 1, 'success', 'fail'),
      'refund',
    ],
    ['cannot be begun at all', newJob(1), FAILED, job('failed', 0, 'fail'), 'refund'],
  ])('%s', (_name, state, event, next, settlement) => {
    expect(transition(state, event)).toEqual({ state: next, settlement });
  });

  it.each<[string, JobState, JobEvent]>([
    ['finished before all is spoken', job('processing', 1, 'success', 'pending'), FINISHED],
    ['finished before it is begun', newJob(1), FINISHED],
    ['spoken before it is begun', newJob(1), settled(0, 'success')],
    ['spoken twice', job('processing', 1, 'success'), settled(0, 'fail')],
    ['spoken where there is no segment', job('processing', 1, 'pending'), settled(1, 'success')],
  ])('cannot be %s', (_name, state, event) => {
    expect(transition(state, event)).toBeUndefined();
  });
});

const outcomes = fc.constantFrom<Outcome>('success', 'skipped', 'fail');
const events = fc.oneof(
  fc.constantFrom(CLAIMED, RELEASED, FINISHED, FAILED),
  fc.tuple(fc.integer({ min: -1, max: 5 }), outcomes).map(([index, one]) => settled(index, one)),
);
const pasts = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.array(events, { maxLength: 30 }));

/** What becomes of a job, with the settlements on the way; what cannot happen does not. */
function follow(segments: number, history: readonly JobEvent[]) {
  const seen = {
    state: newJob(segments),
    settlements: [] as Settlement[],
    states: [newJob(segments)],
  };
  for (const event of history) {
    const next = transition(seen.state, event);
    if (next === undefined) continue;
    seen.state = next.state;
    seen.states.push(next.state);
    if (next.settlement !== 'none') seen.settlements.push(next.settlement);
  }
  return seen;
}

describe('whatever happens to a job', () => {
  it('nothing happens to one that has ended, and its money is settled exactly then', () => {
    fc.assert(
      fc.property(pasts, ([segments, history]) => {
        const { states, settlements, state } = follow(segments, history);
        const ended = states.filter(({ status }) => hasEnded(status));
        expect(ended.length).toBe(hasEnded(state.status) ? 1 : 0);
        expect(settlements.length).toBe(ended.length);
      }),
    );
  });

  it('its settled segments stay as they are, and none is lost', () => {
    fc.assert(
      fc.property(pasts, ([segments, history]) => {
        const { states } = follow(segments, history);
        for (const [index, state] of states.entries()) {
          expect(state.segments).toHaveLength(segments);
          const before = states[index - 1]?.segments ?? [];
          for (const [number, status] of before.entries()) {
            if (status !== 'pending') expect(state.segments[number]).toBe(status);
          }
        }
      }),
    );
  });

  it('it ends once a worker is not stopped', () => {
    fc.assert(
      fc.property(pasts, fc.array(outcomes, { minLength: 4, maxLength: 4 }), (past, ends) => {
        const { state } = follow(...past);
        const work = ends.map((outcome, index) => settled(index, outcome));
        const { status } = continued(state, [CLAIMED, ...work, FINISHED]);
        expect(hasEnded(status)).toBe(true);
      }),
    );
  });

  it('it ends although every worker dies', () => {
    fc.assert(
      fc.property(pasts, (past) => {
        const { state } = follow(...past);
        const deaths = Array.from({ length: MAX_ATTEMPTS + 1 }, () => CLAIMED);
        expect(hasEnded(continued(state, deaths).status)).toBe(true);
      }),
    );
  });

  it('a refund means that there is no audio, and a charge that there is some', () => {
    fc.assert(
      fc.property(pasts, ([segments, history]) => {
        const { state, settlements } = follow(segments, history);
        const expected = { done: ['commit'], partial: ['commit_part'], failed: ['refund'] };
        if (state.status === 'pending' || state.status === 'processing') return;
        expect(settlements).toEqual(expected[state.status]);
        expect(state.segments).not.toContain('pending');
        if (state.status !== 'failed') expect(state.segments).toContain('success');
        expect(state.segments.includes('fail') && state.status === 'done').toBe(false);
      }),
    );
  });

  it('every status of the spec can be reached', () => {
    const ends = ['success', 'skipped', 'fail'] as const;
    const histories = ends.flatMap((one) =>
      ends.map((other) => [CLAIMED, settled(0, one), settled(1, other), FINISHED]),
    );
    const reached = histories.flatMap((history) =>
      follow(2, history).states.map(({ status }) => status),
    );
    expect(new Set(reached)).toEqual(new Set(JOB_STATUSES));
  });
});

function continued(state: JobState, history: readonly JobEvent[]): JobState {
  return history.reduce((before, event) => transition(before, event)?.state ?? before, state);
}
