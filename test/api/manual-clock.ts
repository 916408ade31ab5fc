import type { Clock } from '../../src/system/clock.ts';

/** A clock that a test advances; sleeps return at once and are recorded. */
export interface ManualClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly slept: number[];
  /** Running timers, in milliseconds from their start. */
  readonly running: () => readonly number[];
  /** Advances the time and fires the timers that are due. */
  advance(ms: number): void;
  /** Sets the system time back; the monotonic clock goes on. */
  setBack(ms: number): void;
}

export function manualClock(start = Date.UTC(2026, 0, 2, 3, 4, 5)): ManualClock {
  let elapsed = 0;
  let behind = 0;
  const slept: number[] = [];
  const timers = new Set<{ readonly at: number; readonly ms: number; readonly call: () => void }>();
  return {
    slept,
    now: () => start + elapsed - behind,
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
    setBack(ms) {
      behind += ms;
    },
  };
}
