import type { JobApi, SpeechJob } from '../../api/resources/jobs.ts';
import { describeSound } from '../../audio/verify.ts';
import type { FetchedJob, WaitedJob, SavedFile } from '../../speech/jobs/job.ts';
import { display } from '../../text/display.ts';
import type { Context } from '../command.ts';
import type { GlobalOptions } from '../flags/global.ts';
import { startProgress } from '../render/progress.ts';
import { describeCost } from '../render/result.ts';

/** Returns the presenter of speech jobs. */
export function speechPresenter(
  api: JobApi,
  target: 'embedded' | 'hosted',
): JobPresenter<SpeechJob> {
  return {
    api,
    target,
    kind: 'tts',
    document: (told) => jobDocument(told, target),
    partial: partialNotice,
    saved: savedNotice,
    show({ clock, io }, label) {
      const progress = startProgress(io, clock, label);
      return { ...progress, state: ({ id, status }) => progress.update(`job ${id}: ${status}`) };
    },
  };
}

/** The document of creates and waits with `--json`. */
export function jobDocument(
  { job, requestId = job.requestId, saved }: JobResult<SpeechJob>,
  target: 'embedded' | 'hosted',
): Record<string, unknown> {
  return {
    id: job.id,
    kind: 'tts',
    api: job.api,
    status: job.status,
    output: saved?.path ?? null,
    requestId,
    creditsUsed: job.creditsUsed ?? null,
    quotaRemaining: job.quotaRemaining ?? null,
    ignoredParameters: job.ignoredParameters ?? null,
    target,
    raw: job.raw ?? null,
  };
}

/** The credits that a job cost; '' where the service does not report them. */
export function formatCost({ creditsUsed, phase }: WaitedJob): string {
  if (creditsUsed === undefined) return '';
  return phase === 'failed' && creditsUsed === 0 ? '0 (refunded)' : `${creditsUsed}`;
}

/** Reports partly spoken text, as a line for stderr. */
export function partialNotice({ id, segments, status }: SpeechJob): string {
  const failed = segments.filter((segment) => segment.status === 'fail');
  const which = failed.map(({ index }) => index).join(', ');
  const what = failed.length === 1 ? 'segment' : 'segments';
  const said = failed.length === 0 ? `its status is ${status}` : `${what} ${which} failed`;
  return display(`foley: job ${id} is only partly spoken (${said})`);
}

/** Reports the saved file and its cost, as a line for stderr. */
export function savedNotice({ isFree, job: told, saved }: JobResult<SpeechJob>): string {
  const job = isFree === true ? { ...told, creditsUsed: undefined } : told;
  if (saved === undefined) return describeCost(`job ${job.id}`, job);
  const sound = describeSound(saved.verdict);
  return describeCost(saved.path === undefined ? sound : `${saved.path}: ${sound}`, job);
}

/** A job and its saved result. */
export interface JobResult<Job extends WaitedJob> {
  readonly job: Job;
  /** The request id of its create, if this command created it. */
  readonly requestId?: string | undefined;
  readonly saved: SavedFile | undefined;
  /** The job was only downloaded: nothing was billed. */
  readonly isFree?: boolean;
}

/** Progress shown while waiting for a job. */
export interface JobProgress<Job extends WaitedJob> {
  state(job: Job): void;
  update(label: string): void;
  stop(): void;
}

/** Formats jobs of one kind. */
export interface JobPresenter<Job extends WaitedJob> {
  /** The document of creates and waits with `--json`. */
  document(told: JobResult<Job>): Record<string, unknown>;
  /** Reports a partial result, as a line for stderr. */
  partial(job: Job): string;
  /** Reports the saved file and its cost, as a line for stderr. */
  saved(told: JobResult<Job>): string;
  /** @param label shown until the first state arrives */
  show(context: Pick<Context, 'clock' | 'io'>, label: string): JobProgress<Job>;
  /** `kind` and `api` of the document. */
  readonly kind: string;
  readonly api: string;
  readonly target: 'embedded' | 'hosted';
}

/** Returns the document of a fetched job, with its error; null fields when its state is unknown. */
export function fetchedDocument<Job extends WaitedJob>(
  { failure, id, job, saved }: FetchedJob<Job>,
  words: JobPresenter<Job>,
): Record<string, unknown> {
  const { api, kind, target } = words;
  const document =
    job === undefined ? { ...UNHEARD, id, kind, api, target } : words.document({ job, saved });
  return failure === undefined ? document : { ...document, error: failure.summary };
}

const UNHEARD = {
  id: null,
  kind: null,
  api: null,
  status: null,
  output: null,
  requestId: null,
  creditsUsed: null,
  quotaRemaining: null,
  ignoredParameters: null,
  target: null,
  raw: null,
};

interface ResumeWishes {
  /** The command of the jobs; `jobs` by default. */
  readonly noun?: string;
  readonly api: JobApi;
  readonly output: string | undefined;
  /** Download only this segment. */
  readonly segment?: number | undefined;
}

/** Returns the command that resumes jobs, with the same service and output. */
export function resumeCommand(
  ids: readonly string[],
  { api, noun = 'jobs', output, segment }: ResumeWishes,
  globals: GlobalOptions,
): string {
  const words = [
    `foley ${noun} ${segment === undefined ? 'wait' : 'download'}`,
    ...ids.map((id) => quoted(id)),
    ...(segment === undefined ? [] : ['--segment', `${segment}`]),
    ...(output === undefined ? [] : ['-o', quoted(output)]),
    ...(api === 'v3' || noun !== 'jobs' ? [] : ['--api', api]),
    ...serviceFlags(globals),
  ];
  return words.join(' ');
}

/** Returns the flags that select the same service. */
export function serviceFlags({
  account,
  apiKeyFile,
  baseUrl,
  local,
}: GlobalOptions): readonly string[] {
  return [
    ...(local === true ? ['--local'] : []),
    ...(baseUrl === undefined ? [] : ['--base-url', quoted(baseUrl)]),
    ...(account === undefined ? [] : ['--account', quoted(account)]),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', quoted(apiKeyFile)]),
  ];
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Prints the id of a job the moment it exists: on stdout, or on stderr when stdout has another result. */
export async function reportCreated(
  context: Context,
  output: string | undefined,
  id: string,
): Promise<void> {
  const { globals, io } = context;
  if (globals.json === true || output === '-') io.notice(`foley: job ${id} was accepted`);
  else await context.emit({ human: () => id });
}
