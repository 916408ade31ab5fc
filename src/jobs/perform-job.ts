import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { FileAnswer } from '../api/file-answer.ts';
import type { PollDeps } from '../api/poll-job.ts';
import { pollJob } from '../api/poll-job.ts';
import type { RequestSpec } from '../api/request.ts';
import { Failure } from '../errors/failure.ts';
import type { IntentFacts, IntentJournal } from '../files/intents.ts';
import type { Output } from '../files/output.ts';
import { concludeFailed, concludeStopped } from '../speech/conclude.ts';
import type { PaidWork } from '../speech/paid-work.ts';
import { beginPaidWork } from '../speech/paid-work.ts';
import type { PlaceFor } from './fetch-job.ts';
import { afterAcceptance, failedJob } from './job-failures.ts';
import type { JobSource, WaitedJob } from './job-source.ts';
import type { SavedFile } from './save-file.ts';
import { saveFile } from './save-file.ts';

/** How a job that is created is waited for, and who is told. */
export interface JobCourse<Job extends WaitedJob> {
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
export interface JobPlan<Job extends WaitedJob, File extends FileAnswer> extends JobCourse<Job> {
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
  readonly onRefused?: (failure: Failure, work: PaidWork) => Promise<Failure | undefined>;
}

/** What became of an order. */
export interface PerformedJob<Job extends WaitedJob, File extends FileAnswer = FileAnswer> {
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
export async function performJob<Job extends WaitedJob, File extends FileAnswer>(
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
      plan.notice(`foley: stopped waiting; \`${plan.resume(job.id)}\` goes on with job ${job.id}`);
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

function begin<Job extends WaitedJob, File extends FileAnswer>(
  plan: JobPlan<Job, File>,
): Promise<PaidWork> {
  const { client, file, journal, request, what } = plan;
  const temporary = file?.temporary;
  return beginPaidWork(journal, {
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
  });
}

async function create<Job extends WaitedJob, File extends FileAnswer>(
  plan: JobPlan<Job, File>,
  work: PaidWork,
): Promise<Job> {
  const { notice, onRefused, request } = plan;
  const { lookAt, signal } = request;
  try {
    return await plan.create((key) => work.renew(key));
  } catch (error) {
    if (signal?.aborted === true) {
      notice(await concludeStopped(work, undefined, lookAt));
      throw signal.reason;
    }
    if (!(error instanceof Failure)) throw error;
    throw (await onRefused?.(error, work)) ?? (await concludeFailed(error, work, undefined));
  }
}

/** @param last keeps what was last heard, also when this throws */
async function awaitFile<Job extends WaitedJob, File extends FileAnswer>(
  { placeFor, polling, request: { signal }, source }: JobPlan<Job, File>,
  work: PaidWork,
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
  const onVerified = (facts: IntentFacts): Promise<void> => work.verified(facts);
  const saved = await saveFile(file, place, { format, signal, onVerified });
  await work.published({ bytes: saved.verdict.bytes });
  return { job, saved: { ...saved, file } };
}

function factsOf({ creditsUsed, id, requestId }: WaitedJob): IntentFacts {
  const facts = { jobId: id, requestId };
  return creditsUsed === undefined ? facts : { ...facts, creditsUsed };
}
