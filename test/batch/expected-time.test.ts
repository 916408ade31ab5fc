import { describe, expect, it } from 'vitest';
import { ExpectedTime } from '../../src/batch/run/job-speaker.ts';

describe('the expected time of jobs', () => {
  it('is unknown at first, and for texts of a very different length', () => {
    const expected = new ExpectedTime();
    expect(expected.of(100)).toBeUndefined();
    expected.learn(100, 500, undefined);
    expect(expected.of(100)).toBe(500);
    expect(expected.of(1_000)).toBeUndefined();
  });

  it('is exact after a few jobs, and then rarely too short or much too long', () => {
    const expected = new ExpectedTime();
    const takesMs = 30;
    let early = 0;
    let late = 0;
    expected.learn(16, takesMs + 10, undefined);
    for (let round = 0; round < 200; round += 1) {
      const ms = expected.of(16) ?? 0;
      if (round === 10) expect(Math.abs(ms - takesMs)).toBeLessThan(0.1 * takesMs);
      const wasEnough = ms >= takesMs;
      // A poll that was too early is repeated soon.
      const foundMs = wasEnough ? ms : takesMs + 1;
      // Eight jobs had the same guess.
      for (let lane = 0; lane < 8; lane += 1) expected.learn(16, foundMs, { ms, wasEnough });
      if (round < 100) continue;
      late += foundMs - takesMs;
      if (!wasEnough) early += 1;
    }
    expect(early / 100).toBeLessThan(0.2);
    expect(late / 100).toBeLessThan(0.05 * takesMs);
  });

  it('stays longer after a job took longer than the guess, though others of that guess were done', () => {
    const expected = new ExpectedTime();
    expected.learn(16, 30, undefined);
    expected.learn(16, 34, { ms: 30, wasEnough: false });
    const longer = expected.of(16) ?? 0;
    expect(longer).toBeGreaterThan(30);
    expected.learn(16, 30, { ms: 30, wasEnough: true });
    expect(expected.of(16)).toBe(longer);
    expected.learn(16, longer, { ms: longer, wasEnough: true });
    expect(expected.of(16)).toBeLessThan(longer);
  });

  it('is never more than two seconds, and becomes shorter from there', () => {
    const expected = new ExpectedTime();
    expected.learn(5_000, 60_000, undefined);
    expect(expected.of(5_000)).toBe(2_000);
    expected.learn(5_000, 2_000, { ms: 2_000, wasEnough: true });
    expect(expected.of(5_000)).toBeLessThan(2_000);
  });
});
