import { reviseFailure } from '../../../src/api/failures.ts';
import { mapConcurrent } from '../../../src/system/concurrency.ts';
import { Failure } from '../../../src/errors/failure.ts';
import type { PollDeps } from '../../../src/api/poll.ts';
import type {
  FetchedJob,
  JobFetch,
  JobSource,
  OpenDestination,
  WaitedJob,
} from '../../../src/paid/job.ts';
import { fetchJob, markFetched } from '../../../src/paid/job.ts';
import type { ServiceConnection, Context } from '../../../src/cli/command.ts';
import { openJournal } from '../journal.ts';
import { liveLines } from '../../../src/cli/render/progress.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import type { Column } from '../../../src/cli/render/table.ts';
import type { JobDocument, JobPresenter, WaitedJobs } from './format.ts';
import { fetchedDocument } from './format.ts';
import type { OpenPlace } from './places.ts';
import { folderPlace } from './places.ts';

const MAX_POLLED_JOBS = 16;

interface FetchCommand<Job extends WaitedJob> {
  /** The value of `--output`: a file, `-` for stdout, or a folder for the results of several jobs. */
  readonly output: string | undefined;
  readonly openPlace: (output: string) => Promise<OpenPlace>;
  /** Opens a file with an automatic name for the result of a single job. Used if `output` is undefined. */
  readonly automatic?: OpenDestination;
  readonly jobs: (connection: ServiceConnection) => JobAccess<Job>;
  readonly resume: (ids: readonly string[], output: string | undefined) => string;
}

/** How a command queries the jobs of one kind, waits for them and presents them. */
interface JobAccess<Job extends WaitedJob> {
  readonly source: JobSource<Job>;
  /** If undefined, the command does not wait until the jobs have ended. */
  readonly polling: PollDeps<Job> | undefined;
  readonly words: JobPresenter<Job>;
}

/** Downloads the result of one job and saves it. If `jobs` returns polling options, first waits until the job ends. */
export async function fetchJobCommand<Job extends WaitedJob>(
  context: Context,
  id: string,
  { automatic, jobs, openPlace, output, resume }: FetchCommand<Job>,
): Promise<CommandResult<JobDocument>> {
  const place = output === undefined ? undefined : await openPlace(output);
  try {
    const { polling, source, words } = jobs(await context.connect());
    return await fetchOne(context, id, words, {
      polling,
      source,
      placeFor: place?.placeFor ?? automatic,
      signal: context.signal,
      resume: (jobId) => resume([jobId], place?.nextName?.() ?? output),
    });
  } finally {
    await place?.abandon();
  }
}

/** Waits for one or several jobs. If `output` is given, saves the results. */
export async function waitCommand<Job extends WaitedJob>(
  context: Context,
  ids: readonly string[],
  command: FetchCommand<Job>,
): Promise<CommandResult<WaitedJobs>> {
  const [only = ''] = ids;
  if (ids.length === 1) return fetchJobCommand(context, only, command);
  const { jobs, output, resume } = command;
  const placeFor = output === undefined ? undefined : await folderPlace(context, output);
  const { polling, source, words } = jobs(await context.connect());
  const resumeAll = (left: readonly string[]) => resume(left, output);
  const resumeOne = (id: string) => resumeAll([id]);
  const fetch = { polling, source, placeFor, signal: context.signal, resume: resumeOne };
  return fetchMany(context, [...new Set(ids)], words, fetch, resumeAll);
}

async function fetchMany<Job extends WaitedJob>(
  context: Context,
  ids: readonly string[],
  words: JobPresenter<Job>,
  fetch: JobFetch<Job>,
  resumeAll: (ids: readonly string[]) => string,
): Promise<CommandResult<WaitedJobs>> {
  const { table } = await import('../../../src/cli/render/table.ts');
  const live = liveLines(context.io);
  const states = new Map<string, FetchState>(ids.map((id) => [id, { id, status: 'waiting' }]));
  const note = (state: FetchState): void => {
    states.set(state.id, { ...states.get(state.id), ...state });
    live.show(table([...states.values()], LIVE_COLUMNS, context.io.err).split('\n'));
  };
  const left = (): readonly string[] => ids.filter((id) => states.get(id)?.isOver !== true);
  const work = mapConcurrent(ids, MAX_POLLED_JOBS, async (id) => {
    const polling = fetch.polling && watched(context, fetch.polling, words, id, note);
    const fetched = await fetchJob(id, { ...fetch, polling });
    const { failure, job, saved } = fetched;
    const status = job?.status ?? failure?.code ?? '';
    note({ id, status, output: saved?.path ?? '', isOver: failure?.exit !== 'deadline' });
    return fetched;
  });
  const all = await withResumeHint(work, context, () => resumeAll(left())).finally(() =>
    live.clear(),
  );
  const saved = all.filter((one) => one.saved !== undefined).map(({ id }) => id);
  if (saved.length > 0) await markSaved(context, new Set(saved));
  const failures = all.flatMap((one) => one.failure ?? []);
  const failure = worstFailure(failures, () => resumeAll(left()));
  for (const other of failures) {
    // Running jobs are reported together, as the worst failure.
    if (other === failure || other.exit === 'deadline') continue;
    context.io.warn(`foley: ${other.message}${other.hint === undefined ? '' : `. ${other.hint}`}`);
  }
  const unspoken = all.flatMap(
    (one) => (one.job === undefined ? undefined : words.unspoken?.({ ...one, job: one.job })) ?? [],
  );
  const cuts = all.flatMap(({ job }) => (job === undefined ? undefined : words.cut?.(job)) ?? []);
  for (const line of [...unspoken, ...cuts]) context.io.warn(line);
  const isPartial = unspoken.length > 0 || all.some(({ job }) => job?.phase === 'partial');
  return {
    data: { items: all.map((one) => fetchedDocument(one, words)) },
    human: (style) => table(all, COLUMNS, style),
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial ? 'partial' : 'ok',
  };
}

