import type { JobApi, SpeechJob } from '../../src/api/speech-jobs.ts';
import type { Context } from '../../src/cli/context.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { FetchedJob, JobFetch } from '../../src/jobs/fetch-job.ts';
import { fetchJob } from '../../src/jobs/fetch-job.ts';
import { settleFetched } from '../../src/jobs/settle-fetched.ts';
import { openJournal } from '../open-journal.ts';
import { jobDocument, partialNotice, savedNotice } from './job-words.ts';

/** Waits for one job or downloads it, and tells what became of it. */
export async function fetchOne(
  context: Context,
  { api, id }: { readonly id: string; readonly api: JobApi },
  options: JobFetch,
  target: 'embedded' | 'hosted',
): Promise<CommandResult> {
  const { clock, io } = context;
  const waits = options.polling !== undefined;
  const progress = startProgress(io, clock, waits ? `waiting for job ${id}` : `fetching job ${id}`);
  const polling = options.polling && {
    ...options.polling,
    onState: ({ status }: SpeechJob) => progress.update(`job ${id}: ${status}`),
    onTrouble(failure: Failure) {
      progress.update(`job ${id}: asking again (${failure.message})`);
      if (!io.showsProgress) options.polling?.onTrouble?.(failure);
    },
  };
  const fetched = await stopped(fetchJob({ id, api }, { ...options, polling }), context, () =>
    options.resume(id),
  ).finally(() => progress.stop());
  if (fetched.saved !== undefined) await settle(context, new Set([id]));
  const { failure, job, saved } = fetched;
  if (job === undefined) {
    throw failure ?? new Error(`nothing is known of job ${id}`);
  }
  const isPartial = job.phase === 'partial' && options.segment === undefined;
  if (isPartial) io.complain(partialNotice(job));
  if (failure === undefined) io.notice(savedNotice({ job, saved }));
  return {
    data: jobDocument({ job, saved }, target),
    human: () => shown(fetched, options),
    ...(failure === undefined ? {} : { failure }),
    // Of one segment nothing is missing, whatever became of the others.
    exit: isPartial ? 'partial' : 'ok',
  };
}

/** What a person gets on stdout: where the audio is, else how the job is; nothing beside audio. */
function shown({ failure, job, saved }: FetchedJob, { placeFor }: JobFetch): string {
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
