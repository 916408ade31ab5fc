import { reviseFailure } from '../../src/api/revise-failure.ts';
import type { Context } from '../../src/cli/context.ts';
import { liveLines } from '../../src/cli/live-lines.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import type { Column } from '../../src/cli/table.ts';
import type { Failure } from '../../src/errors/failure.ts';
import type { FetchedJob, JobFetch } from '../../src/jobs/fetch-job.ts';
import { fetchJob } from '../../src/jobs/fetch-job.ts';
import { inTurns } from '../../src/jobs/in-turns.ts';
import type { WaitedJob } from '../../src/jobs/job-source.ts';
import { settle, stopped } from './fetch-one.ts';
import type { JobWords } from './told-job.ts';
import { fetchedDocument } from './told-job.ts';

/** So many jobs are asked about at the same time. */
const MOST_AT_ONCE = 16;

/** Waits for several jobs and tells what became of each; the worst decides how it ends. */
export async function fetchMany<Job extends WaitedJob>(
  context: Context,
  ids: readonly string[],
  { words, ...options }: ManyJobs<Job>,
): Promise<CommandResult> {
  const { table } = await import('../../src/cli/table.ts');
  const live = liveLines(context.io);
  const states = new Map<string, State>(ids.map((id) => [id, { id, status: 'waiting' }]));
  const note = (state: State): void => {
    states.set(state.id, { ...states.get(state.id), ...state });
    live.show(table([...states.values()], LIVE_COLUMNS, context.io.err).split('\n'));
  };
  const left = (): readonly string[] => ids.filter((id) => states.get(id)?.isOver !== true);
  const work = inTurns(ids, MOST_AT_ONCE, async (id) => {
    const fetched = await fetchJob(id, { ...options, polling: watched(options, id, note) });
    const { failure, job, saved } = fetched;
    const status = job?.status ?? failure?.code ?? '';
    note({ id, status, output: saved?.path ?? '', isOver: failure?.exit !== 'deadline' });
    return fetched;
  });
  const all = await stopped(work, context, () => options.resumeAll(left())).finally(() =>
    live.clear(),
  );
  const saved = all.filter((one) => one.saved !== undefined).map(({ id }) => id);
  if (saved.length > 0) await settle(context, new Set(saved));
  const failure = worstFailure(all, () => options.resumeAll(left()));
  for (const other of otherFailures(all, failure)) context.io.warn(complaint(other));
  return {
    data: { items: all.map((one) => fetchedDocument(one, words)) },
    human: (look) => table(all, columns<Job>(), look),
    ...(failure === undefined ? {} : { failure }),
    exit: all.some(({ job }) => job?.phase === 'partial') ? 'partial' : 'ok',
  };
}

interface ManyJobs<Job extends WaitedJob> extends JobFetch<Job> {
  readonly words: JobWords<Job>;
  readonly resumeAll: (ids: readonly string[]) => string;
}

/** Each is told, but those that still run, which are told together. */
function otherFailures<Job extends WaitedJob>(
  all: readonly FetchedJob<Job>[],
  told: Failure | undefined,
): readonly Failure[] {
  return all
    .map(({ failure }) => failure)
    .filter((failure) => failure !== undefined)
    .filter((failure) => failure !== told && failure.exit !== 'deadline');
}

function complaint({ hint, message }: Failure): string {
  return `foley: ${message}${hint === undefined ? '' : `. ${hint}`}`;
}

interface State {
  readonly id: string;
  readonly status: string;
  readonly output?: string;
  readonly isOver?: boolean;
}

function watched<Job extends WaitedJob>(
  { polling }: JobFetch<Job>,
  id: string,
  note: (state: State) => void,
) {
  return (
    polling && {
      ...polling,
      onState: ({ status }: Job) => note({ id, status }),
      onTrouble: () => note({ id, status: 'asking again' }),
    }
  );
}

const LIVE_COLUMNS: readonly Column<State>[] = [
  { title: 'JOB', value: ({ id }) => id, whole: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'OUTPUT', value: ({ output = '' }) => output },
];

function columns<Job extends WaitedJob>(): readonly Column<FetchedJob<Job>>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title: 'STATUS', value: ({ failure, job }) => job?.status ?? failure?.code ?? '' },
    { title: 'CREDITS', value: ({ job }) => `${job?.creditsUsed ?? ''}` },
    { title: 'OUTPUT', value: ({ saved }) => saved?.path ?? '' },
  ];
}

/** A failed job before one that still runs, before one that is only partly there (contract, section 6). */
function worstFailure<Job extends WaitedJob>(
  all: readonly FetchedJob<Job>[],
  resume: () => string,
): Failure | undefined {
  const failures = all.map(({ failure }) => failure).filter((failure) => failure !== undefined);
  const failed = failures.find(({ exit }) => exit !== 'deadline');
  const [late] = failures;
  if (failed !== undefined || late === undefined) return failed;
  const { length } = failures;
  return reviseFailure(late, {
    ...(length === 1 ? {} : { message: `the time is over and ${length} jobs still run` }),
    hint: `\`${resume()}\` goes on.`,
  });
}
