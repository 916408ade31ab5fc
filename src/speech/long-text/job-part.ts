import type { ApiClient } from '../../api/client.ts';
import { fetchJobAudio } from '../../api/job-audio.ts';
import type { JobApi, SpeechJob } from '../../api/speech-jobs.ts';
import { createSpeechJob, pollPace, pollSpeechJob } from '../../api/speech-jobs.ts';
import type { Clock } from '../../effects/clock.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Random } from '../../effects/random.ts';
import { reviseFailure } from '../../api/revise-failure.ts';
import { isNotFound } from '../../api/status-failure.ts';
import { Failure } from '../../errors/failure.ts';
import { downloadPart, isPartThere } from './part-file.ts';
import { nextPartKey, ownPartKey } from './part-keys.ts';
import type { LongTextRecord } from './record.ts';

export interface PartDeps {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** The person's own trace id. */
  readonly requestId?: string | undefined;
  /** The key came from the person: a refunded request is not sent again under another. */
  readonly hasOwnKey: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Has one part spoken as a job, and fetches it; whatever was done for it before is not done again. Its key,
 * its id and that it is there are written down before anything is built on them.
 * @throws Failure; (rejected) when the job failed, which cost nothing: the next try has another key; (lost)
 *   when the service does not have the job, after which the next try buys the part again
 */
export async function speakJobPart(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
): Promise<void> {
  const before = record.part(index);
  const file = record.partFile(index);
  if (before.state === 'done' && (await isPartThere(file, before.bytes, deps.files))) return;
  // A job that failed stays as it is.
  const known = before.state === 'failed' ? undefined : before.jobId;
  if (known === undefined)
    return fetchPart(record, index, await createJob(record, index, deps), deps);
  try {
    await fetchPart(record, index, { id: known }, deps);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (before.isGone !== true) {
      await record.note({ part: index, state: 'accepted', isGone: true });
      throw goneFailure(error, index, known);
    }
    deps.notice(`foley: part ${index + 1} is not there any more; it is spoken once more`);
    await record.note({ part: index, state: 'keyed', key: nextPartKey(before.key, deps.random) });
    await fetchPart(record, index, await createJob(record, index, deps), deps);
  }
}

async function fetchPart(
  record: LongTextRecord,
  index: number,
  begun: SpeechJob | { readonly id: string },
  { client, clock, files, random, signal }: PartDeps,
): Promise<void> {
  const api = apiOf(record);
  const file = record.partFile(index);
  const ref = { id: begun.id, api };
  const pace = pollPace(client, api);
  const known = 'phase' in begun ? begun : undefined;
  const job = await pollSpeechJob(client, ref, { known, clock, random, pace, signal });
  if (job.phase === 'failed') {
    await record.note({ part: index, state: 'failed', creditsUsed: 0 });
    throw partFailure(job, index, record.plan.parts.length);
  }
  const audio = await fetchJobAudio(client, ref, { signal });
  const { bytes } = await downloadPart(audio, record.plan.format, {
    file,
    files,
    text: record.partText(index),
  });
  const isPartial = job.phase === 'partial' ? true : undefined;
  await record.note({ part: index, state: 'done', bytes, isPartial, ...factsOf(job) });
}

async function createJob(
  record: LongTextRecord,
  index: number,
  { client, hasOwnKey, random, requestId, signal }: PartDeps,
): Promise<SpeechJob> {
  const key = await freshKey(record, index, random);
  const order = { ...record.plan.order, text: record.partText(index) };
  const job = await createSpeechJob(client, order, {
    api: apiOf(record),
    idempotencyKey: { value: key, madeByTool: !hasOwnKey },
    requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
    signal,
    onNewKey: (next) => record.note({ part: index, state: 'keyed', key: next }),
  });
  await record.note({ part: index, state: 'accepted', jobId: job.id, ...factsOf(job) });
  return job;
}

/** The key to ask under: one under which a job failed gives that job again, whatever is asked. */
async function freshKey(
  record: LongTextRecord,
  index: number,
  random: Pick<Random, 'uuid'>,
): Promise<string> {
  const { key, state } = record.part(index);
  if (key !== undefined && state !== 'failed') return key;
  const next = nextPartKey(key, random);
  await record.note({ part: index, state: 'keyed', key: next });
  return next;
}

function apiOf({ plan }: LongTextRecord): JobApi {
  return plan.surface === 'v1' ? 'v1' : 'v3';
}

function factsOf({ creditsUsed, ignoredParameters, quotaRemaining, requestId }: SpeechJob) {
  return { creditsUsed, ignoredParameters, quotaRemaining, requestId };
}

function partFailure(job: SpeechJob, index: number, count: number): Failure {
  const said = job.error?.message === undefined ? '' : `: ${job.error.message}`;
  return new Failure(`part ${index + 1} of ${count} could not be spoken${said}`, {
    code: job.error?.code ?? 'ERR_JOB_FAILED',
    exit: 'rejected',
    hint: 'It was refunded. If it fails again, change its text, or choose another voice or model.',
    requestId: job.requestId,
    details: { jobId: job.id, status: job.status, part: index + 1 },
  });
}

function goneFailure(failure: Failure, index: number, jobId: string): Failure {
  return reviseFailure(failure, {
    message: `part ${index + 1} was paid for, and its job ${jobId} is not there: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: 'If it belongs to another account, name that with --account. Else go on all the same, which pays for that part again.',
  });
}
