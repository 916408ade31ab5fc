import type { ApiClient } from '../api/client.ts';
import { isNotFound, reviseFailure, TEXT_HINT } from '../api/failures.ts';
import type { PollCall, PollDeps, PolledJob } from '../api/poll.ts';
import { jobCost, pollJob } from '../api/poll.ts';
import type { RequestSpec } from '../api/request.ts';
import type { JobError } from '../api/resources/jobs.ts';
import type { FileResponse } from '../api/resources/speech.ts';
import type { Format } from '../audio/formats.ts';
import type { AudioVerdict } from '../audio/reader.ts';
import type { CodePointRange } from '../contract/unspoken.ts';
import type { System } from '../system/system.ts';
import type { IntentJournal, OpenIntent } from './intents.ts';
import { mayRun } from './intents.ts';
import type { PurchaseMetadata } from './purchase.ts';
import type { Output } from '../durable/output.ts';
import { abortable } from '../system/concurrency.ts';
import { Failure } from '../errors/failure.ts';
import { counted } from '../text/display.ts';
import type { BilledRequest, RequestRecorder } from './billed-request.ts';
import { createBilled } from './billed-request.ts';
import type { AudioOutputStream } from './deliver.ts';
import { deliver, publishVerified } from './deliver.ts';
import type { AudioCopy } from './reuse/reuse-store.ts';
import { recordedRanges } from './unspoken.ts';

/** The fields that jobs of every kind have. */
export interface WaitedJob extends PolledJob {
  readonly requestId: string;
  /** Why the job failed, if the service reports it. */
  readonly error: JobError | undefined;
}

export interface JobResultFile {
  readonly file: FileResponse;
  readonly format: Format;
  /** The spoken text, which limits the length of the audio; undefined if unknown. */
  readonly text?: string | undefined;
  /** Stores the verified audio for `--reuse`. */
  readonly copy?: AudioCopy | undefined;
}

/** Functions that query jobs of one kind and download their results. */
export interface JobSource<Job extends WaitedJob> {
  /** What the jobs make, as a noun for messages. */
  readonly result: 'audio' | 'image' | 'video';
  /** Returns the current state of a job. @throws Failure */
  get(id: string, call: Partial<PollCall>): Promise<Job>;
  /** Downloads the result of a job. @throws Failure */
  obtain(job: Job, signal: AbortSignal | undefined): Promise<JobResultFile>;
  /** True if `obtain` downloads only one segment of the job. A segment can exist even if the job failed. */
  readonly isPart?: boolean;
}

/** The destination of a result: an open file or a stream. */
export type ResultDestination =
  | { readonly output: Output; readonly stream?: undefined }
  | {
      readonly output?: undefined;
      readonly stream: AudioOutputStream;
    };

/** Opens the destination of a result, once the format of the result is known. */
export type OpenDestination = (
  ref: { readonly id: string },
  format: Format,
) => Promise<ResultDestination>;

export interface SavedFile {
  /** Path of the file; undefined for a stream. */
  readonly path: string | undefined;
  readonly verdict: AudioVerdict;
  /** Checksum of the file; undefined for a stream. */
  readonly checksum: string | undefined;
  /** Ranges of the text that the voice left out, if the service reports them. */
  readonly unspoken?: readonly CodePointRange[] | undefined;
}

interface SaveOptions {
  readonly placeFor: OpenDestination;
  readonly signal?: AbortSignal | undefined;
  /** Called with the size and checksum of the verified file, before the file gets its final name. */
  readonly onVerified?: ((metadata: PurchaseMetadata) => Promise<void>) | undefined;
}

/**
 * Saves a download and verifies it while it arrives. A file gets its final name only after all audio is verified.
 * @throws Failure of kind `bad_answer` or `output`, or the signal's abort reason
 */
