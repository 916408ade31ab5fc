import { Worker } from 'node:worker_threads';
import type { OpenFile } from '../../../audio/sound.ts';
import type { Clock } from '../../../effects/clock.ts';
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

const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
const TIMEOUT_MS = 120_000;

/** Returns a function that measures the voice in reference audio. Each call runs in a new thread. */
export function hearInThread(options: ListeningThreadOptions): HearRecordings {
  const { clock, timeoutMs = TIMEOUT_MS, workerFile } = options;
  return async (files, signal) => {
    signal.throwIfAborted();
    const worker = new Worker(workerFile, {
      name: 'listener',
      resourceLimits: RESOURCE_LIMITS,
      workerData: files,
    });
    const stop = new AbortController();
    const stopTimer = clock.after(timeoutMs, () => {
      stop.abort(new Error(`Measuring the pitch took longer than ${timeoutMs} ms.`));
    });
    try {
      return await answerOf(worker, AbortSignal.any([signal, stop.signal]));
    } finally {
      stopTimer();
      await worker.terminate();
    }
  };
}

function answerOf(worker: Worker, signal: AbortSignal): Promise<HeardRecordings> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new Error('The thread that measures pitch ended unexpectedly.')),
    );
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
