import type { LookupAddress } from 'node:dns';
import type { Random } from '../../system/random.ts';
import type { StoredJob, Json, StoredMediaKind } from '../jobs/job-records.ts';
import type { JobStep, JobType } from '../jobs/work-on-job.ts';
import type { Store } from '../store/open-store.ts';
import type { RunTask } from './child/run-task.ts';
import type { MediaFolder } from './media-files.ts';
import { writeMediaFile } from './media-files.ts';

export interface MediaWorkTools {
  readonly run: RunTask;
  /** Returns the path of a file that was imported for the job. */
  readonly pathOf: (name: string) => string;
  /** Returns the temporary path of a result file, which is renamed to `name` when the work is complete. */
  readonly draftOf: (name: string) => string;
  readonly signal: AbortSignal;
  /** Stores the progress of the job, from 0 to 1. */
  readonly progress: (fraction: number) => void;
}

interface MediaResult {
  /** Name of the finished file, in the folder of the job. */
  readonly name: string;
  readonly contentType: string;
  /** Metadata of the file, sent in the job's response. */
  readonly metadata: Json;
}

/** Makes the result file of a media job. If the work throws, the job fails and is refunded. */
export type MediaWork = (job: StoredJob, tools: MediaWorkTools) => Promise<MediaResult>;

export type MediaWorks = Readonly<Record<StoredMediaKind, MediaWork>>;

/** Gives the media jobs access to the file system, child processes and the network. Tests replace this object. */
export interface MediaSources {
  readonly folder: MediaFolder;
  readonly run: RunTask;
  readonly works: MediaWorks;
  readonly resolve: (name: string) => Promise<readonly LookupAddress[]>;
  /**
   * True to allow downloads from this machine (loopback addresses). Set only if the service itself listens on loopback.
   */
  readonly allowsLoopback: boolean;
  /** Hosts from which downloads are allowed even in private networks. */
  readonly allowHosts: readonly string[];
}

interface MediaJobDeps {
  readonly store: Store;
  readonly random: Random;
  readonly media: MediaSources;
}

/** Creates the job types for media. A media job makes its file in one step, which is repeated after a crash. */
export function createMediaJobs(deps: MediaJobDeps): Readonly<Record<StoredMediaKind, JobType>> {
  const typeOf = (work: MediaWork): JobType => ({
    work: (job, signal) => makeFile(deps, work, job, signal),
    describeFailure: () => 'The file could not be produced; its price was refunded',
    cleanUp: (job) => removeInputs(deps, job.id),
  });
  const { lip_sync, video_dubbing, image, video } = deps.media.works;
  return {
    lip_sync: typeOf(lip_sync),
    video_dubbing: typeOf(video_dubbing),
    image: typeOf(image),
    video: typeOf(video),
  };
}

async function makeFile(
  { media, random, store }: MediaJobDeps,
  work: MediaWork,
  job: StoredJob,
  signal: AbortSignal,
): Promise<JobStep> {
  const { folder, run } = media;
  const { id } = job;
  const suffix = random.uuid();
  const draft = (name: string): string => `draft-${suffix}-${name}`;
  await folder.prepare(id);
  const { contentType, metadata, name } = await work(job, {
    run,
    signal,
    pathOf: (file) => folder.pathOf(id, file),
    draftOf: (file) => folder.pathOf(id, draft(file)),
    progress: progressWriter(store, id),
  });
  await folder.publish(id, draft(name), name);
  return {
    event: { type: 'finished' },
    result: metadata,
    alongside: (db) => writeMediaFile(db, { id, folder: id, name, contentType }),
  };
}

const STEP_PERCENT = 5;

// Stays below 100 % until the job is complete. Progress that cannot be stored does not fail the job.
function progressWriter(store: Store, jobId: string): (fraction: number) => void {
  let stored = 0;
  return (fraction) => {
    const percent = Math.min(99, Math.floor(fraction * 100));
    if (percent < stored + STEP_PERCENT) return;
    try {
      const sql = 'UPDATE job SET progress = ? WHERE id = ? AND finished_at IS NULL';
      store.write((db) => db.run(sql, [percent, jobId]));
      stored = percent;
    } catch {
      // A later progress value is stored instead.
    }
  };
}

async function removeInputs({ media, store }: MediaJobDeps, jobId: string): Promise<void> {
  const { folder } = media;
  const rows = store.read((db) => db.all('SELECT name FROM media_file WHERE folder = ?', [jobId]));
  const names = await folder.list(jobId).catch(() => []);
  for (const name of names) {
    if (!rows.some((row) => row['name'] === name)) await folder.remove(jobId, name);
  }
}
