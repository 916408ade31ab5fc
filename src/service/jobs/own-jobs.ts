import type { Clock } from '../../effects/clock.ts';
import type { Ownership } from '../operations/ownership.ts';
import type { ServiceEvent } from '../running-service.ts';
import { closingError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { JobQueue } from './job-queue.ts';
import type { JobTable } from './left-jobs.ts';
import { findLeftJobs } from './left-jobs.ts';

export interface OwnJobsDeps {
  readonly clock: Clock;
  readonly ownership: Ownership;
  readonly store: Store;
  readonly report: (event: ServiceEvent) => void;
}

/** What differs from one kind of job to the other. */
export interface JobMatter {
  readonly table: JobTable;
  /** Works on one job to its end; once the signal is aborted it gives the job back. */
  readonly work: (jobId: string, signal: AbortSignal) => Promise<void>;
  /** Gives a job back, inside a transaction. Whether it has not ended. */
  readonly release: (db: Connection, jobId: string) => boolean;
}

/** One is worked on while the other is encoded or written. */
const WORKERS = 2;
const LOOK_EVERY_MS = 15_000;

/** The jobs that fall to this process: those it accepted, and those that others left behind. */
export class OwnJobs {
  readonly #deps: OwnJobsDeps;
  readonly #matter: JobMatter;
  readonly #queue: JobQueue;
  #stopLooking: (() => void) | undefined;

  constructor(deps: OwnJobsDeps, matter: JobMatter) {
    this.#deps = deps;
    this.#matter = matter;
    this.#queue = new JobQueue({
      clock: deps.clock,
      workers: WORKERS,
      work: (jobId, signal) => this.#work(jobId, signal),
      onFailure: (jobId, error) => this.#reportFailure(jobId, error),
    });
  }

  /** Takes up jobs whose process died, now and from time to time. */
  start(): void {
    const { clock, ownership, store } = this.#deps;
    const { table } = this.#matter;
    try {
      const left = store.read((db) => findLeftJobs(db, ownership.owner, table));
      for (const jobId of left) this.#queue.addFound(jobId);
    } catch (error) {
      this.#reportFailure(table, error);
    }
    this.#stopLooking = clock.after(LOOK_EVERY_MS, () => this.start());
  }

  /**
   * Asked before a job is accepted: its request may have been let in before this process began to close.
   * @throws ServiceError 503 when nobody here would work on it
   */
  requireOpen(): void {
    if (this.#queue.isClosed) throw closingError();
  }

  /** Has a job worked on that somebody waits for. */
  add(jobId: string): void {
    this.#queue.add(jobId);
  }

  /**
   * Finishes what was accepted or asked for here, for so long at most or until `hurry` is aborted, and
   * gives back what is left: the next process that opens the data goes on with it.
   */
  async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    const { report } = this.#deps;
    this.#stopLooking?.();
    const count = this.#queue.size;
    if (count > 0) report({ type: 'finishing-jobs', count });
    const left = await this.#queue.close(graceMs, hurry);
    const given = left.filter((jobId) => this.#giveBack(jobId));
    if (given.length > 0) report({ type: 'jobs-left', count: given.length });
  }

  async #work(jobId: string, signal: AbortSignal): Promise<void> {
    const letGo = this.#deps.ownership.hold();
    try {
      await this.#matter.work(jobId, signal);
    } finally {
      letGo();
    }
  }

  /** Gives whether it has not ended. What cannot be given back is found when this process is gone. */
  #giveBack(jobId: string): boolean {
    try {
      return this.#deps.store.write((db) => this.#matter.release(db, jobId));
    } catch (error) {
      this.#reportFailure(jobId, error);
      return true;
    }
  }

  #reportFailure(subject: string, error: unknown): void {
    this.#deps.report({ type: 'failure', requestId: subject, error });
  }
}
