import path from 'node:path';
import type { PollDeps } from '../../api/poll.ts';
import { pollJob } from '../../api/poll.ts';
import { removeQuietly, isTemporaryName } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { IntentJournal, OpenIntent } from '../../durable/intents.ts';
import { Failure } from '../../errors/failure.ts';
import { mayRun } from '../recover.ts';
import type { JobSource, WaitedJob, SavedFile, PlaceFor } from './job-source.ts';
import { saveFile } from './job-source.ts';
import { afterAcceptance, failedJob } from './perform-job.ts';

/** How jobs are waited for, and where what they made goes. */
export interface JobFetch<Job extends WaitedJob> {
  readonly source: JobSource<Job>;
  /** Without it the state that a job has now is enough. */
  readonly polling: Omit<PollDeps<Job>, 'signal'> | undefined;
  /** Without it nothing is fetched. */
  readonly placeFor: PlaceFor | undefined;
  readonly signal: AbortSignal;
  /** What the person types to go on with a job. */
  readonly resume: (jobId: string) => string;
}

/** What became of one job. */
export interface FetchedJob<Job extends WaitedJob> {
  readonly id: string;
  /** As it was last heard of; undefined when nothing was. */
  readonly job: Job | undefined;
  readonly saved: SavedFile | undefined;
  /** Why it is not what was asked for. */
  readonly failure: Failure | undefined;
}

/**
 * Waits for a job, where that is wanted, and brings what it made to its place. That it failed, still
 * runs, or cannot be fetched is part of what it gives.
 * @throws the reason of the signal
 */
export async function fetchJob<Job extends WaitedJob>(
  id: string,
  options: JobFetch<Job>,
): Promise<FetchedJob<Job>> {
  const { resume, signal, source } = options;
  let job: Job | undefined;
  try {
    job = await heardOf(id, options, (state) => {
      job = state;
    });
    if (job.phase === 'failed' && source.isPart !== true) throw failedJob(job);
    return { id, job, saved: await save(job, options), failure: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const isThere = job !== undefined && job.phase !== 'failed';
    const failure =
      isThere || error.exit === 'deadline'
        ? afterAcceptance(error, job ?? UNHEARD, resume(id))
        : error;
    return { id, job, saved: undefined, failure };
  }
}

/** Nothing was heard of it in time. */
const UNHEARD = { phase: 'running' } as const;

async function heardOf<Job extends WaitedJob>(
  id: string,
  { polling, signal, source }: JobFetch<Job>,
  note: (job: Job) => void,
): Promise<Job> {
  if (polling === undefined) return source.get(id, { signal });
  return pollJob({ id }, (call) => source.get(id, call), {
    ...polling,
    signal,
    onState: (job) => {
      note(job);
      polling.onState?.(job);
    },
  });
}

async function save<Job extends WaitedJob>(
  job: Job,
  { placeFor, signal, source }: JobFetch<Job>,
): Promise<SavedFile | undefined> {
  if (placeFor === undefined) return undefined;
  const { file, format } = await source.obtain(job, signal);
  const place = await placeFor(job, format).catch((error: unknown) => {
    file.discard();
    throw error;
  });
  try {
    return await saveFile(file, place, { format, signal });
  } finally {
    // After it was published this does nothing.
    await place.output?.abandon();
  }
}

interface SettleDeps extends FileDeps {
  readonly journal: IntentJournal;
}

/**
 * Notes that the audio of jobs was fetched which an interrupted command had created, so that
 * `foley recover` has nothing to do for them.
 * @throws Failure (state)
 */
export async function markFetched(
  open: readonly OpenIntent[],
  jobIds: ReadonlySet<string>,
  deps: SettleDeps,
): Promise<void> {
  for (const intent of open) {
    const { jobId } = intent.facts;
    if (jobId === undefined || !jobIds.has(jobId) || mayRun(intent, deps.clock)) continue;
    const temporary = intent.about?.temporary ?? '';
    if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, deps);
    await deps.journal.resume(intent).markAs('published');
  }
}
