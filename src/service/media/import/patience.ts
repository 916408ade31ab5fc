import type { Clock } from '../../../effects/clock.ts';

/** A server that says nothing for so long is not waited for. */
const LONGEST_SILENCE_MS = 20_000;
/** Nor is one that goes on for so long. */
const LONGEST_DOWNLOAD_MS = 300_000;

/** The time that somebody else's server is given. */
export interface Patience {
  /** Aborted when it is over, or when the one who waits has gone. */
  readonly signal: AbortSignal;
  /** The server said something. */
  readonly heard: () => void;
  readonly stop: () => void;
}

/**
 * @param given aborted by whoever waits
 * @param failureOf the reason of the signal, of what happened
 */
export function keepTime(
  clock: Clock,
  given: AbortSignal,
  failureOf: (what: string) => Error,
): Patience {
  const late = new AbortController();
  const abortAfter = (ms: number, what: string): (() => void) =>
    clock.after(ms, () => late.abort(failureOf(`${what} ${ms / 1_000} s`)));
  const stopWhole = abortAfter(LONGEST_DOWNLOAD_MS, 'was not here in');
  const wait = (): (() => void) => abortAfter(LONGEST_SILENCE_MS, 'gave nothing for');
  let stopSilence = wait();
  return {
    signal: AbortSignal.any([given, late.signal]),
    heard() {
      stopSilence();
      stopSilence = wait();
    },
    stop() {
      stopSilence();
      stopWhole();
    },
  };
}
