import { ENDPOINTS } from '../../contract/endpoints.ts';
import type { Random } from '../../effects/random.ts';
import type { StoredAudio } from '../audio-files/stored-audio.ts';
import type { Faults, RequestLine } from '../faults/faults.ts';
import type { Ownership } from '../operations/ownership.ts';
import type { Accepted, JobKey, JobRequest } from './accept-job.ts';
import { acceptJob, findAccepted } from './accept-job.ts';
import { advanceJob, isUnowned } from './advance-job.ts';
import { segmentFile, wholeFile } from './job-files.ts';
import { JobQueue } from './job-queue.ts';
import type { JobFilter, JobRecord, WholeJob } from './job-records.ts';
import { listJobs, readJob } from './job-records.ts';
import { findLeftJobs } from './left-jobs.ts';
import type { WorkDeps } from './work-on-job.ts';
import { workOnJob } from './work-on-job.ts';

export interface JobsDeps extends Omit<WorkDeps, 'owner'> {
  readonly random: Random;
  readonly ownership: Ownership;
  readonly faults: Pick<Faults, 'ofJob'>;
}

/** One is spoken while the other is encoded or written. */
const WORKERS = 2;
const LOOK_EVERY_MS = 15_000;

/** Speech jobs of every account, and the work on those that fall to this process. */
export class Jobs {
  readonly #deps: JobsDeps & WorkDeps;
  readonly #queue: JobQueue;
  #stopLooking: (() => void) | undefined;

  constructor(deps: JobsDeps) {
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
      const left = store.read((db) => findLeftJobs(db, owner));
      for (const jobId of left) this.#queue.addFound(jobId);
    } catch (error) {
      report({ type: 'failure', requestId: 'jobs', error });
    }
    this.#stopLooking = clock.after(LOOK_EVERY_MS, () => this.start());
  }

  /** What became of a create with this key before, if there was one (spec section 7.2). */
  findAccepted(key: JobKey): Accepted | undefined {
    return this.#deps.store.read((db) => findAccepted(db, key));
  }

  /** Takes a job in, sets its price aside and has it worked on. */
  accept(request: JobRequest): Accepted {
    const { clock, faults, owner, ownership, random, report, store } = this.#deps;
    const drawn = faults.ofJob(lineOf(request));
    const fault = drawn.outcome;
    const context = { id: random.uuid(), owner, now: clock.now(), fault };
    const letGo = ownership.hold();
    try {
      const accepted = store.write((db) => acceptJob(db, context, request));
      if (accepted.kind !== 'accepted') return accepted;
      const { jobId } = accepted;
      drawn.count();
      if (fault !== undefined) report({ type: 'job-fault', jobId, outcome: fault });
      this.#queue.add(jobId);
      return accepted;
    } finally {
      letGo();
    }
  }

  /** The job, if it is one of the account's. One that was left is taken up when it is asked for. */
  find(accountId: string, jobId: string): WholeJob | undefined {
    const { owner, store } = this.#deps;
    return store.read((db) => {
      const job = readJob(db, jobId);
      if (job?.accountId !== accountId) return undefined;
      const isOurs = job.ownerId === owner.id;
      if (isOurs || isUnowned(db, job, owner)) this.#queue.add(jobId);
      return job;
    });
  }

  /** The job whoever it belongs to: for somebody whose right to it was proved in another way. */
  findAny(jobId: string): WholeJob | undefined {
    return this.#deps.store.read((db) => readJob(db, jobId));
  }

  /** Jobs of the account, the newest first. */
  list(accountId: string, filter: JobFilter): readonly JobRecord[] {
    return this.#deps.store.read((db) => listJobs(db, accountId, filter));
  }

  /** The whole of what was spoken; `undefined` while there is none. */
  audioOf(job: WholeJob): Promise<StoredAudio | undefined> {
    return this.#deps.folder.find(job.id, wholeFile(job));
  }

  /** What was spoken of one segment, also before the job has ended. */
  segmentAudioOf(job: WholeJob, index: number): Promise<StoredAudio | undefined> {
    return this.#deps.folder.find(job.id, segmentFile(index, job.format));
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
      await workOnJob(this.#deps, jobId, signal);
    } finally {
      letGo();
    }
  }

  /** Gives whether it has not ended. What cannot be given back is found when this process is gone. */
  #giveBack(jobId: string): boolean {
    const { clock, owner, report, store } = this.#deps;
    const event = { type: 'released' } as const;
    try {
      return store.write((db) => {
        advanceJob(db, { jobId, owner, now: clock.now(), event });
        return readJob(db, jobId)?.finishedAt === undefined;
      });
    } catch (error) {
      report({ type: 'failure', requestId: jobId, error });
      return true;
    }
  }
}

/** The request that creates jobs at the endpoint, as fault rules see it. */
function lineOf({ endpoint }: JobKey): RequestLine {
  const found = ENDPOINTS.find(({ id }) => id === endpoint);
  if (found === undefined) throw new TypeError(`there is no endpoint ${endpoint}`);
  return found;
}
