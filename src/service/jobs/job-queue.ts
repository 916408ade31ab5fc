import type { Clock } from '../../effects/clock.ts';

export interface JobQueueOptions {
  /** Works on one job to its end; once the signal is aborted it gives the job back. */
  readonly work: (jobId: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  /** How many jobs are worked on at once. */
  readonly workers: number;
  readonly onFailure: (jobId: string, error: unknown) => void;
}

/** The jobs that this process has to do. */
export class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #wanted = new Set<string>();
  readonly #found = new Set<string>();
  readonly #running = new Set<string>();
  readonly #stop = new AbortController();
  #isClosed = false;
  #whenDone: (() => void) | undefined;

  constructor(options: JobQueueOptions) {
    this.#options = options;
  }

  /** How many jobs are worked on or waited for. */
  get size(): number {
    return this.#running.size + this.#wanted.size;
  }

  /** Takes in a job that somebody here waits for: first come, first served. */
  add(jobId: string): void {
    if (this.#isClosed || this.#running.has(jobId)) return;
    this.#found.delete(jobId);
    this.#wanted.add(jobId);
    this.#serve();
  }

  /** Takes in a job that was found; it comes after those that are waited for, and may be left. */
  addFound(jobId: string): void {
    if (this.#isClosed || this.#running.has(jobId) || this.#wanted.has(jobId)) return;
    this.#found.add(jobId);
    this.#serve();
  }

  /**
   * Waits until every job that is worked on or waited for has ended, for so long at most or until
   * `hurry` is aborted; then what is worked on is stopped. Gives the jobs that may not have ended.
   */
  async close(graceMs: number, hurry?: AbortSignal): Promise<readonly string[]> {
    this.#isClosed = true;
    const left = [...this.#found];
    this.#found.clear();
    const done = new Promise<void>((resolve) => {
      this.#whenDone = resolve;
    });
    const halt = (): void => {
      left.push(...this.#halt());
    };
    const cancel = this.#options.clock.after(graceMs, halt);
    hurry?.addEventListener('abort', halt, { once: true });
    if (hurry?.aborted === true) halt();
    this.#serve();
    await done;
    cancel();
    hurry?.removeEventListener('abort', halt);
    return left;
  }

  #serve(): void {
    while (this.#running.size < this.#options.workers) {
      const jobId = takeFirst(this.#wanted) ?? takeFirst(this.#found);
      if (jobId === undefined) break;
      this.#running.add(jobId);
      void this.#run(jobId);
    }
    if (this.size === 0) this.#whenDone?.();
  }

  async #run(jobId: string): Promise<void> {
    // Whoever brought it gets an answer first.
    await Promise.resolve();
    try {
      await this.#options.work(jobId, this.#stop.signal);
    } catch (error) {
      this.#options.onFailure(jobId, error);
    }
    this.#running.delete(jobId);
    this.#serve();
  }

  #halt(): readonly string[] {
    const left = [...this.#running, ...this.#wanted];
    this.#wanted.clear();
    this.#stop.abort(new Error('the service is closing'));
    this.#serve();
    return left;
  }
}

function takeFirst(jobIds: Set<string>): string | undefined {
  const [first] = jobIds;
  if (first !== undefined) jobIds.delete(first);
  return first;
}