export async function saveFile(
  { copy, file, format, text }: JobResultFile,
  ref: { readonly id: string },
  { onVerified, placeFor, signal }: SaveOptions,
): Promise<SavedFile> {
  const place = await placeFor(ref, format).catch((error: unknown) => {
    file.discard();
    throw error;
  });
  const sink = place.output ?? place.stream;
  try {
    const write = (chunk: Uint8Array): Promise<void> => abortable(sink.write(chunk), signal);
    const verdict = await deliver(file, format, { write }, text, copy);
    const { bytes } = verdict;
    const unspoken = recordedRanges(file.unspoken);
    const saved = await publishVerified(place, verdict, signal, async (checksum) => {
      if (checksum !== undefined) await onVerified?.({ bytes, checksum, unspoken });
    });
    return { ...saved, unspoken: file.unspoken };
  } finally {
    // Removes a partial download, since a result can be downloaded again. No effect after publication.
    await place.output?.abandon();
  }
}

/** How to wait for a job, and where to save its result. */
export interface ResultFetch<Job extends WaitedJob> {
  readonly source: JobSource<Job>;
  /** How to wait until the job has ended. If undefined, foley queries the job only once. */
  readonly polling: Omit<PollDeps<Job>, 'signal'> | undefined;
  /** Opens the destination of the result; if undefined, nothing is saved. */
  readonly placeFor: OpenDestination | undefined;
  readonly signal: AbortSignal | undefined;
  /** Called with each state of the job. */
  readonly onState?: ((job: Job) => void) | undefined;
  /** Records how the job ended. Called before the result is downloaded. */
  readonly onEnded?: ((job: Job) => Promise<void>) | undefined;
  readonly onVerified?: ((metadata: PurchaseMetadata, job: Job) => Promise<void>) | undefined;
  /** Returns the failure to report if the service does not have the job or its result. */
  readonly missing?: ((failure: Failure, id: string) => Failure) | undefined;
}

/** A job, or its id and what the journal recorded when the job was created. */
interface JobSubject<Job> {
  readonly id: string;
  readonly known?: Job | undefined;
  readonly recorded?: PurchaseMetadata | undefined;
}

/**
 * Waits until a job has ended, downloads its result and saves it. The callers record what happens in their journals.
 * @returns the job, and the saved file; undefined if the job failed or nothing is to be saved
 * @throws Failure; of kind `lost` if the job has ended but the service does not have the result. On abort, the abort
 * reason of the signal
 */
export async function fetchResult<Job extends WaitedJob>(
  { id, known, recorded = known }: JobSubject<Job>,
  fetch: ResultFetch<Job>,
): Promise<{ readonly job: Job; readonly saved: SavedFile | undefined }> {
  const { missing, onState, placeFor, signal, source } = fetch;
  const failed = (error: unknown, ended?: Job): never => {
    if (!isNotFound(error)) throw error;
    if (missing !== undefined) throw missing(error, id);
    const isLost = ended !== undefined && ended.phase !== 'running' && source.isPart !== true;
    throw isLost ? missingResult(error, ended, source.result) : error;
  };
  const state = await lastState({ id, known }, fetch).catch(failed);
  // A service may report the credits only when it creates the job.
  const { creditsUsed = jobCost(state.status, recorded?.creditsUsed) } = state;
  const job = { ...state, creditsUsed };
  onState?.(job);
  await fetch.onEnded?.(job);
  const isWanted = job.phase !== 'failed' || source.isPart === true;
  if (placeFor === undefined || !isWanted) return { job, saved: undefined };
  const { requestId = job.requestId } = recorded ?? {};
  const save = async (): Promise<SavedFile> =>
    saveFile(await source.obtain({ ...job, requestId }, signal), job, {
      placeFor,
      signal,
      onVerified: async (metadata) => fetch.onVerified?.(metadata, job),
    });
  return { job, saved: await save().catch((error: unknown) => failed(error, job)) };
}

function lastState<Job extends WaitedJob>(
  subject: { readonly id: string; readonly known: Job | undefined },
  { onState, polling, signal, source }: ResultFetch<Job>,
): Promise<Job> {
  const read = (call: Partial<PollCall>): Promise<Job> => source.get(subject.id, call);
  if (polling === undefined) return read({ signal });
  return pollJob(subject, read, {
    ...polling,
    signal,
    onState(job) {
      onState?.(job);
      polling.onState?.(job);
    },
  });
}

