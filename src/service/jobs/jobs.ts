import type { Random } from '../../effects/random.ts';
import type { StoredAudio } from '../speech/audio-files.ts';
import type { Faults } from '../http/faults.ts';
import { requestLineOf } from '../http/faults.ts';
import type { Ownership } from '../operations/owner.ts';
import type { Connection } from '../store/connection.ts';
import type { Accepted, JobRequest } from './accept-job.ts';
import { acceptJob } from './accept-job.ts';
import { advanceJob, isUnowned } from './advance-job.ts';
import { segmentFile, wholeFile } from './job-files.ts';
import type { JobFilter, JobRecord, WholeJob } from './job-records.ts';
import { listJobs, readJob } from './job-records.ts';
import { SPEECH_KIND } from './left-jobs.ts';
import { OwnJobs } from './own-jobs.ts';
import type { WorkDeps } from './work-on-job.ts';
import { workOnJob } from './work-on-job.ts';

export interface JobsDeps extends Omit<WorkDeps, 'owner'> {
  readonly random: Random;
  readonly ownership: Ownership;
  readonly faults: Pick<Faults, 'ofJob'>;
}

/** One is worked on while the other is encoded or written. */
const LANES = { [SPEECH_KIND]: { workers: 2 } };

/** Speech jobs of every account, and the work on those that fall to this process. */
export class Jobs {
  readonly #deps: JobsDeps & WorkDeps;
  readonly #own: OwnJobs;

  constructor(deps: JobsDeps) {
    this.#deps = { ...deps, owner: deps.ownership.owner };
    this.#own = new OwnJobs(deps, {
      table: 'job',
      lanes: LANES,
      work: (jobId, signal) => workOnJob(this.#deps, jobId, signal),
      release: (db, jobId) => this.#release(db, jobId),
    });
  }

  /** Takes up jobs whose process died, now and from time to time. */
  start(): void {
    this.#own.start();
  }

  /**
   * Takes a job in, sets its price aside and has it worked on.
   * @throws ServiceError 503 when the service closes
   */
  accept(request: JobRequest): Accepted {
    this.#own.requireOpen();
    const { clock, faults, owner, ownership, random, report, store } = this.#deps;
    const drawn = faults.ofJob(requestLineOf(request.endpoint));
    const fault = drawn.outcome;
    const context = { id: random.uuid(), owner, now: clock.now(), fault };
    const letGo = ownership.hold();
    try {
      const accepted = store.write((db) => acceptJob(db, context, request));
      if (accepted.kind !== 'accepted') return accepted;
      const { jobId } = accepted;
      drawn.count();
      if (fault !== undefined) report({ type: 'job-fault', jobId, outcome: fault });
      this.#own.add({ id: jobId, kind: SPEECH_KIND });
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
      if (isOurs || isUnowned(db, job, owner)) this.#own.add({ id: jobId, kind: SPEECH_KIND });
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

  /** Finishes what it can in that time, and gives back the rest (see `OwnJobs.close`). */
  close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    return this.#own.close(graceMs, hurry);
  }

  #release(db: Connection, jobId: string): boolean {
    const { clock, owner } = this.#deps;
    advanceJob(db, { jobId, owner, now: clock.now(), event: { type: 'released' } });
    return readJob(db, jobId)?.finishedAt === undefined;
  }
}
