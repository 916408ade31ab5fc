import { setTimeout as wait } from 'node:timers/promises';

/** Time, injected so that no test waits and no deadline depends on the wall clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps; only differences mean anything. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after `ms`; the returned function stops it. A timer never keeps the process alive. */
  after(ms: number, call: () => void): () => void;
}

/** 24 days: a timer of Node that is longer ends at once, so that what waits longer is woken too early. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Loading `performance` takes a millisecond.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    try {
      await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with an error of its own.
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
