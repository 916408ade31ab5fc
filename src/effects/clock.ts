import { setTimeout as wait } from 'node:timers/promises';

/** Time, injected so that tests do not wait. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps; use differences only. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after `ms` unless cancelled by the returned function; never keeps the process alive. */
  after(ms: number, call: () => void): () => void;
}

/** 24 days: Node fires longer timers at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Loading `performance` takes a millisecond.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    try {
      await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with its own error instead of the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  },
  after(ms, call) {
    const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
