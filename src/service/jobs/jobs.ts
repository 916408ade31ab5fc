import { endpointOf } from '../../contract/endpoint-lookup.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { Faults } from '../http/faults.ts';
import { refusalError } from '../operations/operations.ts';
import type { Ownership } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { JobAccepted, JobRequest } from './accept-job.ts';
import { acceptJob } from './accept-job.ts';
import { advanceJob, isUnowned } from './advance-job.ts';
import type { Job, JobFilter, JobKind, JobRecord } from './job-records.ts';
import { listJobs, readJob } from './job-records.ts';
import { hasEnded } from './lifecycle.ts';
import { JobScheduler } from './job-scheduler.ts';
import type { JobTypes } from './work-on-job.ts';
import { workOnJob } from './work-on-job.ts';

interface JobsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly ownership: Ownership;
  readonly faults: Pick<Faults, 'ofJob'>;
  readonly types: JobTypes;
  readonly report: (event: ServiceEvent) => void;
}

/** Jobs of every kind and account, and the work on those that this process runs. */
export class Jobs {
  readonly #deps: JobsDeps;
  readonly #scheduler: JobScheduler;

  constructor(deps: JobsDeps) {
    const { clock, ownership } = deps;
    const { owner } = ownership;
    this.#deps = deps;
    this.#scheduler = new JobScheduler({
      ...deps,
      work: (jobId, signal) => workOnJob({ ...deps, owner }, jobId, signal),
      release(db, jobId) {
        advanceJob(db, { jobId, owner, now: clock.now(), event: { type: 'released' } });
        return readJob(db, jobId)?.finishedAt === undefined;
      },
    });
  }

  /** Continues the jobs of dead processes, now and from time to time. */
  start(): void {
    this.#scheduler.start();
  }

  /**
   * Called before anything is done for a job that is accepted later.
   * @throws ServiceError 503 when the service closes
   */
  requireOpen(): void {
    this.#scheduler.requireOpen();
  }

  /**
   * Stores a job, reserves its charge and queues it.
   * @throws ServiceError 402 when there is too little, 409 when its key was used before, 503 when the service closes,
   * and whatever its check throws
   */
  accept(request: JobRequest): Job {
    this.requireOpen();
    const { ownership, store } = this.#deps;
    const releaseLease = ownership.hold();
    try {
      const accepted = store.write((db) => this.acceptWithin(db, request));
      if (accepted.kind !== 'accepted') throw refusalError(accepted, request);
      this.enqueue(accepted.job);
      return accepted.job;
    } finally {
      releaseLease();
    }
  }

  /** Stores a job and reserves its charge in a transaction of the caller, who queues it afterwards with `enqueue`. */
  acceptWithin(db: Connection, request: JobRequest): JobAccepted {
    const { clock, faults, ownership, random, report } = this.#deps;
    const { owner } = ownership;
    const { endpoint, id = random.uuid() } = request;
    const drawn = faults.ofJob(endpointOf(endpoint));
    const { outcome: fault } = drawn;
    const accepted = acceptJob(db, { id, owner, now: clock.now(), fault }, request);
    if (accepted.kind !== 'accepted') return accepted;
    drawn.count();
    if (fault !== undefined) report({ type: 'job-fault', jobId: id, outcome: fault });
    return accepted;
  }

  /** Queues an accepted job, or leaves it to the next process when this one closes. */
  enqueue(job: Job): void {
    this.#scheduler.addAccepted(job);
  }

  /** Returns the account's job of this kind. Queues an orphaned one. */
  find(accountId: string, kind: JobKind, jobId: string): Job | undefined {
    const { ownership, store } = this.#deps;
    const { owner } = ownership;
    return store.read((db) => {
      const job = readJob(db, jobId);
      if (job?.accountId !== accountId || job.kind !== kind) return undefined;
      const isOurs = job.ownerId === owner.id && !hasEnded(job.status);
      if (isOurs || isUnowned(db, job, owner)) this.#scheduler.add(job);
      return job;
    });
  }

  /** Returns a job of any account, for a caller that has verified a signed link. */
  findAny(kind: JobKind, jobId: string): Job | undefined {
    const job = this.#deps.store.read((db) => readJob(db, jobId));
    return job?.kind === kind ? job : undefined;
  }

  /** Lists jobs of one kind, the newest first. */
  list(accountId: string, kind: JobKind, filter: JobFilter): readonly JobRecord[] {
    return this.#deps.store.read((db) => listJobs(db, { accountId, kind }, filter));
  }

  /** Finishes what it can in that time, and releases the rest (see `JobScheduler.close`). */
  close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    return this.#scheduler.close(graceMs, hurry);
  }
}
