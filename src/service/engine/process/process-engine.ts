import type { EngineRegistration } from '../../../contract/engine.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import {
  EngineError,
  type EngineRequest,
  type SpeechChunk,
  type SpeechEngine,
} from '../speech-engine.ts';
import { EngineProcess, type Speech } from './engine-process.ts';
import type { LaunchEngine } from './launch-engine.ts';

interface ProcessEngineOptions {
  /** The engine as it was added, with its voices. */
  readonly registration: EngineRegistration;
  readonly launch: LaunchEngine;
  /** The most processes, each of which speaks one request at a time; default 2. */
  readonly processes?: number;
  readonly clock?: Clock;
}

/**
 * Creates an engine that runs in processes of its own (docs/engines.md). Processes are started on demand, and ended after
 * five idle minutes. They keep this process alive only while they speak. The engine itself clamps speed and pitch.
 */
export function createProcessEngine(options: ProcessEngineOptions): SpeechEngine {
  const { registration, launch, processes = 2, clock = systemClock } = options;
  const start = (): EngineProcess => new EngineProcess(registration, launch, clock);
  const pool = new ProcessPool(processes, start, clock);
  return {
    name: registration.name,
    voices: registration.voices.map(({ name, pitch = false, words = false, ...voice }) => ({
      ...voice,
      name: name ?? voice.id,
      pitch,
      words,
    })),
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speak(pool, registration, request, signal),
    close: () => pool.close(),
  };
}

async function* speak(
  pool: ProcessPool,
  { name, voices }: EngineRegistration,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const added = voices.find(({ id }) => id === request.voice);
  if (added === undefined) {
    throw new EngineError('failed', `The engine ${name} has no voice ${request.voice}.`);
  }
  const { sampleRate } = added;
  const engine = await pool.take(signal);
  let speech: Speech | undefined;
  try {
    const greeting = await abortable(engine.ready, signal);
    const voice = greeting.voices.find(({ id }) => id === request.voice);
    if (voice?.sampleRate !== sampleRate) {
      throw new EngineError(
        'failed',
        `The engine ${name} has changed since it was added: its voice ${request.voice} is missing or has another sample rate. Add it again.`,
      );
    }
    speech = engine.speak(request, sampleRate);
    for (;;) {
      const next = await abortable(speech.next(), signal);
      if (next.done === true) return;
      yield next.value;
      signal.throwIfAborted();
    }
  } finally {
    void pool.giveBack(engine, speech);
  }
}

/** How long an idle process is kept. */
const IDLE_MS = 5 * 60_000;

/** The processes of one engine: started on demand, at most `limit`, and kept for a while. */
class ProcessPool {
  readonly #limit: number;
  readonly #start: () => EngineProcess;
  readonly #clock: Clock;
  readonly #all = new Set<EngineProcess>();
  /** The one that was used last is the last; each with a function that stops its timer. */
  readonly #idle = new Map<EngineProcess, () => void>();
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;

  constructor(limit: number, start: () => EngineProcess, clock: Clock) {
    this.#limit = limit;
    this.#start = start;
    this.#clock = clock;
  }

  /**
   * Takes a process for one request, which may still be starting; waits while all are busy.
   * @throws EngineError when none can be started, and the reason of the signal when it is aborted
   */
  async take(signal: AbortSignal): Promise<EngineProcess> {
    if (this.#isClosed) throw closed();
    const idle = [...this.#idle.keys()].findLast(({ isUsable }) => isUsable);
    if (idle !== undefined) return this.#use(idle);
    if (this.#all.size < this.#limit) return this.#use(this.#launch());
    return this.#wait(signal);
  }

  /** Gives a process back; cancels its speech first. */
  async giveBack(engine: EngineProcess, speech: Speech | undefined): Promise<void> {
    if (speech !== undefined) await engine.settle(speech);
    if (!engine.isUsable) return;
    const [next] = this.#waiting;
    if (next !== undefined) next.resolve(engine);
    else this.#park(engine);
  }

  /** Starts a process if there is none. Resolves when it is ready or has failed. */
  async warmUp(): Promise<void> {
    if (this.#isClosed || this.#all.size > 0) return;
    try {
      const engine = this.#launch();
      this.#park(engine);
      await engine.ready;
    } catch {
      // The first request will report it.
    }
  }

  /** Ends all processes; rejects waiting requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.reject(closed());
    await Promise.all([...this.#all].map((engine) => engine.end()));
  }

  #launch(): EngineProcess {
    const engine = this.#start();
    this.#all.add(engine);
    void engine.ended.then(() => this.#forget(engine));
    return engine;
  }

  #forget(engine: EngineProcess): void {
    this.#all.delete(engine);
    this.#idle.get(engine)?.();
    this.#idle.delete(engine);
    const [next] = this.#waiting;
    if (next === undefined) return;
    try {
      next.resolve(this.#launch());
    } catch (error) {
      next.reject(error);
    }
  }

  #use(engine: EngineProcess): EngineProcess {
    this.#idle.get(engine)?.();
    this.#idle.delete(engine);
    engine.keepAlive(true);
    return engine;
  }

  #park(engine: EngineProcess): void {
    engine.keepAlive(false);
    this.#idle.set(
      engine,
      this.#clock.after(IDLE_MS, () => void engine.end()),
    );
  }

  #wait(signal: AbortSignal): Promise<EngineProcess> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => waiting.reject(signal.reason);
      const waiting: Waiting = {
        resolve: (engine) => {
          leave();
          resolve(this.#use(engine));
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiting);
    });
  }
}

interface Waiting {
  resolve(engine: EngineProcess): void;
  reject(error: unknown): void;
}

function closed(): EngineError {
  return new EngineError('failed', 'The engine is closed.');
}
