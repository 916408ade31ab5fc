import { setTimeout as wait } from 'node:timers/promises';

/** Clock and timers, injected so that tests do not wait. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps; only differences are meaningful. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the reason of the signal on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `call` after `ms`. The returned function cancels the timer, which never keeps the process alive. */
  after(ms: number, call: () => void): () => void;
}

/** Maximum timer, 24 days: Node fires longer timers at once. */
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
