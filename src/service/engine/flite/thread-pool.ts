import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../effects/clock.ts';
import { EngineError } from '../speech-engine.ts';
import type { TimedSound } from './word-marks.ts';
import type { FlitePiece } from './synthesizer.ts';

interface ThreadPoolOptions {
  readonly workerFile: string | URL;
  /** How many threads it may have; it starts each when no other is free. */
  readonly threads: number;
  /** A thread that takes longer than this for one piece is given up. */
  readonly pieceTimeoutMs: number;
  readonly clock: Clock;
}

/** A task in the pool. */
export interface Ticket<Answer> {
  /** What comes of it; from now on it goes before tasks that nobody waits for yet. */
  answer(): Promise<Answer>;
  /** Nobody wants it any more: if no thread has begun it, none will. */
  drop(): void;
}

/** Which tasks go before which. */
export interface TaskRank {
  /** Whose it is; among tasks that are awaited, clients take turns. */
  readonly client: string;
  /** Whether it is the first of a request that somebody listens to. */
  readonly isFirst: boolean;
}

/** So many first pieces may go before a later one that waits: they would keep it waiting for ever. */
const FIRSTS_IN_A_ROW = 4;

/**
 * Threads that speak pieces. A request has at most two pieces here, one that it waits for and one
 * made ahead, each with its pronunciations if they are asked for. First pieces go before later ones;
 * among either the client served longest ago goes first, and of its pieces the oldest.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  /** Tasks that somebody waits for, since the longest first; then those done ahead. */
  readonly #awaited: Entry[] = [];
  readonly #ahead: Entry[] = [];
  #firstsInARow = 0;
  /** The clients that were served last, the latest at the end. */
  readonly #served = new Set<string>();
  #threads: SpeakingThread[] = [];
  #isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Starts one thread unless there is one; resolves when that is ready or has failed. */
  async warmUp(): Promise<void> {
    if (this.#isClosed) return;
    const [thread = this.#start()] = this.#living();
    await thread.ready;
  }

  /** Speaks a piece. */
  speak(piece: FlitePiece, rank: TaskRank): Ticket<Spoken> {
    return this.#take({ kind: 'speak', ...piece }, rank, (answer) =>
      answer.kind === 'spoken' ? answer : undefined,
    );
  }

  /** How each of the tokens sounds alone. */
  pronounce(tokens: readonly string[], rank: TaskRank): Ticket<Pronounced> {
    return this.#take({ kind: 'pronounce', tokens }, rank, (answer) =>
      answer.kind === 'pronounced' ? answer : undefined,
    );
  }

  #take<Answer>(
    task: ToThread,
    rank: TaskRank,
    read: (answer: Spoken | Pronounced) => Answer | undefined,
  ): Ticket<Answer> {
    const entry = new Entry(task, rank);
    if (this.#isClosed) entry.reject(new EngineError('failed', 'The speech engine is closed.'));
    else this.#ahead.push(entry);
    this.#serve();
    return {
      answer: async () => {
        if (remove(entry, this.#ahead)) this.#awaited.push(entry);
        const answer = read(await entry.result);
        if (answer === undefined) throw new TypeError('The speech thread answered another task.');
        return answer;
      },
      drop: () => {
        remove(entry, this.#ahead);
        remove(entry, this.#awaited);
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reason = new EngineError('failed', 'The speech engine was closed.');
    const waiting = [...this.#awaited.splice(0), ...this.#ahead.splice(0)];
    for (const entry of waiting) entry.reject(reason);
    await Promise.all(this.#threads.map((thread) => thread.end(reason)));
  }

  #serve(): void {
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

  #nextAwaited(): Entry | undefined {
    const firsts = this.#awaited.filter(({ rank }) => rank.isFirst);
    const later = this.#awaited.filter(({ rank }) => !rank.isFirst);
    const isTurnOfLater = this.#firstsInARow >= FIRSTS_IN_A_ROW && later.length > 0;
    const isFirst = firsts.length > 0 && !isTurnOfLater;
    const entry = this.#inTurn(isFirst ? firsts : later);
    if (entry === undefined) return undefined;
    remove(entry, this.#awaited);
    this.#firstsInARow = isFirst ? this.#firstsInARow + 1 : 0;
    return entry;
  }

  /** The oldest entry of the client that was served longest ago, or never. */
  #inTurn(entries: readonly Entry[]): Entry | undefined {
    const order = [...this.#served];
    const turnOf = ({ rank }: Entry): number => order.indexOf(rank.client);
    return entries.toSorted((a, b) => turnOf(a) - turnOf(b))[0];
  }

  #freeThread(): SpeakingThread | undefined {
    const living = this.#living();
    const free = living.find((thread) => thread.isIdle);
    return free ?? (living.length < this.#options.threads ? this.#start() : undefined);
  }

  async #run(thread: SpeakingThread, entry: Entry): Promise<void> {
    const { clock, pieceTimeoutMs } = this.#options;
    const stopWaiting = clock.after(pieceTimeoutMs, () => {
      void thread.end(new Error(`A piece took longer than ${pieceTimeoutMs} ms.`));
    });
    try {
      entry.resolve(await thread.work(entry.task));
    } catch (error) {
      entry.reject(asEngineError(error));
    } finally {
      stopWaiting();
      this.#serve();
    }
  }

  #start(): SpeakingThread {
    const thread = new SpeakingThread(this.#options.workerFile);
    this.#threads.push(thread);
    return thread;
  }

  #living(): SpeakingThread[] {
    this.#threads = this.#threads.filter((thread) => !thread.hasEnded);
    return this.#threads;
  }
}

class Entry {
  readonly task: ToThread;
  readonly rank: TaskRank;
  readonly result: Promise<Spoken | Pronounced>;
  resolve: (answer: Spoken | Pronounced) => void = () => {};
  reject: (error: EngineError) => void = () => {};

  constructor(task: ToThread, rank: TaskRank) {
    this.task = task;
    this.rank = rank;
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A piece made ahead may fail with nobody waiting for it.
    this.result.catch(() => {});
  }
}

/** @returns whether it was there */
function remove(entry: Entry, queue: Entry[]): boolean {
  const index = queue.indexOf(entry);
  if (index >= 0) queue.splice(index, 1);
  return index >= 0;
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError('failed', `The speech engine failed: ${message}`, error);
}

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

/** What passes between the service and a speaking thread. A thread has one task at a time. */
export type ToThread =
  | ({ readonly kind: 'speak' } & FlitePiece)
  /** How each of these sounds alone. */
  | { readonly kind: 'pronounce'; readonly tokens: readonly string[] };

export type FromThread =
  | { readonly kind: 'ready' }
  | Spoken
  | Pronounced
  | { readonly kind: 'failed'; readonly message: string };

export interface Spoken {
  readonly kind: 'spoken';
  readonly samples: Float32Array;
  /** Nothing unless the piece is timed. */
  readonly sounds: readonly TimedSound[];
}

export interface Pronounced {
  readonly kind: 'pronounced';
  /** Names of the sounds of each token; none for what is not said. */
  readonly tokens: readonly (readonly string[])[];
}

function isFromThread(message: unknown): message is FromThread {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  switch (message.kind) {
    case 'ready':
      return true;
    case 'spoken':
      return 'samples' in message && message.samples instanceof Float32Array && hasSounds(message);
    case 'pronounced':
      return 'tokens' in message && Array.isArray(message.tokens);
    case 'failed':
      return 'message' in message && typeof message.message === 'string';
    default:
      return false;
  }
}

function hasSounds(message: object): boolean {
  return 'sounds' in message && Array.isArray(message.sounds);
}
