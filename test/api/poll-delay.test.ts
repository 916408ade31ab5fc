import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jobPhase,
  POLL_CAP_MS,
  POLL_FLOOR_MS,
  POLL_FLOOR_V1_MS,
  pollDelay,
} from '../../src/api/poll.ts';
import type { PollState } from '../../src/api/poll.ts';

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const elapsedMs = fc.integer({ min: 0, max: 3_600_000 });
const pace = { floorMs: POLL_FLOOR_MS };
const slow = { floorMs: POLL_FLOOR_V1_MS };

function delayAt(question: Partial<PollState>): number {
  const usual = { elapsedMs: 0, retryAfterMs: undefined, pace, failures: 0, fraction: 0 };
  return pollDelay({ ...usual, ...question });
}

describe('the phase of a status', () => {
  const words = {
    success: ['success', 'completed', 'succeeded', 'done', 'SUCCESS', ' Completed '],
    failed: ['fail', 'failed', 'error', 'cancelled', 'canceled', 'expired', 'Failed'],
    partial: ['partial_fail', 'PARTIAL_FAIL'],
    running: ['pending', 'processing', 'queued', 'successful', 'not done', '', 'constructor'],
  } as const;
  const rows = Object.entries(words).flatMap(([phase, list]) =>
    list.map((word) => [word, phase] as const),
  );
  it.each(rows)('reads "%s" as %s', (word, phase) => {
    expect(jobPhase(word)).toBe(phase);
  });
});

describe('the delay before the next poll', () => {
  it('is a tenth of the elapsed time, from half a second to ten', () => {
    fc.assert(
      fc.property(elapsedMs, fraction, (elapsed, chance) => {
        const delay = delayAt({ elapsedMs: elapsed, fraction: chance });
        expect(delay).toBeGreaterThanOrEqual(POLL_FLOOR_MS);
        expect(delay).toBeLessThanOrEqual(POLL_CAP_MS);
        const tenth = elapsed / 10;
        if (tenth >= 700 && tenth <= 8_000) {
          expect(delay).toBeGreaterThanOrEqual(tenth * 0.79);
          expect(delay).toBeLessThanOrEqual(tenth * 1.21);
        }
      }),
    );
  });

  it('is one to two times Retry-After', () => {
    fc.assert(
      fc.property(
        elapsedMs,
        fraction,
        fc.integer({ min: 1, max: 600 }),
        (elapsed, chance, seconds) => {
          const retryAfterMs = seconds * 1_000;
          const delay = delayAt({ elapsedMs: elapsed, retryAfterMs, fraction: chance });
          expect(delay).toBeGreaterThanOrEqual(retryAfterMs);
          expect(delay).toBeLessThanOrEqual(2 * retryAfterMs);
        },
      ),
    );
  });

  it('is short and grows after Retry-After: 0', () => {
    const times = [0, 30, 500, 60_000];
    expect(times.map((elapsed) => delayAt({ elapsedMs: elapsed, retryAfterMs: 0 }))).toEqual([
      10, 10, 100, 2_000,
    ]);
  });

  it('is shorter still for an overdue job', () => {
    const delays = [30, 34, 60, 5_000].map((elapsed) =>
      delayAt({ elapsedMs: elapsed, expectedMs: 30, retryAfterMs: 0 }),
    );
    expect(delays).toEqual([1.5, 3.5, 12, 1_000]);
    const named = { elapsedMs: 30, expectedMs: 30, retryAfterMs: 1_000 };
    expect(delayAt(named)).toBe(1_000);
    expect(delayAt({ ...named, retryAfterMs: undefined })).toBe(POLL_FLOOR_MS);
  });

  it('is at least three seconds on hosted v1', () => {
    fc.assert(
      fc.property(
        elapsedMs,
        fraction,
        fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: undefined }),
        (elapsed, chance, retryAfterMs) => {
          const delay = delayAt({ elapsedMs: elapsed, retryAfterMs, pace: slow, fraction: chance });
          expect(delay).toBeGreaterThanOrEqual(Math.max(POLL_FLOOR_V1_MS, retryAfterMs ?? 0));
        },
      ),
    );
  });

  it('is --poll-interval, but at least Retry-After', () => {
    const asked = { ...pace, intervalMs: 40 };
    const named = [undefined, 0, 2_000];
    expect(
      named.map((retryAfterMs) => delayAt({ elapsedMs: 90_000, retryAfterMs, pace: asked })),
    ).toEqual([40, 40, 2_000]);
  });

  it('doubles with each failure, up to ten seconds, with jitter', () => {
    const eager = { ...pace, intervalMs: 1 };
    expect([1, 2, 3, 4, 5, 6, 60].map((failures) => delayAt({ failures, pace: eager }))).toEqual([
      250, 500, 1_000, 2_000, 4_000, 5_000, 5_000,
    ]);
    const [less = 0, more = 0] = [0.1, 0.9].map((chance) =>
      delayAt({ failures: 3, pace: eager, fraction: chance }),
    );
    expect(more).toBeGreaterThan(less);
  });
});
