import type { Clock } from '../../system/clock.ts';
import type { Owner, Ownership } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import { closingError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { JobKind, JobRecord } from './job-records.ts';
import { listUnfinishedJobs } from './job-records.ts';

interface JobSchedulerDeps {
  readonly clock: Clock;
  readonly ownership: Ownership;
  readonly store: Store;
  readonly report: (event: ServiceEvent) => void;
  /** The number of requests that the engines of the service speak at once. */
  readonly maxConcurrent: number;
}

// Each lane has its own queue and workers, so that slow jobs do not delay jobs of other lanes.
type Lane = 'speech' | 'sound' | 'image' | 'video';

const LANE_OF: Readonly<Record<JobKind, Lane>> = {
  speech: 'speech',
  lip_sync: 'sound',
  video_dubbing: 'sound',
  image: 'image',
  video: 'video',
};

// With two workers, one job is generated while the other is encoded. Two images or videos at once would need up to a
// gigabyte and would not finish sooner.
const WORKERS: Readonly<Record<Lane, number>> = { speech: 2, sound: 2, image: 1, video: 1 };

const RESCAN_MS = 15_000;

/** Runs the jobs that this process accepted, and unfinished jobs of dead processes. */
export abstract class JobScheduler {
  readonly #deps: JobSchedulerDeps;
  readonly #queues: Readonly<Record<Lane, JobQueue>>;
  // Why jobs stopped unfinished, for example because their results could not be stored.
  readonly #failures = new Map<string, { readonly error: unknown }>();
  #isClosed = false;
  #stopScanning: (() => void) | undefined;

  constructor(deps: JobSchedulerDeps) {
    this.#deps = deps;
    const open = (lane: Lane): JobQueue => this.#openQueue(WORKERS[lane]);
    this.#queues = {
      // Servers that speak elsewhere are kept busy.
      speech: this.#openQueue(Math.max(WORKERS.speech, deps.maxConcurrent)),
      sound: open('sound'),
      image: open('image'),
      video: open('video'),
    };
  }

  protected abstract work(jobId: string, signal: AbortSignal): Promise<void>;

  /**
   * Ends this process's ownership of a job, so that another process can continue the job. Runs in the caller's
   * transaction. Returns false if the job has ended.
   */
  protected abstract release(db: Connection, jobId: string): boolean;

  /** Queues the unfinished jobs of dead processes, now and every 15 seconds. */
  start(): void {
    const { clock, ownership, store } = this.#deps;
    try {
      const orphaned = store.read((db) => findOrphanedJobs(db, ownership.owner));
      for (const job of orphaned) this.#queueOf(job).addFound(job.id);
    } catch (error) {
      this.#reportFailure('job', error);
    }
    this.#stopScanning = clock.after(RESCAN_MS, () => this.start());
  }

  /** Checks that the service still accepts jobs. @throws ServiceError 503 if the service is closing */
  requireOpen(): void {
    if (this.#isClosed) throw closingError();
  }

  /** Queues a job for which a client waits. It runs before jobs that ended processes left behind. */
  add(job: JobRecord): void {
    this.#queueOf(job).add(job.id);
  }

  /**
   * Throws why the last attempt to perform an unfinished job stopped, for example because the disk is full. Throws each
   * failure once: the next call allows a new attempt.
   */
  throwFailure(jobId: string): void {
    const failure = this.#failures.get(jobId);
    this.#failures.delete(jobId);
    if (failure !== undefined) throw failure.error;
  }

  /** Returns the numbers of queued and of running jobs of this process. */
  counts(): { readonly waiting: number; readonly running: number } {
    const queues = Object.values(this.#queues);
    return {
      waiting: queues.reduce((sum, { waiting }) => sum + waiting, 0),
      running: queues.reduce((sum, { running }) => sum + running, 0),
    };
  }

  /** Queues an accepted job. If this service is closing, leaves the job to the next service process. */
  enqueue(job: JobRecord): void {
    if (!this.#isClosed) this.add(job);
    else if (this.#release(job.id)) this.#deps.report({ type: 'jobs-left', count: 1 });
  }

  /**
   * Stops queueing jobs. Then waits for the running jobs, and for the queued jobs for which a client waits. When
   * `graceMs` have passed or `hurry` is aborted, aborts the running jobs. The next service process continues the
   * unfinished jobs.
   */
  async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    const { report } = this.#deps;
    this.#isClosed = true;
    this.#stopScanning?.();
    const queues = Object.values(this.#queues);
    const found = queues.reduce((sum, { foundSize }) => sum + foundSize, 0);
    const count = queues.reduce((sum, { size }) => sum + size, 0) - found;
    if (hurry?.aborted !== true) {
      if (count > 0) report({ type: 'finishing-jobs', count });
      if (found > 0) report({ type: 'finishing-found-jobs', count: found });
    }
    const unfinished = await Promise.all(queues.map((queue) => queue.close(graceMs, hurry)));
    const released = unfinished.flat().filter((jobId) => this.#release(jobId));
    if (released.length > 0) report({ type: 'jobs-left', count: released.length });
  }

  #queueOf({ kind }: JobRecord): JobQueue {
    return this.#queues[LANE_OF[kind]];
  }

  #openQueue(workers: number): JobQueue {
    const { clock, ownership } = this.#deps;
    return new JobQueue({
      clock,
      workers,
      work: async (jobId, signal) => {
        const releaseLease = ownership.hold();
        try {
          await this.work(jobId, signal);
        } finally {
          releaseLease();
        }
      },
      onFailure: (jobId, error, isWanted) => {
        if (isWanted) this.#failures.set(jobId, { error });
        this.#reportFailure(jobId, error);
      },
    });
  }

  // True if the job is, or may be, unfinished.
  #release(jobId: string): boolean {
    try {
      return this.#deps.store.write((db) => this.release(db, jobId));
    } catch (error) {
      this.#reportFailure(jobId, error);
      return true;
    }
  }

  #reportFailure(requestId: string, error: unknown): void {
    this.#deps.report({ type: 'failure', requestId, error });
  }
}

// Oldest first.
function findOrphanedJobs(db: Connection, self: Owner): readonly JobRecord[] {
  const owners = db.all(
    'SELECT * FROM owner WHERE id IN (SELECT owner_id FROM job WHERE finished_at IS NULL)',
  );
  const living = new Set(owners.filter((row) => !self.isDead(row)).map((row) => text(row, 'id')));
  living.delete(self.id);
  return listUnfinishedJobs(db).filter(
    ({ ownerId }) => ownerId === undefined || !living.has(ownerId),
  );
}

interface JobQueueOptions {
  readonly work: (jobId: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly workers: number;
  // `isWanted` is true if a client waits for the job.
  readonly onFailure: (jobId: string, error: unknown, isWanted: boolean) => void;
}

class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #wanted = new Set<string>();
  readonly #found = new Set<string>();
  readonly #running = new Set<string>();
  readonly #foundRunning = new Set<string>();
  readonly #stop = new AbortController();
  #isClosed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: JobQueueOptions) {
    this.#options = options;
  }

  // Without jobs of dead processes that have not started.
  get size(): number {
    return this.#running.size + this.#wanted.size;
  }

  get waiting(): number {
    return this.#wanted.size + this.#found.size;
  }

  get running(): number {
    return this.#running.size;
  }

  // Running jobs of dead processes, which `size` includes.
  get foundSize(): number {
    return this.#foundRunning.size;
  }

  add(jobId: string): void {
    if (this.#isClosed || this.#running.has(jobId)) return;
    this.#found.delete(jobId);
    this.#wanted.add(jobId);
    this.#serve();
  }

  addFound(jobId: string): void {
    if (this.#isClosed || this.#running.has(jobId) || this.#wanted.has(jobId)) return;
    this.#found.add(jobId);
    this.#serve();
  }

  // Returns the ids of jobs that may be unfinished. Aborts the jobs when `graceMs` have passed or `hurry` is aborted.
  async close(graceMs: number, hurry?: AbortSignal): Promise<readonly string[]> {
    this.#isClosed = true;
    const unfinished = [...this.#found];
    this.#found.clear();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const halt = (): void => {
      unfinished.push(...this.#running, ...this.#wanted);
      this.#wanted.clear();
      this.#stop.abort(new Error('the service is closing'));
      this.#serve();
    };
    const cancel = this.#options.clock.after(graceMs, halt);
    hurry?.addEventListener('abort', halt, { once: true });
    if (hurry?.aborted === true) halt();
    this.#serve();
    await empty;
    cancel();
    hurry?.removeEventListener('abort', halt);
    return unfinished;
  }

  #serve(): void {
    while (this.#running.size < this.#options.workers) {
      const wanted = takeFirst(this.#wanted);
      const jobId = wanted ?? takeFirst(this.#found);
      if (jobId === undefined) break;
      if (wanted === undefined) this.#foundRunning.add(jobId);
      this.#running.add(jobId);
      void this.#run(jobId);
    }
    if (this.size === 0) this.#onEmpty?.();
  }

  async #run(jobId: string): Promise<void> {
    // The client gets the response first.
    await Promise.resolve();
    try {
      await this.#options.work(jobId, this.#stop.signal);
    } catch (error) {
      this.#options.onFailure(jobId, error, !this.#foundRunning.has(jobId));
    }
    this.#running.delete(jobId);
    this.#foundRunning.delete(jobId);
    this.#serve();
  }
}

function takeFirst(jobIds: Set<string>): string | undefined {
  const [first] = jobIds;
  if (first !== undefined) jobIds.delete(first);
  return first;
}
