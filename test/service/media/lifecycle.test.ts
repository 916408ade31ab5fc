import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JobState } from '../../../src/service/jobs/lifecycle.ts';
import { hasEnded, MAX_ATTEMPTS, newJob, transition } from '../../../src/service/jobs/lifecycle.ts';

/** A job without segments. */
const NEW_MEDIA_JOB = newJob(0);
const EVENTS = ['claimed', 'released', 'finished', 'failed'] as const;
type EventType = (typeof EVENTS)[number];

function after(state: JobState, type: EventType) {
  return transition(state, { type });
}

describe('a media job', () => {
  test.each<[readonly EventType[], string, string]>([
    [['claimed', 'finished'], 'done', 'commit'],
    [['claimed', 'failed'], 'failed', 'refund'],
    [['failed'], 'failed', 'refund'],
    [['claimed', 'released'], 'pending', 'none'],
    [['claimed', 'claimed', 'finished'], 'done', 'commit'],
    [Array.from({ length: MAX_ATTEMPTS + 1 }, () => 'claimed' as const), 'failed', 'refund'],
  ])('%j ends as %s with %s', (events, status, settlement) => {
    const last = events.reduce<ReturnType<typeof transition>>(
      (before, event) => before && after(before.state, event),
      { state: NEW_MEDIA_JOB, settlement: 'none' },
    );
    expect(last).toMatchObject({ state: { status }, settlement });
  });

  test('nothing happens to one that has ended, and money is settled exactly then', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
        let state = NEW_MEDIA_JOB;
        const settlements: string[] = [];
        for (const event of events) {
          const next = after(state, event);
          if (hasEnded(state.status)) expect(next).toBeUndefined();
          if (next === undefined) continue;
          ({ state } = next);
          if (next.settlement !== 'none') settlements.push(next.settlement);
        }
        const expected = {
          done: ['commit'],
          partial: [],
          failed: ['refund'],
          pending: [],
          processing: [],
        };
        expect(settlements).toEqual(expected[state.status]);
      }),
    );
  });

  test('one that was given back was not tried', () => {
    const claimed = after(NEW_MEDIA_JOB, 'claimed');
    expect(claimed?.state.attempts).toBe(1);
    expect(claimed && after(claimed.state, 'released')?.state).toEqual(NEW_MEDIA_JOB);
  });

  test('only a job with an owner finishes', () => {
    expect(after(NEW_MEDIA_JOB, 'finished')).toBeUndefined();
  });
});
