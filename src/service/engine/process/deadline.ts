import type { Clock } from '../../../effects/clock.ts';

/** Nothing came in time. */
export class Silence extends Error {
  override readonly name = 'Silence';
  readonly waitedMs: number;

  constructor(waitedMs: number) {
    super(`nothing came for ${waitedMs} ms`);
    this.waitedMs = waitedMs;
  }
}

/** @throws Silence when the promise is not settled in time; what it gives later is dropped */
export function within<T>(waitMs: number, promise: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(waitMs, () => reject(new Silence(waitMs)));
    promise.then(resolve, reject).finally(stop);
  });
}

/** What the promise gives, unless the signal is aborted first: then its reason, at once. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
