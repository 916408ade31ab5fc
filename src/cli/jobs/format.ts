import type { JobApi, SpeechJob } from '../../api/resources/jobs.ts';
import { describeSound } from '../../audio/verify.ts';
import type { FetchedJob } from '../../speech/jobs/fetch-job.ts';
import type { WaitedJob, SavedFile } from '../../speech/jobs/job-source.ts';
import { display } from '../../text/display.ts';
import type { Context } from '../command.ts';
import type { GlobalOptions } from '../flags/global.ts';
import { startProgress } from '../render/progress.ts';
import { describeCost } from '../render/result.ts';

/** How speech jobs are told. */
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

/** That only a part of a text was spoken, on a line for stderr. */
export function partialNotice({ id, segments, status }: SpeechJob): string {
  const failed = segments.filter((segment) => segment.status === 'fail');
  const which = failed.map(({ index }) => index).join(', ');
  const what = failed.length === 1 ? 'segment' : 'segments';
  const said = failed.length === 0 ? `its status is ${status}` : `${what} ${which} failed`;
  return display(`foley: job ${id} is only partly spoken (${said})`);
}

/** What was saved and what it cost, on a line for stderr. */
export function savedNotice({ isFree, job: told, saved }: JobResult<SpeechJob>): string {
  const job = isFree === true ? { ...told, creditsUsed: undefined } : told;
  if (saved === undefined) return describeCost(`job ${job.id}`, job);
  const sound = describeSound(saved.verdict);
  return describeCost(saved.path === undefined ? sound : `${saved.path}: ${sound}`, job);
}

/** A job and what was made of it. */
export interface JobResult<Job extends WaitedJob> {
  readonly job: Job;
  /** Of its create, where this command created it. */
  readonly requestId?: string | undefined;
  readonly saved: SavedFile | undefined;
  /** Only downloaded: this command paid nothing. */
  readonly isFree?: boolean;
}

/** What a person sees while a job is waited for. */
export interface JobProgress<Job extends WaitedJob> {
  state(job: Job): void;
  update(label: string): void;
  stop(): void;
}

/** How jobs of one kind are told. */
export interface JobPresenter<Job extends WaitedJob> {
  /** The document of creates and waits with `--json`. */
  document(told: JobResult<Job>): Record<string, unknown>;
  /** That only a part of it was made, on a line for stderr. */
  partial(job: Job): string;
  /** What was saved and what it cost, on a line for stderr. */
  saved(told: JobResult<Job>): string;
  /** @param label what goes on until something is heard of it */
  show(context: Pick<Context, 'clock' | 'io'>, label: string): JobProgress<Job>;
  /** What such a job is called with `--json`, and the interface that has it. */
  readonly kind: string;
  readonly api: string;
  readonly target: 'embedded' | 'hosted';
}

/** The document of a job of which perhaps nothing was heard, with what went wrong. */
export function fetchedDocument<Job extends WaitedJob>(
  { failure, id, job, saved }: FetchedJob<Job>,
  words: JobPresenter<Job>,
): Record<string, unknown> {
  const { api, kind, target } = words;
  const document =
    job === undefined ? { ...UNHEARD, id, kind, api, target } : words.document({ job, saved });
  if (failure === undefined) return document;
  const { code, exitCode, message } = failure;
  return { ...document, error: { code, message, exitCode } };
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
  /** What the jobs are of; speech by default. */
  readonly noun?: string;
  readonly api: JobApi;
  readonly output: string | undefined;
  /** Only this segment, for which nobody waits. */
  readonly segment?: number | undefined;
}

/** The command that goes on with jobs, on the same service and into the same place. */
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

/** The flags with which another command talks to the same service. */
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

/** A word as a shell takes it. */
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
