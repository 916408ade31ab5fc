import type { JobApi, SpeechJob } from '../../../src/api/resources/jobs.ts';
import { firstRecord } from '../../../src/api/response.ts';
import { describeSound } from '../../../src/audio/verify.ts';
import type { FetchedJob, WaitedJob, SavedFile } from '../../../src/paid/job.ts';
import type { ReuseFields } from '../../../src/paid/reuse/reused.ts';
import { describeUnspoken, unspokenWords } from '../../../src/paid/unspoken.ts';
import { countCodePoints } from '../../../src/text/code-points.ts';
import { display, quoted } from '../../../src/text/display.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { GlobalOptions } from '../../../src/cli/flags/global.ts';
import { startProgress } from '../../../src/cli/render/progress.ts';
import { describeCost } from '../../../src/cli/render/result.ts';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import type { CodePointRange } from '../../../src/contract/unspoken.ts';
import type { FailureSummary } from '../../../src/errors/failure.ts';
import type { Cut } from '../../../src/media/cut.ts';

/** Returns functions that format the results of speech jobs for stdout and stderr. */
export function speechPresenter(
  api: JobApi,
  target: 'embedded' | 'hosted',
): JobPresenter<SpeechJob> {
  return {
    api,
    target,
    kind: 'tts',
    document: (result) => jobDocument(result, target),
    partial: partialNotice,
    unspoken: unspokenNotice,
    saved: savedNotice,
    state: progressOf,
    show({ system: { clock }, io }, label) {
      const progress = startProgress(io, clock, label);
      return { ...progress, state: (job) => progress.update(`job ${job.id}: ${progressOf(job)}`) };
    },
  };
}

/** Returns the status of a job, and how much of its text was spoken if it has several segments: `processing, 40 %`. */
export function progressOf({ segments, status }: SpeechJob): string {
  if (segments.length < 2) return status;
  const spoken = segments.filter((segment) => segment.status === 'success').length;
  return `${status}, ${Math.floor((100 * spoken) / segments.length)} %`;
}

/** Returns the document that `--json` prints when a command creates a job or waits for it. */
export function jobDocument(
  { job, requestId = job.requestId, saved, text }: JobResult<SpeechJob>,
  target: 'embedded' | 'hosted',
): JobDocument {
  const document = documentOf({ ...job, kind: 'tts', output: saved?.path, requestId, target });
  // null before the download: only the response with the audio lists the words that were left out.
  return { ...document, unspoken: saved === undefined ? null : unspokenOf({ job, saved, text }) };
}

/** Formats a notice about words that the voice left out; undefined if the voice spoke all words. */
export function unspokenNotice(result: JobResult<SpeechJob>): string | undefined {
  const words = unspokenOf(result);
  if (words.length === 0) return undefined;
  return describeUnspoken(words, { where: `job ${result.job.id}` });
}

// A job shows the first 80 characters of its text: later words are known only to the command that sent the text.
function unspokenOf({ job, saved, text }: JobResult<SpeechJob>): readonly UnspokenText[] {
  const ranges = saved?.unspoken ?? [];
  const { textPreview } = firstRecord(firstRecord(job.raw)?.['task']) ?? {};
  const known = text ?? (typeof textPreview === 'string' ? textPreview : '');
  const length = countCodePoints(known);
  const words = unspokenWords(
    known,
    ranges.filter(({ end }) => end <= length),
  );
  if (text !== undefined) return words;
  return ranges.map((range, index) => ({ ...range, text: words[index]?.text }));
}

/** A job, as `--json` describes it. */
export interface JobDocument extends Partial<ReuseFields> {
  readonly id: string;
  readonly kind: 'tts' | MediaJobKind;
  /** The API surface of the job, such as `v3`. */
  readonly api: string;
  /** Null if the job could not be read. */
  readonly status: string | null;
  /** Path of the saved result; null if nothing was saved, or the result went to stdout. */
  readonly output: string | null;
  /** Id of the request that created the job. */
  readonly requestId: string | null;
  readonly creditsUsed: number | null;
  readonly quotaRemaining: number | null;
  /** The controls that the model did not apply; null if the service does not report them. */
  readonly ignoredParameters: readonly string[] | null;
  readonly target: 'embedded' | 'hosted';
  /** The response of the service. */
  readonly raw: unknown;
  /** For speech: the words that the voice left out; null before the audio was downloaded. */
  readonly unspoken?: readonly UnspokenText[] | null;
  /** For lip sync and dubbing: the input that the result contains only in part. */
  readonly cut?: Cut | null;
}

/** A word that the voice left out. The text is known to the command that sent it. */
interface UnspokenText extends CodePointRange {
  readonly text?: string | undefined;
}

/** A job that a command waited for. */
export interface FetchedJobDocument extends JobDocument {
  /** Why the job failed or could not be fetched. */
  readonly error?: FailureSummary;
}

/** What a command prints that waits for one job, or for several. */
export type WaitedJobs = JobDocument | { readonly items: readonly FetchedJobDocument[] };

type KnownFields = Pick<JobDocument, 'api' | 'id' | 'kind' | 'target'> & {
  readonly [Field in keyof JobDocument]?: JobDocument[Field] | undefined;
};

