import type { Faults } from '../../http/faults.ts';
import { requestLineOf } from '../../http/faults.ts';
import type { JobLane } from '../../jobs/own-jobs.ts';
import { OwnJobs } from '../../jobs/own-jobs.ts';
import { refusalError } from '../../operations/begin-operation.ts';
import { isAbandoned } from '../../operations/owner.ts';
import type { Ownership } from '../../operations/owner.ts';
import type { Connection } from '../../store/connection.ts';
import type { MediaJobAccepted, MediaJobRequest } from './accept-media-job.ts';
import { acceptMediaJob } from './accept-media-job.ts';
import { advanceMediaJob } from './advance-media-job.ts';
import { hasEnded } from './lifecycle.ts';
import type { MediaJob, MediaJobFilter, MediaJobKind } from './media-job-records.ts';
import { listMediaJobs, readMediaJob } from './media-job-records.ts';
import type { MediaWorkDeps } from './work-on-media-job.ts';
import { workOnMediaJob } from './work-on-media-job.ts';

export interface MediaJobsDeps extends Omit<MediaWorkDeps, 'owner'> {
  readonly ownership: Ownership;
  readonly faults: Pick<Faults, 'ofJob'>;
}

/** While one is encoded the other is copied. */
const SOUND: JobLane = { workers: 2 };

/**
 * What takes long keeps nobody else waiting. One image and one video are made at a time, as each may need
 * half a gigabyte, and two would take as long.
 */
const LANES: Readonly<Record<MediaJobKind, JobLane>> = {
  lip_sync: SOUND,
  video_dubbing: SOUND,
  image: { workers: 1 },
  video: { workers: 1 },
};

/** Media jobs of every account, and the work on those that fall to this process. */
export class MediaJobs {
  readonly #deps: MediaJobsDeps & MediaWorkDeps;
  readonly #own: OwnJobs;

  constructor(deps: MediaJobsDeps) {
    this.#deps = { ...deps, owner: deps.ownership.owner };
    this.#own = new OwnJobs(deps, {
      table: 'media_job',
      lanes: LANES,
      work: (jobId, signal) => workOnMediaJob(this.#deps, jobId, signal),
      release: (db, jobId) => this.#release(db, jobId),
    });
  }

  /** Takes up jobs whose process died, now and from time to time. */
  start(): void {
    this.#own.start();
  }

  /**
   * Asked before anything is done for a job that is accepted later.
   * @throws ServiceError 503 when the service closes
   */
  requireOpen(): void {
    this.#own.requireOpen();
  }

  /**
   * Takes a job in, sets its price aside and has it worked on.
   * @throws ServiceError 402 when there is too little, 409 when its key was used before, 503 when the service closes
   */
  accept(request: MediaJobRequest): MediaJob {
    this.requireOpen();
    const { ownership, store } = this.#deps;
    const letGo = ownership.hold();
    try {
      const accepted = store.write((db) => this.acceptWithin(db, request));
      if (accepted.kind !== 'accepted') throw refusalError(accepted, request);
      this.enqueue(accepted.job);
      return accepted.job;
    } finally {
      letGo();
    }
  }

  /** The same as part of a transaction of the caller, who then has it worked on with `enqueue`. */
  acceptWithin(db: Connection, request: MediaJobRequest): MediaJobAccepted {
    const { clock, faults, owner, report } = this.#deps;
    const drawn = faults.ofJob(requestLineOf(request.endpoint));
    const { outcome } = drawn;
    const context = { owner, now: clock.now(), isToFail: outcome !== undefined };
    const accepted = acceptMediaJob(db, context, request);
    if (accepted.kind !== 'accepted') return accepted;
    drawn.count();
    if (outcome !== undefined) report({ type: 'job-fault', jobId: request.id, outcome });
    return accepted;
  }

  /** Has a job worked on that was accepted before, or leaves it to the next process when this one closes. */
  enqueue(job: MediaJob): void {
    this.#own.addAccepted(job);
  }

  /** The job, if it is one of the account's. One that was left is taken up when it is asked for. */
  find(accountId: string, kind: MediaJobKind, jobId: string): MediaJob | undefined {
    const { owner, store } = this.#deps;
    return store.read((db) => {
      const job = readMediaJob(db, jobId);
      if (job?.accountId !== accountId || job.kind !== kind) return undefined;
      const isOurs = job.ownerId === owner.id || isAbandoned(db, job.ownerId, owner);
      if (isOurs && !hasEnded(job.status)) this.#own.add(job);
      return job;
    });
  }

  /** Jobs of one kind, the newest first. */
  list(accountId: string, kind: MediaJobKind, filter: MediaJobFilter): readonly MediaJob[] {
    return this.#deps.store.read((db) => listMediaJobs(db, { accountId, kind }, filter));
  }

  /** Finishes what it can in that time, and gives back the rest (see `OwnJobs.close`). */
  close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    return this.#own.close(graceMs, hurry);
  }

  #release(db: Connection, jobId: string): boolean {
    const { clock, owner } = this.#deps;
    advanceMediaJob(db, { jobId, owner, now: clock.now(), step: { event: 'released' } });
    return readMediaJob(db, jobId)?.finishedAt === undefined;
  }
}