export interface JobRunOptions<Job extends WaitedJob> {
  readonly client: ApiClient;
  readonly journal: RequestRecorder;
  /** True to wait until the job has ended. Otherwise, its result is not saved. */
  readonly waits: boolean;
  readonly polling: Omit<PollDeps<Job>, 'signal'>;
  /** Called as soon as the job exists. */
  readonly onCreated: (job: Job) => Promise<void>;
  /** Returns the foley command that continues with a job after an interruption. */
  readonly resume: (jobId: string) => string;
  readonly notice: (line: string) => void;
}

interface JobPlan<Job extends WaitedJob> extends JobRunOptions<Job> {
  /** The kind of the job in the journal, such as `speech`. */
  readonly what: string;
  readonly request: RequestSpec;
  /** Sends the request, whose `onNewKey` records a new idempotency key in the journal. */
  readonly create: (request: RequestSpec) => Promise<Job>;
  readonly source: JobSource<Job>;
  /** Opens the destination of the result; if undefined, the result stays on the service. */
  readonly placeFor: OpenDestination | undefined;
  readonly file: Output | undefined;
  /**
   * Handles a failure instead of the default: records it, and returns the failure to report. If this function returns
   * undefined, the default handling follows.
   */
  readonly onFailure?: (failure: Failure, billed: BilledRequest) => Promise<Failure | undefined>;
}

/** A created job and its outcome. */
export interface PerformedJob<Job extends WaitedJob> {
  readonly job: Job;
  /** Id of the request that created the job. */
  readonly requestId: string;
  readonly saved: SavedFile | undefined;
  /** Why the job failed or still runs, or why its result could not be saved. */
  readonly failure: Failure | undefined;
}

/**
 * Creates a job. If requested, waits for the job and saves its result (docs/billing.md). After an interruption, the
 * job stays in the journal until `foley recover` downloads the result.
 * @throws Failure if no job was created; on abort, the abort reason of the signal
 */
export async function performJob<Job extends WaitedJob>(
  plan: JobPlan<Job>,
): Promise<PerformedJob<Job>> {
  const { notice, request, resume, waits } = plan;
  const { created, billed } = await createBilled({
    ...plan,
    output: plan.file,
    body: request.body?.bytes,
  });
  const { id, requestId } = created;
  await billed.advance('accepted', metadataOf(created));
  await plan.onCreated(created);
  let job = created;
  try {
    const saved = waits
      ? await saveWhenDone(plan, billed, created, (state) => (job = state))
      : undefined;
    if (saved === undefined) await billed.ended('published', {});
    return { job, requestId, saved, failure: undefined };
  } catch (error) {
    if (request.signal?.aborted === true) {
      notice(`foley: stopped waiting; \`${resume(id)}\` continues with job ${id}`);
      throw request.signal.reason;
    }
    if (!(error instanceof Failure)) {
      await billed.abandoned();
      throw error;
    }
    if (error.exit === 'lost') await billed.ended('lost', { problem: error.message });
    if (isNotFound(error) && error.exit !== 'lost') {
      return { job, requestId, saved: undefined, failure: missingJob(error, id, resume(id)) };
    }
    const failure = job.phase === 'failed' ? error : afterAcceptance(error, job, resume(id));
    return { job, requestId, saved: undefined, failure };
  }
}

async function saveWhenDone<Job extends WaitedJob>(
  { placeFor, polling, request: { signal }, source }: JobPlan<Job>,
  billed: BilledRequest,
  known: Job,
  onState: (job: Job) => void,
): Promise<SavedFile | undefined> {
  const { id } = known;
  const { saved } = await fetchResult(
    { id, known },
    {
      source,
      polling,
      placeFor,
      signal,
      onState,
      async onEnded(job) {
        if (job.phase !== 'failed') return billed.advance('accepted', metadataOf(job));
        const failure = failedJob(job);
        await billed.ended('refunded', { problem: failure.message });
        throw failure;
      },
      onVerified: (metadata) => billed.advance('verified', metadata),
    },
  );
  if (saved !== undefined) await billed.published({ bytes: saved.verdict.bytes });
  return saved;
}

function metadataOf({ creditsUsed, id, requestId }: WaitedJob): PurchaseMetadata {
  return { jobId: id, requestId, creditsUsed };
}