interface FetchState {
  readonly id: string;
  readonly status: string;
  readonly output?: string;
  readonly isOver?: boolean;
}

function watched<Job extends WaitedJob>(
  { io }: Context,
  polling: PollDeps<Job>,
  words: JobPresenter<Job>,
  id: string,
  note: (state: FetchState) => void,
): PollDeps<Job> {
  return {
    ...polling,
    onState: (job) => note({ id, status: words.state(job) }),
    onTrouble(failure) {
      note({ id, status: `retrying (${failure.message})` });
      if (!io.showsProgress) polling.onTrouble?.(failure);
    },
  };
}

const LIVE_COLUMNS: readonly Column<FetchState>[] = [
  { title: 'JOB', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'OUTPUT', value: ({ output = '' }) => output },
];

const COLUMNS: readonly Column<FetchedJob<WaitedJob>>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ failure, job }) => job?.status ?? failure?.code ?? '' },
  { title: 'CREDITS', value: ({ job }) => `${job?.creditsUsed ?? ''}` },
  { title: 'OUTPUT', value: ({ saved }) => saved?.path ?? '' },
];

function worstFailure(failures: readonly Failure[], resume: () => string): Failure | undefined {
  const failed = failures.find(({ exit }) => exit !== 'deadline');
  const [late] = failures;
  if (failed !== undefined || late === undefined) return failed;
  const { length } = failures;
  return reviseFailure(late, {
    ...(length === 1 ? {} : { message: `timed out: ${length} jobs are still running` }),
    hint: `\`${resume()}\` continues.`,
  });
}

async function fetchOne<Job extends WaitedJob>(
  context: Context,
  id: string,
  words: JobPresenter<Job>,
  fetch: JobFetch<Job>,
): Promise<CommandResult<JobDocument>> {
  const { io } = context;
  const waits = fetch.polling !== undefined;
  const progress = words.show(context, waits ? `waiting for job ${id}` : `fetching job ${id}`);
  const polling = fetch.polling && {
    ...fetch.polling,
    onState: (job: Job) => progress.state(job),
    onTrouble(failure: Failure) {
      progress.update(`job ${id}: retrying (${failure.message})`);
      if (!io.showsProgress) fetch.polling?.onTrouble?.(failure);
    },
  };
  const fetched = await withResumeHint(fetchJob(id, { ...fetch, polling }), context, () =>
    fetch.resume(id),
  ).finally(() => progress.stop());
  if (fetched.saved !== undefined) await markSaved(context, new Set([id]));
  const { failure, job, saved } = fetched;
  if (job === undefined) {
    throw failure ?? new Error(`job ${id} has no state`);
  }
  // A downloaded segment is complete even if other segments failed.
  const isPartial = job.phase === 'partial' && fetch.source.isPart !== true;
  if (isPartial) io.warn(words.partial(job));
  if (failure === undefined) io.notice(words.saved({ job, saved, isFree: !waits }));
  const unspoken = words.unspoken?.({ job, saved });
  if (unspoken !== undefined) io.warn(unspoken);
  const cut = failure === undefined ? words.cut?.(job) : undefined;
  if (cut !== undefined) io.warn(cut);
  return {
    data: words.document({ job, saved }),
    // Without a path, the audio went to stdout.
    human: () => saved?.path ?? (fetch.placeFor === undefined ? job.status : ''),
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial || unspoken !== undefined ? 'partial' : 'ok',
  };
}

async function withResumeHint<T>(
  work: Promise<T>,
  { io, signal }: Context,
  resume: () => string,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) io.notice(`foley: stopped; \`${resume()}\` continues`);
    throw error;
  }
}

async function markSaved(context: Context, jobIds: ReadonlySet<string>): Promise<void> {
  const { journal, open } = await openJournal(context);
  try {
    await markFetched(await open(), jobIds, journal, context.system);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  } finally {
    await journal.close();
  }
}
