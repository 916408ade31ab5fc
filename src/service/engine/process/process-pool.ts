import type { Clock } from '../../../effects/clock.ts';
import { EngineError } from '../speech-engine.ts';
import type { EngineProcess, Speech } from './engine-process.ts';

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
