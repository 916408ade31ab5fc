import path from 'node:path';
import type { FileResponse } from '../../api/resources/speech.ts';
import type { ApiClient } from '../../api/client.ts';
import { reviseFailure } from '../../api/failures.ts';
import type { PollDeps } from '../../api/poll.ts';
import { pollJob } from '../../api/poll.ts';
import type { RequestSpec } from '../../api/request.ts';
import type { IntentMetadata, IntentJournal } from '../../durable/intents.ts';
import type { Output } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import { counted } from '../../text/display.ts';
import { recordFailure, recordCancellation, beginBilledRequest } from '../billed-request.ts';
import type { BilledRequest } from '../billed-request.ts';
import type { JobSource, WaitedJob, SavedFile, PlaceFor } from './job-source.ts';
import { saveFile } from './job-source.ts';

/** How a job that is created is waited for, and who is told. */
export interface JobRunOptions<Job extends WaitedJob> {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  /** Whether the end is waited for; always where what it makes is wanted. */
  readonly waits: boolean;
  readonly polling: Omit<PollDeps<Job>, 'signal'>;
  /** Told the moment that the job exists. */
  readonly onCreated: (job: Job) => Promise<void>;
  /** What the person types to go on with a job. */
  readonly resume: (jobId: string) => string;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/** What is ordered, how it is asked for, and where what is made goes. */
interface JobPlan<Job extends WaitedJob, File extends FileResponse> extends JobRunOptions<Job> {
  /** What it is, as the journal calls it. */
  readonly what: string;
  readonly request: RequestSpec;
  /** Sends it; is told when a key was refunded and another is used. */
  readonly create: (onNewKey: (key: string) => Promise<void>) => Promise<Job>;
  readonly source: JobSource<Job, File>;
  /** Where what it makes goes once it is there; without it the job is left to itself. */
  readonly placeFor: PlaceFor | undefined;
  /** The file that was opened for that, where there is one. */
  readonly file: Output | undefined;
  /** Notes what became of a create that failed in a way of its own, and gives what is told; else undefined. */
  readonly onRefused?: (failure: Failure, work: BilledRequest) => Promise<Failure | undefined>;
}

/** What became of an order. */
export interface PerformedJob<Job extends WaitedJob, File extends FileResponse = FileResponse> {
  /** As it was last heard of. */
  readonly job: Job;
  /** The request id of its create. */
  readonly requestId: string;
  /** What it made, where that was wanted and is there. */
  readonly saved: (SavedFile & { readonly file: File }) | undefined;
  /** Why it is not what was asked for: it failed, it still runs, or what it made could not be saved. */
  readonly failure: Failure | undefined;
}

/**
 * Creates a job of any kind and, where that is wanted, waits for it and saves what it made
 * (docs/billing.md). From the moment that it is accepted nothing is sent again but asked for; what is
 * interrupted stays in the journal until `foley recover` has fetched it.
 * @throws Failure when there is no job; or the reason of the signal
 */
export async function performJob<Job extends WaitedJob, File extends FileResponse>(
  plan: JobPlan<Job, File>,
): Promise<PerformedJob<Job, File>> {
  const work = await begin(plan);
  const job = await create(plan, work);
  await work.accepted(factsOf(job));
  await plan.onCreated(job);
  const heard = { job, requestId: job.requestId };
  if (!plan.waits) {
    await work.ended('published', {});
    return { ...heard, saved: undefined, failure: undefined };
  }
  const last = { job };
  try {
    return { ...heard, ...(await awaitFile(plan, work, last)), failure: undefined };
  } catch (error) {
    const { signal } = plan.request;
    if (signal?.aborted === true) {
      plan.notice(
        `foley: stopped waiting; \`${plan.resume(job.id)}\` continues with job ${job.id}`,
      );
      throw signal.reason;
    }
    if (!(error instanceof Failure)) {
      await work.abandoned();
      throw error;
    }
    if (error.exit === 'lost') await work.ended('lost', { problem: error.message });
    const isOver = last.job.phase === 'failed';
    const failure = isOver ? error : afterAcceptance(error, last.job, plan.resume(job.id));
    return { ...heard, job: last.job, saved: undefined, failure };
  }
}

function begin<Job extends WaitedJob, File extends FileResponse>(
  plan: JobPlan<Job, File>,
): Promise<BilledRequest> {
  const { client, file, journal, request, what } = plan;
  const temporary = file?.temporary;
  return beginBilledRequest(journal, {
    what,
    wire: client.describe(request),
    target: client.address.kind,
    // A key that is not heeded is no help to whoever looks for what became of it.
    idempotencyKey: request.retry === 'keyed' ? request.key?.value : undefined,
    hasOwnKey: request.key?.madeByTool === false,
    apiKey: client.address.apiKey,
    requestId: request.requestId ?? null,
    output: file === undefined || temporary === undefined ? null : path.resolve(file.path),
    temporary: temporary === undefined ? null : path.resolve(temporary),
    body: request.body?.bytes,
  });
}

async function create<Job extends WaitedJob, File extends FileResponse>(
  plan: JobPlan<Job, File>,
  work: BilledRequest,
): Promise<Job> {
  const { notice, onRefused, request } = plan;
  const { lookAt, signal } = request;
  try {
    return await plan.create((key) => work.renew(key));
  } catch (error) {
    if (signal?.aborted === true) {
      notice(await recordCancellation(work, undefined, lookAt));
      throw signal.reason;
    }
    if (!(error instanceof Failure)) throw error;
    throw (await onRefused?.(error, work)) ?? (await recordFailure(error, work, undefined));
  }
}

/** @param last keeps what was last heard, also when this throws */
async function awaitFile<Job extends WaitedJob, File extends FileResponse>(
  { placeFor, polling, request: { signal }, source }: JobPlan<Job, File>,
  work: BilledRequest,
  last: { job: Job },
): Promise<Pick<PerformedJob<Job, File>, 'job' | 'saved'>> {
  const known = last.job;
  const job = await pollJob({ id: known.id, known }, (call) => source.get(known.id, call), {
    ...polling,
    signal,
    onState: (state) => {
      last.job = state;
      polling.onState?.(state);
    },
  });
  last.job = job;
  if (job.phase === 'failed') {
    const failure = failedJob(job);
    await work.ended('failed', { problem: failure.message });
    throw failure;
  }
  await work.done(factsOf(job));
  if (placeFor === undefined) {
    await work.ended('published', {});
    return { job, saved: undefined };
  }
  const { file, format } = await source.obtain(job, signal);
  const place = await placeFor(job, format).catch((error: unknown) => {
    file.discard();
    throw error;
  });
  const onVerified = (facts: IntentMetadata): Promise<void> => work.verified(facts);
  const saved = await saveFile(file, place, { format, signal, onVerified });
  await work.published({ bytes: saved.verdict.bytes });
  return { job, saved: { ...saved, file } };
}

function factsOf({ creditsUsed, id, requestId }: WaitedJob): IntentMetadata {
  const facts = { jobId: id, requestId };
  return creditsUsed === undefined ? facts : { ...facts, creditsUsed };
}

/** A job that ended without what it was to make (exit 20); the service gives back what was set aside for it. */
export function failedJob({ error, id, requestId, status }: WaitedJob): Failure {
  const why = error?.message ?? error?.code;
  return new Failure(`job ${id} ended with ${status}${why === undefined ? '' : `: ${why}`}`, {
    code: error?.code ?? status,
    exit: 'rejected',
    hint: 'It is refunded and is not made again by itself: create a new job, under another key.',
    requestId,
    details: { jobId: id, status },
  });
}

/**
 * What went wrong after a job was accepted: it is paid for, and there to be asked for again.
 * @param job as it was last heard of
 * @param resume what the person types to go on
 */
export function afterAcceptance(
  failure: Failure,
  job: Pick<WaitedJob, 'phase'>,
  resume: string,
): Failure {
  const { exit, hint } = failure;
  const next =
    exit === 'deadline' || exit === 'output' || exit === 'exists' || hint === undefined
      ? undefined
      : hint;
  // What was wrong with the command can only be the name of its output.
  const goesOn = exit === 'usage' ? 'continues under such a name' : 'continues';
  const hints = [next, isFinal(failure, job) ? undefined : `\`${resume}\` ${goesOn}.`];
  return reviseFailure(failure, {
    billed: 'yes',
    hint: hints.filter((one) => one !== undefined).join(' '),
  });
}

/** The same command would end in the same way; of a job that still runs there may be more later. */
function isFinal({ exit }: Failure, { phase }: Pick<WaitedJob, 'phase'>): boolean {
  return exit === 'lost' || (exit === 'rejected' && phase !== 'running');
}

/**
 * A job that ended well and of which the service does not have what it made (exit 27).
 * @param what it is, such as `audio`
 */
export function goneFile(failure: Failure, { creditsUsed, id }: WaitedJob, what: string): Failure {
  const cost = creditsUsed === undefined ? '' : ` and cost ${counted(creditsUsed, 'credit')}`;
  return reviseFailure(failure, {
    message: `job ${id} is done${cost}, but its ${what} is not there any more: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: 'A new job, under another key, is paid for again.',
  });
}
