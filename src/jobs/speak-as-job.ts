import path from 'node:path';
import type { AudioAnswer } from '../api/audio-answer.ts';
import type { ApiClient } from '../api/client.ts';
import type { PollDeps } from '../api/poll-job.ts';
import type { SpeechOrder } from '../api/speech-order.ts';
import type { JobOptions, SpeechJob } from '../api/speech-jobs.ts';
import { createSpeechJob, pollSpeechJob, speechJobRequest } from '../api/speech-jobs.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { Failure } from '../errors/failure.ts';
import type { IntentFacts, IntentJournal } from '../files/intents.ts';
import { concludeFailed, concludeStopped } from '../speech/conclude.ts';
import type { PaidWork } from '../speech/paid-work.ts';
import { beginPaidWork } from '../speech/paid-work.ts';
import { afterAcceptance, failedJob } from './job-failures.ts';
import { obtainAudio } from './obtain-audio.ts';
import type { Place, SavedAudio } from './save-audio.ts';
import { saveAudio } from './save-audio.ts';

/** What is ordered, where its audio goes, and who is told. */
export interface JobOrder {
  readonly client: ApiClient;
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly options: JobOptions;
  /** Where the audio goes once it is there; without it the job is left to itself. */
  readonly place: Place | undefined;
  /** Whether the end is waited for; always with a place. */
  readonly waits: boolean;
  readonly polling: Omit<PollDeps<SpeechJob>, 'signal'>;
  readonly journal: IntentJournal;
  /** Told the moment that the job exists. */
  readonly onCreated: (job: SpeechJob) => Promise<void>;
  /** What the person types to go on with a job. */
  readonly resume: (jobId: string) => string;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/** What became of an order. */
export interface JobOutcome {
  /** As it was last heard of. */
  readonly job: SpeechJob;
  /** The request id of its create. */
  readonly requestId: string;
  /** Its audio, where that was wanted and there is some. */
  readonly saved:
    | (SavedAudio & { readonly audio: Omit<AudioAnswer, 'body' | 'discard'> })
    | undefined;
  /** Why it is not what was asked for: it failed, it still runs, or its audio could not be saved. */
  readonly failure: Failure | undefined;
}

/**
 * Creates a job and, where that is wanted, waits for it and saves its audio (docs/billing.md). From the
 * moment that it is accepted nothing is sent again but asked for; what is interrupted stays in the
 * journal until `foley recover` has fetched it.
 * @throws Failure when there is no job; or the reason of the signal
 */
export async function speakAsJob(order: JobOrder): Promise<JobOutcome> {
  const work = await begin(order);
  const job = await create(order, work);
  await work.accepted(factsOf(job));
  await order.onCreated(job);
  const heard = { job, requestId: job.requestId };
  if (!order.waits) {
    await work.ended('published', {});
    return { ...heard, saved: undefined, failure: undefined };
  }
  const last = { job };
  try {
    return { ...heard, ...(await awaitAudio(order, work, last)), failure: undefined };
  } catch (error) {
    const { signal } = order.options;
    if (signal?.aborted === true) {
      order.notice(
        `foley: stopped waiting; \`${order.resume(job.id)}\` goes on with job ${job.id}`,
      );
      throw signal.reason;
    }
    if (!(error instanceof Failure)) {
      await work.abandoned();
      throw error;
    }
    if (error.exit === 'lost') await work.ended('lost', { problem: error.message });
    const isOver = last.job.phase === 'failed';
    const failure = isOver ? error : afterAcceptance(error, order.resume(job.id));
    return { ...heard, job: last.job, saved: undefined, failure };
  }
}

function begin({ client, journal, options, order, place }: JobOrder): Promise<PaidWork> {
  const file = place?.output?.temporary === undefined ? undefined : place.output;
  return beginPaidWork(journal, {
    wire: client.describe(speechJobRequest(client, order, options)),
    target: client.address.kind,
    idempotencyKey: options.idempotencyKey.value,
    requestId: options.requestId ?? null,
    text: order.text,
    output: file === undefined ? null : path.resolve(file.path),
    temporary: file?.temporary === undefined ? null : path.resolve(file.temporary),
  });
}

async function create(
  { client, notice, options, order }: JobOrder,
  work: PaidWork,
): Promise<SpeechJob> {
  try {
    const onNewKey = (key: string): Promise<void> => work.renew(key);
    return await createSpeechJob(client, order, { ...options, onNewKey });
  } catch (error) {
    if (options.signal?.aborted === true) {
      notice(await concludeStopped(work, undefined));
      throw options.signal.reason;
    }
    if (error instanceof Failure) throw await concludeFailed(error, work, undefined);
    throw error;
  }
}

/** @param last keeps what was last heard, also when this throws */
async function awaitAudio(
  { client, options: { signal }, order, place, polling }: JobOrder,
  work: PaidWork,
  last: { job: SpeechJob },
): Promise<Pick<JobOutcome, 'job' | 'saved'>> {
  const known = last.job;
  const job = await pollSpeechJob(client, known, {
    ...polling,
    known,
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
  if (place === undefined) {
    await work.ended('published', {});
    return { job, saved: undefined };
  }
  const audio = await obtainAudio(client, job, signal);
  const onVerified = (facts: IntentFacts): Promise<void> => work.verified(facts);
  const saved = await saveAudio(audio, place, { format: order.format, signal, onVerified });
  await work.published({ bytes: saved.verdict.bytes });
  return { job, saved: { ...saved, audio } };
}

function factsOf({ creditsUsed, id, requestId }: SpeechJob): IntentFacts {
  const facts = { jobId: id, requestId };
  return creditsUsed === undefined ? facts : { ...facts, creditsUsed };
}
