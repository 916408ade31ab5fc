import type { Clock } from '../../src/effects/clock.ts';

/** A clock that moves only when a test moves it; what sleeps wakes at once and is written down. */
export interface ManualClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly slept: number[];
  /** Limits that are running now, in milliseconds from their start. */
  readonly running: () => readonly number[];
  /** Lets time pass; limits that it reaches are told. */
  advance(ms: number): void;
}

export function manualClock(start = Date.UTC(2026, 0, 2, 3, 4, 5)): ManualClock {
  let elapsed = 0;
  const slept: number[] = [];
  const timers = new Set<{ readonly at: number; readonly ms: number; readonly call: () => void }>();
  return {
    slept,
    now: () => start + elapsed,
    monotonic: () => elapsed,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      elapsed += ms;
    },
    after(ms, call) {
      const timer = { at: elapsed + ms, ms, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    running: () => [...timers].map(({ ms }) => ms),
    advance(ms) {
      elapsed += ms;
      for (const timer of timers) {
        if (timer.at <= elapsed && timers.delete(timer)) timer.call();
      }
    },
  };
}
