import { Worker } from 'node:worker_threads';
import type { Clock } from '../../system/clock.ts';
import { EngineError } from './speech-engine.ts';

interface PoolThreadOptions<Result> {
  /** Path or URL of the script that the threads run. It sends `ready`, then `done` or `failed` for each task. */
  readonly workerFile: string | URL;
  /** Name of the threads. */
  readonly name: string;
  readonly isResult: (message: unknown) => message is Result;
}

interface ThreadPoolOptions<Result> extends PoolThreadOptions<Result> {
  /** Maximum number of threads. */
  readonly threads: number;
  /** Timeout of one task in milliseconds. If a task takes longer, its thread is terminated. */
  readonly pieceTimeoutMs: number;
  readonly clock: Clock;
  /** Called when a thread is started after one ended unexpectedly. */
  readonly onRestart?: (() => void) | undefined;
}

/** A task that waits for a thread or runs in one. */
export interface Ticket<Result> {
  /** Rejects with an EngineError if the task fails. */
  result(): Promise<Result>;
  /** Removes the task if it has not started. */
  drop(): void;
}

/** Who waits for a task, and whether it is the first of an interactive request. */
export interface TaskRank {
  readonly client: string;
  readonly isFirst: boolean;
}

const FIRSTS_IN_A_ROW = 4;

/**
 * Runs tasks in worker threads, one task per thread at a time. The first pieces of requests run before later pieces. Among
 * equal pieces, the account that was served longest ago is next.
 */
export class ThreadPool<Task, Result> {
  readonly #options: ThreadPoolOptions<Result>;
  readonly #awaited: PooledTask<Task, Result>[] = [];
  readonly #ahead: PooledTask<Task, Result>[] = [];
  #firstsInARow = 0;
  readonly #served = new Set<string>();
  #threads: SpeakingThread<Task, Result>[] = [];
  // Threads that ended unexpectedly and have no successor yet.
  #lost = 0;
  #isClosed = false;

  constructor(options: ThreadPoolOptions<Result>) {
    this.#options = options;
  }

