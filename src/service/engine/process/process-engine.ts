import type { EngineRegistration } from '../../../contract/engine.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import {
  EngineError,
  type EngineRequest,
  type EngineVoice,
  type SpeechChunk,
  type SpeechEngine,
} from '../speech-engine.ts';
import { untilAborted } from './deadline.ts';
import { EngineProcess, type Speech } from './engine-process.ts';
import type { LaunchEngine } from './launch-engine.ts';

/** A voice of an engine process. */
export interface ProcessVoice extends EngineVoice {
  /** Name for people. */
  readonly name: string;
  readonly words: boolean;
}

export interface ProcessEngine extends SpeechEngine {
  readonly voices: readonly ProcessVoice[];
}

export interface ProcessEngineOptions {
  /** The engine as it was added; its voices are offered without asking it again. */
  readonly registration: EngineRegistration;
  /** How its process is started: `engineLauncher`. */
  readonly launch: LaunchEngine;
  /**
   * How many processes may run, and so how many requests be spoken, at the same time.
   * @default 2
   */
  readonly processes?: number;
  readonly clock?: Clock;
}

/**
 * An engine in processes of its own, which speak the protocol of docs/engines.md. A process is
 * started for the first request, speaks one at a time, and is ended when it has been idle for five
 * minutes. None keeps this process alive but while it speaks. Speed and pitch are limited by the
 * engine itself.
 */
export function createProcessEngine(options: ProcessEngineOptions): ProcessEngine {
  const { registration, launch, processes = 2, clock = systemClock } = options;
  const start = (): EngineProcess => new EngineProcess({ command: registration, launch, clock });
  const pool = new ProcessPool({ limit: processes, start, clock });
  return {
    name: registration.name,
    voices: registration.voices.map(({ name, pitch = false, words = false, ...voice }) => ({
      ...voice,
      name: name ?? voice.id,
      pitch,
      words,
    })),
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speak({ pool, registration }, request, signal),
    close: () => pool.close(),
  };
}

interface Speaker {
  readonly pool: ProcessPool;
  readonly registration: EngineRegistration;
}

async function* speak(
  { pool, registration }: Speaker,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const sampleRate = sampleRateOf(registration, request.voice);
  const engine = await pool.take(signal);
  let speech: Speech | undefined;
  try {
    const { voices } = await untilAborted(engine.ready, signal);
    const told = voices.find(({ id }) => id === request.voice);
    if (told?.sampleRate !== sampleRate) throw hasChanged(registration.name, request.voice);
    speech = engine.speak(request, sampleRate);
    for (;;) {
      const next = await untilAborted(speech.next(), signal);
      if (next.done === true) return;
      yield next.value;
      signal.throwIfAborted();
    }
  } finally {
    void pool.giveBack(engine, speech);
  }
}

function sampleRateOf({ name, voices }: EngineRegistration, id: string): number {
  const voice = voices.find((one) => one.id === id);
  if (voice === undefined)
    throw new EngineError('failed', `The engine ${name} has no voice ${id}.`);
  return voice.sampleRate;
}

function hasChanged(name: string, voice: string): EngineError {
  return new EngineError(
    'failed',
    `The engine ${name} is not what it was when it was added: its voice ${voice} is gone or has another sample rate. Add it again.`,
  );
}

/** An idle process is ended after this time; the next request starts another. */
export const IDLE_MS = 5 * 60_000;

export interface ProcessPoolOptions {
  /** How many processes may run at the same time. */
  readonly limit: number;
  readonly start: () => EngineProcess;
  readonly clock: Clock;
}

/** The processes of one engine: started when they are needed, at most `limit`, kept for a while. */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #all = new Set<EngineProcess>();
  /** The one that was used last is the last; each with what stops the end of its idleness. */
  readonly #idle = new Map<EngineProcess, () => void>();
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  /**
   * A process for one request, which may still be starting; waits while all are busy. Give it back.
   * @throws EngineError when none can be started, and the reason of the signal when it is aborted
   */
  async take(signal: AbortSignal): Promise<EngineProcess> {
    this.#refuseWhenClosed();
    const idle = [...this.#idle.keys()].findLast(({ isUsable }) => isUsable);
    if (idle !== undefined) return this.#use(idle);
    if (this.#all.size < this.#options.limit) return this.#use(this.#start());
    return this.#wait(signal);
  }

  /** Takes a process back; what it has not finished of the speech is stopped first. */
  async giveBack(engine: EngineProcess, speech: Speech | undefined): Promise<void> {
    if (speech !== undefined) await engine.settle(speech);
    if (!engine.isUsable) return;
    const [next] = this.#waiting;
    if (next !== undefined) next.resolve(engine);
    else this.#rest(engine);
  }

  /** Starts a process if none is there. Resolves when it is ready or has failed. */
  async warmUp(): Promise<void> {
    if (this.#isClosed || this.#all.size > 0) return;
    try {
      const engine = this.#start();
      this.#rest(engine);
      await engine.ready;
    } catch {
      // The first request will meet the same and tell.
    }
  }

  /** Ends all processes; who waits for one is told. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.reject(closed());
    await Promise.all([...this.#all].map((engine) => engine.end()));
  }

  #start(): EngineProcess {
    const engine = this.#options.start();
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
      next.resolve(this.#start());
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

  #rest(engine: EngineProcess): void {
    engine.keepAlive(false);
    this.#idle.set(
      engine,
      this.#options.clock.after(IDLE_MS, () => void engine.end()),
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

  #refuseWhenClosed(): void {
    if (this.#isClosed) throw closed();
  }
}

interface Waiting {
  resolve(engine: EngineProcess): void;
  reject(error: unknown): void;
}

function closed(): EngineError {
  return new EngineError('failed', 'The engine is closed.');
}
