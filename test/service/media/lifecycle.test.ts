import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_ATTEMPTS } from '../../../src/service/jobs/lifecycle.ts';
import type { MediaJobEvent } from '../../../src/service/media/jobs/lifecycle.ts';
import { hasEnded, NEW_MEDIA_JOB, transition } from '../../../src/service/media/jobs/lifecycle.ts';

const EVENTS: readonly MediaJobEvent[] = ['claimed', 'released', 'finished', 'broken'];

describe('a media job', () => {
  test.each<[readonly MediaJobEvent[], string, string]>([
    [['claimed', 'finished'], 'completed', 'commit'],
    [['claimed', 'broken'], 'failed', 'refund'],
    [['broken'], 'failed', 'refund'],
    [['claimed', 'released'], 'pending', 'none'],
    [['claimed', 'claimed', 'finished'], 'completed', 'commit'],
    [Array.from({ length: MAX_ATTEMPTS + 1 }, () => 'claimed' as const), 'failed', 'refund'],
  ])('%j ends as %s with %s', (events, status, settlement) => {
    const last = events.reduce<ReturnType<typeof transition>>(
      (before, event) => before && transition(before.state, event),
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
          const next = transition(state, event);
          if (hasEnded(state.status)) expect(next).toBeUndefined();
          if (next === undefined) continue;
          ({ state } = next);
          if (next.settlement !== 'none') settlements.push(next.settlement);
        }
        const expected = { completed: ['commit'], failed: ['refund'], pending: [], processing: [] };
        expect(settlements).toEqual(expected[state.status]);
      }),
    );
  });

  test('one that was given back was not tried', () => {
    const claimed = transition(NEW_MEDIA_JOB, 'claimed');
    expect(claimed?.state.attempts).toBe(1);
    expect(claimed && transition(claimed.state, 'released')?.state).toEqual(NEW_MEDIA_JOB);
  });

  test('nothing is finished that nobody works on', () => {
    expect(transition(NEW_MEDIA_JOB, 'finished')).toBeUndefined();
  });
});