  /** Starts a thread. Resolves when it is ready. */
  async warmUp(): Promise<void> {
    if (this.#isClosed) return;
    const [thread = this.#start()] = this.#living();
    await thread.ready;
  }

  enqueue(task: Task, rank: TaskRank): Ticket<Result> {
    const entry = new PooledTask<Task, Result>(task, rank);
    if (this.#isClosed) entry.reject(new EngineError('failed', 'The speech engine is closed.'));
    else this.#ahead.push(entry);
    this.#dispatch();
    return {
      result: async () => {
        if (remove(entry, this.#ahead)) this.#awaited.push(entry);
        return entry.result;
      },
      drop: () => {
        remove(entry, this.#ahead);
        remove(entry, this.#awaited);
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reason = new EngineError('failed', 'The speech engine is closed.');
    const waiting = [...this.#awaited.splice(0), ...this.#ahead.splice(0)];
    for (const entry of waiting) entry.reject(reason);
    await Promise.all(this.#threads.map((thread) => thread.end(reason)));
  }

  #dispatch(): void {
    while (this.#awaited.length + this.#ahead.length > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      if (this.#awaited.length === 0) this.#served.clear();
      const entry = this.#nextAwaited() ?? this.#ahead.shift();
      if (entry === undefined) return;
      this.#served.delete(entry.rank.client);
      this.#served.add(entry.rank.client);
      void this.#run(thread, entry);
    }
  }

  #nextAwaited(): PooledTask<Task, Result> | undefined {
    const firsts = this.#awaited.filter(({ rank }) => rank.isFirst);
    const later = this.#awaited.filter(({ rank }) => !rank.isFirst);
    // Later pieces of long texts must not wait forever.
    const mustYield = this.#firstsInARow >= FIRSTS_IN_A_ROW && later.length > 0;
    const isFirst = firsts.length > 0 && !mustYield;
    const order = [...this.#served];
    const turnOf = ({ rank }: PooledTask<Task, Result>): number => order.indexOf(rank.client);
    const [entry] = (isFirst ? firsts : later).toSorted((a, b) => turnOf(a) - turnOf(b));
    if (entry === undefined) return undefined;
    remove(entry, this.#awaited);
    this.#firstsInARow = isFirst ? this.#firstsInARow + 1 : 0;
    return entry;
  }

  #freeThread(): SpeakingThread<Task, Result> | undefined {
    const living = this.#living();
    const free = living.find((thread) => thread.isIdle);
    return free ?? (living.length < this.#options.threads ? this.#start() : undefined);
  }

  async #run(thread: SpeakingThread<Task, Result>, entry: PooledTask<Task, Result>): Promise<void> {
    const { clock, pieceTimeoutMs } = this.#options;
    const stopTimer = clock.after(pieceTimeoutMs, () => {
      void thread.end(new Error(`A piece of the text took longer than ${pieceTimeoutMs} ms.`));
    });
    try {
      entry.resolve(await thread.work(entry.task));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      entry.reject(
        error instanceof EngineError
          ? error
          : new EngineError('failed', `The speech engine failed: ${message}`, error),
      );
    } finally {
      stopTimer();
      this.#dispatch();
    }
  }

  #start(): SpeakingThread<Task, Result> {
    const thread = new SpeakingThread<Task, Result>(this.#options);
    if (this.#lost > 0) {
      this.#lost -= 1;
      this.#options.onRestart?.();
    }
    this.#threads.push(thread);
    return thread;
  }

  #living(): SpeakingThread<Task, Result>[] {
    const living = this.#threads.filter((thread) => !thread.hasEnded);
    this.#lost += this.#threads.length - living.length;
    this.#threads = living;
    return living;
  }
}

class PooledTask<Task, Result> {
  readonly task: Task;
  readonly rank: TaskRank;
  readonly result: Promise<Result>;
  resolve: (result: Result) => void = () => {};
  reject: (error: EngineError) => void = () => {};

  constructor(task: Task, rank: TaskRank) {
    this.task = task;
    this.rank = rank;
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A task may fail before it has a consumer.
    this.result.catch(() => {});
  }
}

function remove<T>(entry: T, queue: T[]): boolean {
  const index = queue.indexOf(entry);
  if (index >= 0) queue.splice(index, 1);
  return index >= 0;
}

/** A worker thread that runs one task at a time. An idle thread does not keep the process alive. */
export class SpeakingThread<Task, Result> {
  readonly #isResult: (message: unknown) => message is Result;
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  #pending: Pending<Result> | undefined;
  #hasEnded = false;

  constructor({ isResult, name, workerFile }: PoolThreadOptions<Result>) {
    this.#isResult = isResult;
    this.#worker = new Worker(workerFile, { name, resourceLimits: RESOURCE_LIMITS });
    this.ready = new Promise((resolve) => {
      this.#worker.once('message', () => resolve());
      this.#worker.once('exit', () => resolve());
    });
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.on('messageerror', (error) => this.#fail(error));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('The speech thread ended unexpectedly.')));
    // Last: adding a message listener refs the worker again.
    this.#worker.unref();
  }

  get isIdle(): boolean {
    return this.#pending === undefined && !this.#hasEnded;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a task; the thread must be idle. Rejects with the error if the task or the thread fails. */
  work(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(task, []);
    });
  }

  /** Terminates the thread. A running task fails with `reason`. */
  async end(reason: Error): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('kind' in message)) {
      this.#fail(new TypeError('The speech thread sent an invalid message.'));
    } else if (message.kind === 'failed') {
      this.#fail(new Error('message' in message ? String(message.message) : ''));
    } else if (message.kind === 'done') {
      if (this.#isResult(message)) this.#settle()?.resolve(message);
      else this.#fail(new TypeError('The speech thread sent an invalid message.'));
    }
  }

  #end(error: unknown): void {
    this.#hasEnded = true;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#settle()?.reject(error);
  }

  #settle(): Pending<Result> | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    // While the thread is being terminated, the process must stay alive for `end` to resolve.
    if (!this.#hasEnded) this.#worker.unref();
    return pending;
  }
}

interface Pending<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 4,
};
