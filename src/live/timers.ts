import type { Clock } from '../effects/clock.ts';
import type { TimerName } from './events.ts';

interface Timer {
  /** When it runs out, on the monotonic clock. */
  deadline: number;
  readonly stop: () => void;
}

/**
 * The timers of a conversation. One that is started anew is only moved, since the watch over silence is
 * with every message: it looks at its deadline when it would have run out.
 */
export class Timers {
  readonly #clock: Clock;
  readonly #ranOut: (name: TimerName) => void;
  readonly #running = new Map<TimerName, Timer>();

  constructor(clock: Clock, ranOut: (name: TimerName) => void) {
    this.#clock = clock;
    this.#ranOut = ranOut;
  }

  start(name: TimerName, afterMs: number): void {
    const deadline = this.#clock.monotonic() + afterMs;
    const running = this.#running.get(name);
    if (running !== undefined && running.deadline <= deadline) running.deadline = deadline;
    else this.#arm(name, deadline, afterMs);
  }

  stop(name: TimerName): void {
    this.#running.get(name)?.stop();
    this.#running.delete(name);
  }

  #arm(name: TimerName, deadline: number, afterMs: number): void {
    this.stop(name);
    const look = (): void => {
      const leftMs = (this.#running.get(name)?.deadline ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) return this.#arm(name, this.#clock.monotonic() + leftMs, leftMs);
      this.#running.delete(name);
      return this.#ranOut(name);
    };
    const stop = RESTS.has(name) ? this.#rest(afterMs, look) : this.#clock.after(afterMs, look);
    this.#running.set(name, { deadline, stop });
  }

  /** Between two attempts nothing else keeps the process alive. */
  #rest(afterMs: number, call: () => void): () => void {
    const stopped = new AbortController();
    this.#clock.sleep(afterMs, stopped.signal).then(call, () => undefined);
    return () => stopped.abort();
  }
}

const RESTS: ReadonlySet<TimerName> = new Set(['backoff', 'poll']);
