import { ENDPOINTS } from '../../../contract/endpoints.ts';
import type { Faults, RequestLine } from '../../faults/faults.ts';
import { JobQueue } from '../../jobs/job-queue.ts';
import { findLeftJobs } from '../../jobs/left-jobs.ts';
import { isAbandoned } from '../../operations/owner.ts';
import type { Ownership } from '../../operations/ownership.ts';
import type { Connection } from '../../store/connection.ts';
import type { MediaJobAccepted, MediaJobKey, MediaJobRequest } from './accept-media-job.ts';
import { acceptMediaJob, findAcceptedMedia } from './accept-media-job.ts';
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

const WORKERS = 2;
const LOOK_EVERY_MS = 15_000;

/** Media jobs of every account, and the work on those that fall to this process. */
export class MediaJobs {
  readonly #deps: MediaJobsDeps & MediaWorkDeps;
  readonly #queue: JobQueue;
  #stopLooking: (() => void) | undefined;

  constructor(deps: MediaJobsDeps) {
    const { clock, ownership, report } = deps;
    this.#deps = { ...deps, owner: ownership.owner };
    this.#queue = new JobQueue({
      clock,
      workers: WORKERS,
      work: (jobId, signal) => this.#work(jobId, signal),
      onFailure: (jobId, error) => report({ type: 'failure', requestId: jobId, error }),
    });
  }

  /** Takes up jobs whose process died, now and from time to time. */
  start(): void {
    const { clock, owner, report, store } = this.#deps;
    try {
      const left = store.read((db) => findLeftJobs(db, owner, 'media_job'));
      for (const jobId of left) this.#queue.addFound(jobId);
    } catch (error) {
      report({ type: 'failure', requestId: 'media-jobs', error });
    }
    this.#stopLooking = clock.after(LOOK_EVERY_MS, () => this.start());
  }

  /** What became of a create with this key before, if there was one (spec sections 4.8 and 7.2). */
  findAccepted(key: MediaJobKey): ReturnType<typeof findAcceptedMedia> {
    return this.#deps.store.read((db) => findAcceptedMedia(db, key));
  }

  /** Takes a job in, sets its price aside and has it worked on. */
  accept(request: MediaJobRequest): MediaJobAccepted {
    const { ownership, store } = this.#deps;
    const letGo = ownership.hold();
    try {
      const accepted = store.write((db) => this.acceptWithin(db, request));
      if (accepted.kind === 'accepted') this.enqueue(accepted.job.id);
      return accepted;
    } finally {
      letGo();
    }
  }

  /** The same as part of a transaction of the caller, who then has it worked on with `enqueue`. */
  acceptWithin(db: Connection, request: MediaJobRequest): MediaJobAccepted {
    const { clock, faults, owner, report } = this.#deps;
    const drawn = faults.ofJob(lineOf(request));
    const { outcome } = drawn;
    const context = { owner, now: clock.now(), isToFail: outcome !== undefined };
    const accepted = acceptMediaJob(db, context, request);
    if (accepted.kind !== 'accepted') return accepted;
    drawn.count();
    if (outcome !== undefined) report({ type: 'job-fault', jobId: request.id, outcome });
    return accepted;
  }

  /** Has a job worked on that was accepted before. */
  enqueue(jobId: string): void {
    this.#queue.add(jobId);
  }

  /** The job, if it is one of the account's. One that was left is taken up when it is asked for. */
  find(accountId: string, kind: MediaJobKind, jobId: string): MediaJob | undefined {
    const { owner, store } = this.#deps;
    return store.read((db) => {
      const job = readMediaJob(db, jobId);
      if (job?.accountId !== accountId || job.kind !== kind) return undefined;
      const isOurs = job.ownerId === owner.id || isAbandoned(db, job.ownerId, owner);
      if (isOurs && !hasEnded(job.status)) this.#queue.add(jobId);
      return job;
    });
  }

  /** Jobs of one kind, the newest first. */
  list(accountId: string, kind: MediaJobKind, filter: MediaJobFilter): readonly MediaJob[] {
    return this.#deps.store.read((db) => listMediaJobs(db, { accountId, kind }, filter));
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
      await workOnMediaJob(this.#deps, jobId, signal);
    } finally {
      letGo();
    }
  }

  /** Gives whether it has not ended. What cannot be given back is found when this process is gone. */
  #giveBack(jobId: string): boolean {
    const { clock, owner, report, store } = this.#deps;
    const advance = { jobId, owner, now: clock.now(), step: { event: 'released' } } as const;
    try {
      return store.write((db) => {
        advanceMediaJob(db, advance);
        return readMediaJob(db, jobId)?.finishedAt === undefined;
      });
    } catch (error) {
      report({ type: 'failure', requestId: jobId, error });
      return true;
    }
  }
}

/** The request that creates jobs at the endpoint, as fault rules see it. */
function lineOf({ endpoint }: MediaJobKey): RequestLine {
  const found = ENDPOINTS.find(({ id }) => id === endpoint);
  if (found === undefined) throw new TypeError(`there is no endpoint ${endpoint}`);
  return found;
}
