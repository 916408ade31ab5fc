import type { Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { FetchedJob, JobFetch } from '../../src/jobs/fetch-job.ts';
import { fetchJob } from '../../src/jobs/fetch-job.ts';
import type { WaitedJob } from '../../src/jobs/job-source.ts';
import { settleFetched } from '../../src/jobs/settle-fetched.ts';
import { openJournal } from '../open-journal.ts';
import type { JobWords } from './told-job.ts';

/** Waits for one job or downloads it, and tells what became of it. */
export async function fetchOne<Job extends WaitedJob>(
  context: Context,
  id: string,
  { words, ...options }: JobFetch<Job> & { readonly words: JobWords<Job> },
): Promise<CommandResult> {
  const { io } = context;
  const waits = options.polling !== undefined;
  const progress = words.show(context, waits ? `waiting for job ${id}` : `fetching job ${id}`);
  const polling = options.polling && {
    ...options.polling,
    onState: (job: Job) => progress.state(job),
    onTrouble(failure: Failure) {
      progress.update(`job ${id}: asking again (${failure.message})`);
      if (!io.showsProgress) options.polling?.onTrouble?.(failure);
    },
  };
  const fetched = await stopped(fetchJob(id, { ...options, polling }), context, () =>
    options.resume(id),
  ).finally(() => progress.stop());
  if (fetched.saved !== undefined) await settle(context, new Set([id]));
  const { failure, job, saved } = fetched;
  if (job === undefined) {
    throw failure ?? new Error(`nothing is known of job ${id}`);
  }
  // Of one segment nothing is missing, whatever became of the others.
  const isPartial = job.phase === 'partial' && options.source.isPart !== true;
  if (isPartial) io.warn(words.partial(job));
  if (failure === undefined) io.notice(words.saved({ job, saved, isFree: !waits }));
  return {
    data: words.document({ job, saved }),
    human: () => shown(fetched, options),
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial ? 'partial' : 'ok',
  };
}

/** What a person gets on stdout: where the file is, else how the job is; nothing beside its bytes. */
function shown<Job extends WaitedJob>(
  { failure, job, saved }: FetchedJob<Job>,
  { placeFor }: JobFetch<Job>,
): string {
  if (saved?.path !== undefined) return saved.path;
  if (placeFor !== undefined && failure === undefined) return '';
  return placeFor === undefined ? (job?.status ?? '') : '';
}

/** When the person stops it, tells how to go on. */
export async function stopped<T>(
  work: Promise<T>,
  { io, signal }: Context,
  resume: () => string,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) io.notice(`foley: stopped; \`${resume()}\` goes on`);
    throw error;
  }
}

/** What was left of the commands that created them is over; that it cannot be noted does no harm. */
export async function settle(context: Context, jobIds: ReadonlySet<string>): Promise<void> {
  const { journal, open } = await openJournal(context);
  try {
    await settleFetched(await open(), jobIds, { ...context, journal });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  } finally {
    await journal.close();
  }
}
