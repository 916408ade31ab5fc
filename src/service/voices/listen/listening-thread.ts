import type { OpenFile } from '../../../audio/sound.ts';
import type { Clock } from '../../../system/clock.ts';
import { runThread } from '../../../system/thread.ts';
import type { HeardVoice } from './pitch-meter.ts';

/** The voice in reference audio, or the reason why one of its files was refused. */
export type HeardRecordings =
  /** `voice` is undefined if the files contain no speech. */
  | { readonly kind: 'heard'; readonly voice: HeardVoice | undefined }
  /** The file at `index` is unusable. `problem` is a verb phrase about the file, such as `is silent`. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string };

/**
 * Checks reference audio and measures the voice in it.
 * @throws Error if the measurement fails or takes too long; on abort, the abort reason of the signal
 */
export type HearRecordings = (
  files: readonly OpenFile[],
  signal: AbortSignal,
) => Promise<HeardRecordings>;

interface ListeningThreadOptions {
  /** Path of the bundled script that the worker thread runs (`worker.ts`). */
  readonly workerFile: string | URL;
  readonly clock: Clock;
  /** Maximum time for one call in milliseconds, default 120,000. */
  readonly timeoutMs?: number;
}

const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
const TIMEOUT_MS = 120_000;

/** Returns a function that measures the voice in reference audio. Each call runs in a new thread. */
export function hearInThread(options: ListeningThreadOptions): HearRecordings {
  const { clock, timeoutMs = TIMEOUT_MS, workerFile } = options;
  return async (data, signal) => {
    const stop = new AbortController();
    const stopTimer = clock.after(timeoutMs, () => {
      stop.abort(new Error(`Measuring the pitch took longer than ${timeoutMs} ms.`));
    });
    const either = AbortSignal.any([signal, stop.signal]);
    const thread = { name: 'that measures pitch', data, signal: either, resourceLimits };
    return runThread<HeardRecordings>(workerFile, thread).finally(stopTimer);
  };
}