/** Options for waiting for a job and saving its result. */
export interface JobFetch<Job extends WaitedJob> extends ResultFetch<Job> {
  readonly signal: AbortSignal;
  readonly resume: (jobId: string) => string;
}

export interface FetchedJob<Job extends WaitedJob> {
  readonly id: string;
  /** The last known state of the job; undefined if the service never responded. */
  readonly job: Job | undefined;
  readonly saved: SavedFile | undefined;
  /** Why the job failed or still runs, or why its result could not be saved. */
  readonly failure: Failure | undefined;
}

/**
 * Waits for a job and saves its result, if requested. Returns a failure in the field `failure` and does not throw it.
 * @throws the abort reason of the signal
 */
export async function fetchJob<Job extends WaitedJob>(
  id: string,
  { resume, ...fetch }: JobFetch<Job>,
): Promise<FetchedJob<Job>> {
  let last: Job | undefined;
  try {
    const { job, saved } = await fetchResult(
      { id },
      { ...fetch, onState: (state) => (last = state) },
    );
    if (job.phase === 'failed' && saved === undefined) throw failedJob(job);
    return { id, job, saved, failure: undefined };
  } catch (error) {
    fetch.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const isAccepted = last !== undefined && last.phase !== 'failed';
    const failure =
      isAccepted || error.exit === 'deadline'
        ? afterAcceptance(error, last ?? { phase: 'running' }, resume(id))
        : error;
    return { id, job: last, saved: undefined, failure };
  }
}

/**
 * Records in the journal that the results of interrupted jobs were saved, so that `foley recover` skips these jobs.
 * @throws Failure of kind `state`
 */
export async function markFetched(
  open: readonly OpenIntent[],
  jobIds: ReadonlySet<string>,
  journal: IntentJournal,
  { clock }: System,
): Promise<void> {
  for (const intent of open) {
    const { jobId } = intent.facts;
    if (jobId === undefined || !jobIds.has(jobId) || mayRun(intent, clock)) continue;
    await journal.settle(intent, 'published');
  }
}

/** Creates the failure for a job that failed (exit code 20). The service refunds such jobs. */
export function failedJob({ error, id, requestId, status }: WaitedJob): Failure {
  const why = error?.message ?? error?.code;
  const reason = why === undefined ? '' : `: ${why}`;
  return new Failure(`job ${id} ended with ${status}${reason}`, {
    code: error?.code ?? status,
    exit: 'rejected',
    hint:
      error?.code === 'ERR_INVALID_REQUEST'
        ? `The job was refunded. ${TEXT_HINT}`
        : 'The job was refunded and is not retried automatically: create a new job with another idempotency key.',
    requestId,
    details: { jobId: id, status },
  });
}

function afterAcceptance(
  failure: Failure,
  { phase }: Pick<WaitedJob, 'phase'>,
  resume: string,
): Failure {
  const { exit, hint } = failure;
  const isAboutOutput = exit === 'deadline' || exit === 'output' || exit === 'exists';
  // The only argument that can be wrong is the name of the output.
  const continues = exit === 'usage' ? 'continues under such a name' : 'continues';
  // The same command would fail again, except with a running job.
  const isFinal = exit === 'lost' || (exit === 'rejected' && phase !== 'running');
  const hints = [
    isAboutOutput ? undefined : hint,
    isFinal ? undefined : `\`${resume}\` ${continues}.`,
  ];
  return reviseFailure(failure, {
    billed: 'yes',
    hint: hints.filter((one) => one !== undefined).join(' '),
  });
}

// The journal keeps the job: the service may find it again.
function missingJob(failure: Failure, id: string, resume: string): Failure {
  return reviseFailure(failure, {
    message: `job ${id} was accepted, but it is missing on the service: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: `\`${resume}\` looks for it again. A new job with another idempotency key is billed again.`,
  });
}

// A successful job whose result is missing on the service (exit code 27).
function missingResult(failure: Failure, { creditsUsed, id }: WaitedJob, result: string): Failure {
  const cost = creditsUsed === undefined ? '' : ` and cost ${counted(creditsUsed, 'credit')}`;
  return reviseFailure(failure, {
    message: `job ${id} is done${cost}, but its ${result} is missing on the service: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: 'A new job with another idempotency key is billed again.',
  });
}
