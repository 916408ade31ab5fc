import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../effects/clock.ts';
import { systemClock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import { readingRegion } from '../../../text/reading/english.ts';
import { endsParagraph } from '../../../text/sentences.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine, WordMark } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { SpeakablePiece, WrittenWord } from './speakable-text.ts';
import { speakablePieces, unspokenLetters } from './speakable-text.ts';
import { FLITE_VOICES } from './voices.ts';
import type { TimedSound } from './word-marks.ts';
import { wordMarks } from './word-marks.ts';
import type { FlitePiece } from './synthesizer.ts';

export interface FliteEngineOptions {
  /** Path or URL of the script that the worker threads run: the bundled `worker.ts`. */
  readonly workerFile: string | URL;
  /** Maximum number of threads, default 1. Each thread speaks one sentence or clause at a time. */
  readonly threads?: number;
  /** Timeout of one task in milliseconds, default 60,000. If a task takes longer, its thread is terminated. */
  readonly pieceTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Creates the flite engine, which speaks English in worker threads. Its output is deterministic. Limits the speed to
 * 0.25 to 4, and the median pitch to 60 to 400 Hz; the voice `rms` has a fixed pitch. Splits the text into sentences,
 * and sentences of more than 240 characters into clauses.
 */
export function createFliteEngine({
  workerFile,
  threads = 1,
  pieceTimeoutMs = 60_000,
  clock = systemClock,
}: FliteEngineOptions): SpeechEngine {
  const pool = new ThreadPool({ workerFile, threads, pieceTimeoutMs, clock });
  return {
    name: 'flite',
    voices: FLITE_VOICES,
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speakPieces(pool, request, signal),
    unspoken({ text, textNormalization, voice }) {
      const { language = '' } = FLITE_VOICES.find(({ id }) => id === voice) ?? {};
      return unspokenLetters(
        text,
        textNormalization === false ? undefined : readingRegion(language),
      );
    },
    close: () => pool.close(),
  };
}

async function* speakPieces(
  pool: ThreadPool,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const voice = FLITE_VOICES.find(({ id }) => id === request.voice);
  if (voice === undefined) {
    throw new EngineError('failed', `The engine flite has no voice ${request.voice}.`);
  }
  const { sampleRate } = voice;
  const region = request.textNormalization === false ? undefined : readingRegion(voice.language);
  const pieces = speakablePieces(request.text, region);
  const startNext = (isFirst: boolean): Task | undefined => {
    const { value: piece } = pieces.next();
    if (piece === undefined) return undefined;
    return startTask(pool, request, piece, { client: request.client ?? '', isFirst });
  };
  let current: Task | undefined;
  let ahead = startNext(request.isInteractive === true);
  let offsetMs = 0;
  if (ahead === undefined) {
    throw new EngineError(
      'unspeakable',
      'The text has no Latin letter and no digit, so an English voice cannot speak it.',
    );
  }
  try {
    while (ahead !== undefined) {
      current = ahead;
      ahead = startNext(false);
      const { start, end } = current.piece;
      const { samples: spoken, sounds } = await abortable(current.speech.result(), signal);
      const isLastOfParagraph =
        ahead === undefined ? endsParagraph(request.text) : ahead.piece.beginsParagraph;
      const samples = isLastOfParagraph
        ? withParagraphPause(spoken, sampleRate, request.speed)
        : spoken;
      yield { samples, sampleRate, span: { start, end } };
      signal.throwIfAborted();
      const words = await abortable(wordsOf(current, sounds, offsetMs), signal);
      if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
      offsetMs += (samples.length * 1000) / sampleRate;
    }
  } finally {
    for (const task of [current, ahead]) {
      task?.speech.drop();
      task?.timing?.pronounced.drop();
    }
  }
}

const PARAGRAPH_PAUSE_SECONDS = 0.6;
const SILENCE_LEVEL = 10 ** (-50 / 20);

function withParagraphPause(
  samples: Float32Array,
  sampleRate: number,
  speed: number,
): Float32Array {
  const wanted = Math.round((PARAGRAPH_PAUSE_SECONDS * sampleRate) / Math.min(1, speed));
  const end = samples.findLastIndex((sample) => Math.abs(sample) >= SILENCE_LEVEL) + 1;
  const extended = new Float32Array(Math.max(samples.length, end + wanted));
  extended.set(samples);
  return extended;
}

interface Task {
  readonly piece: SpeakablePiece;
  readonly speech: Ticket;
  readonly timing:
    | { readonly words: readonly WrittenWord[]; readonly pronounced: Ticket }
    | undefined;
}

function startTask(
  pool: ThreadPool,
  request: EngineRequest,
  piece: SpeakablePiece,
  rank: TaskRank,
): Task {
  const speech = pool.enqueue({ ...request, kind: 'speak', text: piece.text }, rank);
  if (request.isTimed !== true) return { piece, speech, timing: undefined };
  const words = piece.words();
  const tokens = words.flatMap((word) => word.tokens);
  return {
    piece,
    speech,
    timing: { words, pronounced: pool.enqueue({ kind: 'pronounce', tokens }, rank) },
  };
}

async function wordsOf(
  { piece, timing }: Task,
  sounds: readonly TimedSound[],
  offsetMs: number,
): Promise<readonly WordMark[]> {
  if (timing === undefined) return [];
  const { words, pronounced } = timing;
  try {
    const { tokens } = await pronounced.result();
    return wordMarks({ piece, words, sounds, tokens, offsetMs });
  } catch {
    return [];
  }
}

interface Ticket {
  result(): Promise<TaskResult>;
  drop(): void;
}

interface TaskRank {
  readonly client: string;
  readonly isFirst: boolean;
}

const FIRSTS_IN_A_ROW = 4;

// First pieces of requests run before later pieces. Among equal pieces, the account that was served longest ago is
// next.
class ThreadPool {
  readonly #options: Required<FliteEngineOptions>;
  readonly #awaited: Entry[] = [];
  readonly #ahead: Entry[] = [];
  #firstsInARow = 0;
  readonly #served = new Set<string>();
  #threads: SpeakingThread[] = [];
  #isClosed = false;

  constructor(options: Required<FliteEngineOptions>) {
    this.#options = options;
  }

  async warmUp(): Promise<void> {
    if (this.#isClosed) return;
    const [thread = this.#start()] = this.#living();
    await thread.ready;
  }

  enqueue(task: ToThread, rank: TaskRank): Ticket {
    const entry = new Entry(task, rank);
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

  #nextAwaited(): Entry | undefined {
    const firsts = this.#awaited.filter(({ rank }) => rank.isFirst);
    const later = this.#awaited.filter(({ rank }) => !rank.isFirst);
    // Later pieces of long texts must not wait forever.
    const mustYield = this.#firstsInARow >= FIRSTS_IN_A_ROW && later.length > 0;
    const isFirst = firsts.length > 0 && !mustYield;
    const order = [...this.#served];
    const turnOf = ({ rank }: Entry): number => order.indexOf(rank.client);
    const [entry] = (isFirst ? firsts : later).toSorted((a, b) => turnOf(a) - turnOf(b));
    if (entry === undefined) return undefined;
    remove(entry, this.#awaited);
    this.#firstsInARow = isFirst ? this.#firstsInARow + 1 : 0;
    return entry;
  }

  #freeThread(): SpeakingThread | undefined {
    const living = this.#living();
    const free = living.find((thread) => thread.isIdle);
    return free ?? (living.length < this.#options.threads ? this.#start() : undefined);
  }

  async #run(thread: SpeakingThread, entry: Entry): Promise<void> {
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
  readonly result: Promise<TaskResult>;
  resolve: (result: TaskResult) => void = () => {};
  reject: (error: EngineError) => void = () => {};

  constructor(task: ToThread, rank: TaskRank) {
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

function remove(entry: Entry, queue: Entry[]): boolean {
  const index = queue.indexOf(entry);
  if (index >= 0) queue.splice(index, 1);
  return index >= 0;
}

/** A worker thread that runs one task at a time. An idle thread does not keep the process alive. */
export class SpeakingThread {
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  #pending: Pending | undefined;
  #hasEnded = false;

  constructor(workerFile: string | URL) {
    this.#worker = new Worker(workerFile, { name: 'flite', resourceLimits: RESOURCE_LIMITS });
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

  /** Runs a task; the thread must be idle. Rejects with the error if flite or the thread fails. */
  work(task: ToThread): Promise<TaskResult> {
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
    if (!isFromThread(message))
      this.#fail(new TypeError('The speech thread sent an invalid message.'));
    else if (message.kind === 'failed') this.#fail(new Error(message.message));
    else if (message.kind === 'done') this.#settle()?.resolve(message);
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
    // While the thread is being terminated, the process must stay alive for `end` to resolve.
    if (!this.#hasEnded) this.#worker.unref();
    return pending;
  }
}

interface Pending {
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: unknown) => void;
}

const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 4,
};

export type ToThread =
  | ({ readonly kind: 'speak' } & FlitePiece)
  | { readonly kind: 'pronounce'; readonly tokens: readonly string[] };

export type FromThread =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'done' } & TaskResult)
  | { readonly kind: 'failed'; readonly message: string };

interface TaskResult {
  readonly samples: Float32Array;
  readonly sounds: readonly TimedSound[];
  readonly tokens: readonly (readonly string[])[];
}

function isFromThread(message: unknown): message is FromThread {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  switch (message.kind) {
    case 'ready':
      return true;
    case 'done':
      return (
        'samples' in message &&
        message.samples instanceof Float32Array &&
        'sounds' in message &&
        Array.isArray(message.sounds) &&
        'tokens' in message &&
        Array.isArray(message.tokens)
      );
    case 'failed':
      return 'message' in message && typeof message.message === 'string';
    default:
      return false;
  }
}
