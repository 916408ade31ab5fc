import type { Clock } from '../../effects/clock.ts';
import type { Ownership } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import { closingError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { JobQueue } from './job-queue.ts';
import type { JobTable, OwnJob } from './left-jobs.ts';
import { findLeftJobs } from './left-jobs.ts';

export interface OwnJobsDeps {
  readonly clock: Clock;
  readonly ownership: Ownership;
  readonly store: Store;
  readonly report: (event: ServiceEvent) => void;
}

/** Jobs that wait for one another, and for none of another lane. */
export interface JobLane {
  /** How many of them are worked on at once. */
  readonly workers: number;
}

/** What differs from one sort of job to the other. */
export interface JobMatter {
  readonly table: JobTable;
  /** The lane of every kind of job; kinds may share one. */
  readonly lanes: Readonly<Record<string, JobLane>>;
  /** Works on one job to its end; once the signal is aborted it gives the job back. */
  readonly work: (jobId: string, signal: AbortSignal) => Promise<void>;
  /** Gives a job back, inside a transaction. Whether it has not ended. */
  readonly release: (db: Connection, jobId: string) => boolean;
}

const LOOK_EVERY_MS = 15_000;

/** The jobs that fall to this process: those it accepted, and those that others left behind. */
export class OwnJobs {
  readonly #deps: OwnJobsDeps;
  readonly #matter: JobMatter;
  readonly #queues: ReadonlyMap<JobLane, JobQueue>;
  #isClosed = false;
  #stopLooking: (() => void) | undefined;

  constructor(deps: OwnJobsDeps, matter: JobMatter) {
    this.#deps = deps;
    this.#matter = matter;
    const lanes = Object.values(matter.lanes);
    this.#queues = new Map(lanes.map((lane) => [lane, this.#openQueue(lane)]));
  }

  /** Takes up jobs whose process died, now and from time to time. */
  start(): void {
    const { clock, ownership, store } = this.#deps;
    const { table } = this.#matter;
    try {
      const left = store.read((db) => findLeftJobs(db, ownership.owner, table));
      for (const job of left) this.#queueOf(job).addFound(job.id);
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
    if (this.#isClosed) throw closingError();
  }

  /** Has a job worked on that somebody waits for. */
  add(job: OwnJob): void {
    this.#queueOf(job).add(job.id);
  }

  /**
   * Has a job worked on that was accepted here. One that came when this process had begun to close is
   * given back at once, for the next.
   */
  addAccepted(job: OwnJob): void {
    if (!this.#isClosed) this.add(job);
    else if (this.#giveBack(job.id)) this.#deps.report({ type: 'jobs-left', count: 1 });
  }

  /**
   * Finishes what was accepted or asked for here, for so long at most or until `hurry` is aborted, and
   * gives back what is left: the next process that opens the data goes on with it.
   */
  async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    const { report } = this.#deps;
    this.#isClosed = true;
    this.#stopLooking?.();
    const queues = [...this.#queues.values()];
    const count = queues.reduce((sum, { size }) => sum + size, 0);
    if (count > 0) report({ type: 'finishing-jobs', count });
    const left = await Promise.all(queues.map((queue) => queue.close(graceMs, hurry)));
    const given = left.flat().filter((jobId) => this.#giveBack(jobId));
    if (given.length > 0) report({ type: 'jobs-left', count: given.length });
  }

  #openQueue({ workers }: JobLane): JobQueue {
    return new JobQueue({
      clock: this.#deps.clock,
      workers,
      work: (jobId, signal) => this.#work(jobId, signal),
      onFailure: (jobId, error) => this.#reportFailure(jobId, error),
    });
  }

  #queueOf({ id, kind }: OwnJob): JobQueue {
    const lane = this.#matter.lanes[kind];
    const queue = lane === undefined ? undefined : this.#queues.get(lane);
    if (queue === undefined) throw new TypeError(`job ${id} is of the unknown kind ${kind}`);
    return queue;
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
