import { setTimeout as wait } from 'node:timers/promises';

/** The clock and timers. They are injected, so that tests need not wait. */
export interface Clock {
  /** Returns the time in milliseconds since the Unix epoch. */
  now(): number;
  /** Returns milliseconds on a clock that never jumps. Only differences between two values are meaningful. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's abort reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `call` after `ms` milliseconds. The returned function cancels the timer. Does not keep the process alive. */
  after(ms: number, call: () => void): () => void;
}

// About 24 days; Node fires longer timers at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`, because loading `performance` takes a millisecond.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    try {
      await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with its own error, so throw the reason of the signal instead.
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

/** Thrown for an exceeded timeout. The message is a verb phrase, such as `was silent for 60 s`. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Waits for a promise, at most `waitMs` milliseconds. @throws TimedOut, or the error of the promise */
export function withTimeout<T>(waitMs: number, promise: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const message = `was silent for ${waitMs / 1000} s`;
    const stop = clock.after(waitMs, () => reject(new TimedOut(message)));
    promise.then(resolve, reject).finally(stop);
  });
}
