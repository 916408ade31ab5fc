import type { Clock } from '../../../effects/clock.ts';
import { EngineError } from '../speech-engine.ts';
import type { Pronounced, Spoken, ToThread } from './messages.ts';
import type { FlitePiece } from './synthesizer.ts';
import { SpeakingThread } from './speaking-thread.ts';

export interface ThreadPoolOptions {
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
