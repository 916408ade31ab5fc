import { Worker } from 'node:worker_threads';
import { isFromThread, type Pronounced, type Spoken, type ToThread } from './messages.ts';

/**
 * A worker thread that does one task at a time. It keeps the process alive only while it does;
 * when it ends, for whatever reason, it is of no more use.
 */
export class SpeakingThread {
  /** Resolves when it has flite compiled, or has ended before that. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  #pending: Pending | undefined;
  #hasEnded = false;

  /** @param workerFile the bundled `worker.ts` */
  constructor(workerFile: string | URL) {
    this.#worker = new Worker(workerFile, { name: 'flite', resourceLimits: RESOURCE_LIMITS });
    this.ready = new Promise((resolve) => {
      this.#worker.once('message', () => resolve());
      this.#worker.once('exit', () => resolve());
    });
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.on('messageerror', (error) => this.#fail(error));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('The speech thread ended.')));
    // Last: listening for messages keeps the process alive again.
    this.#worker.unref();
  }

  get isIdle(): boolean {
    return this.#pending === undefined && !this.#hasEnded;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Only when it is idle. Rejects with what went wrong in flite or with the thread. */
  work(task: ToThread): Promise<Spoken | Pronounced> {
    return new Promise((resolve, reject) => {
      this.#pending = { kind: KINDS[task.kind], resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(task, []);
    });
  }

  /** Ends it; a task that it is at fails with the reason. */
  async end(reason: Error): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
  }

  #receive(message: unknown): void {
    if (!isFromThread(message)) this.#fail(new TypeError('The speech thread sent nonsense.'));
    else if (message.kind === 'failed') this.#fail(new Error(message.message));
    else if (message.kind === this.#pending?.kind) this.#settle()?.resolve(message);
    else if (message.kind !== 'ready')
      this.#fail(new TypeError('The speech thread did not listen.'));
  }

  #end(error: unknown): void {
    this.#hasEnded = true;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#settle()?.reject(error);
  }

  #settle(): Pending | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    // Whoever waits for its end would wait in vain in a process that has ended before it.
    if (!this.#hasEnded) this.#worker.unref();
    return pending;
  }
}

interface Pending {
  /** What it waits for. */
  readonly kind: 'spoken' | 'pronounced';
  readonly resolve: (answer: Spoken | Pronounced) => void;
  readonly reject: (error: unknown) => void;
}

/** Of the script's own memory; that of WebAssembly and of sample buffers is not counted. */
const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 4,
};

/** What each task is answered with. */
const KINDS = { speak: 'spoken', pronounce: 'pronounced' } as const;
