import { Worker } from 'node:worker_threads';
import type { OpenFile } from '../../../audio/decode.ts';
import type { Clock } from '../../../effects/clock.ts';

/** The measurement of reference audio. */
export type HeardFiles =
  /** No pitch where no voice is heard. */
  | { readonly kind: 'heard'; readonly medianHz: number | undefined }
  /** The file at `index` cannot be used; `problem` follows its name in the message. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string };

/**
 * Measures reference audio.
 * @throws Error when that fails or takes too long; the signal's reason once it is aborted
 */
export type HearFiles = (files: readonly OpenFile[], signal: AbortSignal) => Promise<HeardFiles>;

interface ListeningThreadOptions {
  /** The bundled `worker.ts`. */
  readonly workerFile: string | URL;
  readonly clock: Clock;
  /** @default 120_000 */
  readonly timeoutMs?: number;
}

/** Of the script's own memory; that of WebAssembly and of samples is not counted. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
const TIMEOUT_MS = 120_000;

/** Measures each request in a thread of its own, which ends with it. */
export function hearInThread(options: ListeningThreadOptions): HearFiles {
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
      stop.abort(new Error(`Listening took longer than ${timeoutMs} ms.`));
    });
    try {
      return await answerOf(worker, AbortSignal.any([signal, stop.signal]));
    } finally {
      stopTimer();
      await worker.terminate();
    }
  };
}

function answerOf(worker: Worker, signal: AbortSignal): Promise<HeardFiles> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The listening thread ended.')));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
