import { Worker } from 'node:worker_threads';
import type { OpenFile } from '../../../audio/decode.ts';
import type { Clock } from '../../../effects/clock.ts';
import type { VoiceProfile } from './voice-analyser.ts';

interface ListeningThreadOptions {
  /** The bundled `worker.ts`. */
  readonly workerFile: string | URL;
  readonly clock: Clock;
  /** How long one task may take. @default 120_000 */
  readonly timeoutMs?: number;
}

/** Of the script's own memory; that of WebAssembly and of samples is not counted. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
const TIMEOUT_MS = 120_000;

/** A listener in a thread of its own, which is ended when it fails, takes too long or is closed. */
export function openListeningThread(options: ListeningThreadOptions): Listener {
  const { clock, timeoutMs = TIMEOUT_MS, workerFile } = options;
  const worker = new Worker(workerFile, { name: 'listener', resourceLimits: RESOURCE_LIMITS });
  // What it fails of is told to whoever waits for it; nobody may be waiting.
  worker.on('error', () => undefined);
  worker.unref();
  const ask = async (
    task: ToListener,
    signal: AbortSignal,
    transferred: ArrayBuffer[] = [],
  ): Promise<Exclude<FromListener, { kind: 'failed' }>> => {
    signal.throwIfAborted();
    const answer = await answerOf(worker, { task, transferred, signal, clock, timeoutMs });
    if (answer.kind === 'failed') throw new Error(`Listening failed: ${answer.message}`);
    return answer;
  };
  return {
    hearFiles: (files, signal) => ask({ kind: 'files', files }, signal),
    async hearSamples({ samples, sampleRate }, signal) {
      const task: ToListener = { kind: 'samples', samples, sampleRate };
      const answer = await ask(task, signal, [samples.buffer]);
      return answer.kind === 'heard' ? answer.profile : undefined;
    },
    async close() {
      await worker.terminate();
    },
  };
}

interface Asking {
  readonly task: ToListener;
  readonly transferred: ArrayBuffer[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

function answerOf(worker: Worker, asking: Asking): Promise<FromListener> {
  const { task, transferred, signal, clock, timeoutMs } = asking;
  return new Promise<FromListener>((resolve, reject) => {
    const fail = (error: unknown): void => {
      stop();
      reject(error);
    };
    const take = (message: unknown): void => {
      if (!isFromListener(message)) return fail(new TypeError('The listener sent nonsense.'));
      stop();
      resolve(message);
    };
    const abort = (): void => fail(signal.reason);
    const end = (): void => fail(new Error('The listener ended.'));
    const stopWaiting = clock.after(timeoutMs, () => {
      fail(new Error(`Listening took longer than ${timeoutMs} ms.`));
    });
    const stop = (): void => {
      stopWaiting();
      signal.removeEventListener('abort', abort);
      worker.off('message', take).off('error', fail).off('exit', end).unref();
    };
    signal.addEventListener('abort', abort, { once: true });
    worker.on('message', take).on('error', fail).on('exit', end).ref();
    worker.postMessage(task, transferred);
  });
}

/** Listens to voices, one request at a time. */
export interface Listener {
  /**
   * What voice is heard in files; nothing where there is none. A file that cannot be used is told.
   * @throws Error when listening fails, or takes too long; the signal's reason once it is aborted
   */
  hearFiles(files: readonly OpenFile[], signal: AbortSignal): Promise<HeardFiles>;
  /** What voice these samples are of; nothing where none is heard. They are given away. */
  hearSamples(speech: Speech, signal: AbortSignal): Promise<VoiceProfile | undefined>;
  /** Ends it; nothing can be asked of it then. */
  close(): Promise<void>;
}

export interface Speech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

type HeardFiles =
  | { readonly kind: 'heard'; readonly profile: VoiceProfile | undefined }
  /** The file at this place cannot be used; the problem goes on behind its name. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string };

/** Begins to listen; each voice that is made has a listener of its own. */
export type OpenListener = () => Listener;

/** What is asked of the thread that listens, one thing at a time. */
export type ToListener =
  /** Of what voice these files are. */
  | { readonly kind: 'files'; readonly files: readonly OpenFile[] }
  /** Of what voice this is. */
  | { readonly kind: 'samples'; readonly samples: Float32Array; readonly sampleRate: number };

export type FromListener =
  /** No profile where no voice is heard. */
  | { readonly kind: 'heard'; readonly profile: VoiceProfile | undefined }
  /** The file at this place cannot be used. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string }
  | { readonly kind: 'failed'; readonly message: string };

function isFromListener(message: unknown): message is FromListener {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  return message.kind === 'heard' || message.kind === 'refused' || message.kind === 'failed';
}