/** Returns the fields of a job for `--json`, in a fixed order. Missing fields are null. */
export function documentOf({
  api,
  creditsUsed = null,
  id,
  ignoredParameters = null,
  kind,
  output = null,
  quotaRemaining = null,
  raw = null,
  requestId = null,
  status = null,
  target,
}: KnownFields): JobDocument {
  return {
    id,
    kind,
    api,
    status,
    output,
    requestId,
    creditsUsed,
    quotaRemaining,
    ignoredParameters,
    target,
    raw,
  };
}

/** Formats the credits that a job cost; an empty text if the service does not report the cost. */
export function formatCost({ creditsUsed, phase }: WaitedJob): string {
  if (creditsUsed === undefined) return '';
  return phase === 'failed' && creditsUsed === 0 ? '0 (refunded)' : `${creditsUsed}`;
}

/** Formats a notice about a job that completed only in part. */
export function partialNotice({ id, segments, status }: SpeechJob): string {
  const failed = segments.filter((segment) => segment.status === 'fail');
  const which = failed.map(({ index }) => index).join(', ');
  const what = failed.length === 1 ? 'segment' : 'segments';
  const said = failed.length === 0 ? `its status is ${status}` : `${what} ${which} failed`;
  return display(`foley: job ${id} is only partly spoken (${said})`);
}

/** Formats a notice about the saved file and the cost. */
export function savedNotice({ isFree, job: created, saved }: JobResult<SpeechJob>): string {
  const job = isFree === true ? { ...created, creditsUsed: undefined } : created;
  if (saved === undefined) return describeCost(`job ${job.id}`, job);
  const sound = describeSound(saved.verdict);
  return describeCost(saved.path === undefined ? sound : `${saved.path}: ${sound}`, job);
}

export interface JobResult<Job extends WaitedJob> {
  readonly job: Job;
  /** Id of the request that created the job; undefined if another command created the job. */
  readonly requestId?: string | undefined;
  readonly saved: SavedFile | undefined;
  /** The text of the job; undefined if another command sent the text. */
  readonly text?: string | undefined;
  /** Whether this command only downloaded the result of a job. Such a download is free. */
  readonly isFree?: boolean;
}

interface JobProgress<Job extends WaitedJob> {
  state(job: Job): void;
  update(label: string): void;
  stop(): void;
}

export interface JobPresenter<Job extends WaitedJob> {
  /** Returns the document that `--json` prints when a command creates a job or waits for it. */
  document(result: JobResult<Job>): JobDocument;
  /** Formats a notice about a job that completed only in part. */
  partial(job: Job): string;
  /** Formats a notice about words that the voice left out; undefined if the voice spoke all words. */
  unspoken?(result: JobResult<Job>): string | undefined;
  /** Formats a notice about the saved file and the cost. */
  saved(result: JobResult<Job>): string;
  /** Formats a warning about an input that the result contains only in part; undefined if it contains all of it. */
  cut?(job: Job): string | undefined;
  /** Formats the status of a job, and how much of the job is done if the service reports it: `processing, 40 %`. */
  state(job: Job): string;
  /** Starts a display of a job's progress. @param label text to show until the first state arrives */
  show(context: Context, label: string): JobProgress<Job>;
  /** The kind of the jobs, such as `tts`, as the `--json` document contains it. */
  readonly kind: JobDocument['kind'];
  readonly api: string;
  readonly target: 'embedded' | 'hosted';
}

/** Returns the `--json` document of a fetched job, with the error if fetching failed. Unknown fields are null. */
export function fetchedDocument<Job extends WaitedJob>(
  { failure, id, job, saved }: FetchedJob<Job>,
  words: JobPresenter<Job>,
): FetchedJobDocument {
  const { api, kind, target } = words;
  const document =
    job === undefined ? documentOf({ id, kind, api, target }) : words.document({ job, saved });
  return failure === undefined ? document : { ...document, error: failure.summary };
}

/**
 * Returns the shell command that waits for the given jobs. With `segment`, returns the command that downloads this
 * segment of a job. The returned command contains the current service flags, such as `--local`.
 * @param options `noun`: the command group of the jobs, such as `dub`
 */
export function resumeCommand(
  ids: readonly string[],
  {
    api,
    noun = 'jobs',
    output,
    segment,
  }: {
    readonly api: JobApi;
    readonly noun?: string;
    readonly output: string | undefined;
    readonly segment?: number | undefined;
  },
  globals: GlobalOptions,
): string {
  return [
    `foley ${noun} ${segment === undefined ? 'wait' : 'download'}`,
    ...ids.map((id) => quoted(id)),
    ...(segment === undefined ? [] : ['--segment', `${segment}`]),
    ...(output === undefined ? [] : ['-o', quoted(output)]),
    ...(api === 'v3' || noun !== 'jobs' ? [] : ['--api', api]),
    ...serviceFlags(globals),
  ].join(' ');
}

/** Returns the flags that make another foley command use the same service as this command, such as `--local`. */
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

/** Prints the id of a new job: on stdout, or on stderr if stdout is needed for the audio or a JSON document. */
export async function reportCreated(
  context: Context,
  output: string | undefined,
  id: string,
): Promise<void> {
  const { globals, io } = context;
  if (globals.json === true || output === '-') io.notice(`foley: job ${id} was accepted`);
  else await context.emit({ human: () => id });
}
