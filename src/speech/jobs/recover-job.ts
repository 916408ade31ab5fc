import type { ApiClient } from '../../api/client.ts';
import type { FileResponse } from '../../api/resources/speech.ts';
import type { PollPace } from '../../api/poll.ts';
import { pollJob } from '../../api/poll.ts';
import type { JobApi } from '../../api/resources/jobs.ts';
import { pollPace } from '../../api/resources/jobs.ts';
import { isNotFound } from '../../api/failures.ts';
import { extensionOf } from '../../audio/formats.ts';
import type { Random } from '../../effects/random.ts';
import { Failure } from '../../errors/failure.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { Intent, IntentAbout, IntentJournal, OpenIntent } from '../../durable/intents.ts';
import { downloadName } from '../../durable/names.ts';
import { openOutput } from '../../durable/publish.ts';
import type { Recovered } from '../recover.ts';
import { failedJob } from './perform-job.ts';
import type { JobSource, MadeFile, WaitedJob } from './job-source.ts';
import { saveFile } from './job-source.ts';
import { speechSource } from './speech-job.ts';

export interface JobRecoveryDeps extends FileDeps {
  readonly client: ApiClient;
  readonly random: Random;
  readonly journal: IntentJournal;
  readonly signal: AbortSignal;
}

/** A job that was accepted, and whose command came to no end. */
export interface InterruptedJob {
  readonly intent: OpenIntent;
  readonly jobId: string;
}

/** How jobs of its kind are asked about. */
export interface RecoverySource<Job extends WaitedJob, File extends FileResponse> {
  readonly source: JobSource<Job, File>;
  readonly pace: PollPace;
}

/**
 * Waits for a speech job whose command was interrupted, and saves its audio, as {@link recoverAs} does.
 * @throws Failure, or the reason of the signal
 */
export function recoverJob(left: InterruptedJob, deps: JobRecoveryDeps): Promise<Recovered> {
  const { client } = deps;
  const api: JobApi = left.intent.about?.endpoint.includes('/v1/') === true ? 'v1' : 'v3';
  return recoverAs(
    left,
    { source: speechSource(client, { api }), pace: pollPace(client, api) },
    deps,
  );
}

/**
 * Waits for a job whose command was interrupted, and saves what it made under the name that it was meant
 * to have, or one like it where that is taken (docs/billing.md). Nothing is paid for.
 * @throws Failure: usage when the job is on another service, else of what went wrong, after which it is
 *   still there; or the reason of the signal
 */
export async function recoverAs<Job extends WaitedJob, File extends FileResponse>(
  left: InterruptedJob,
  { pace, source }: RecoverySource<Job, File>,
  deps: JobRecoveryDeps,
): Promise<Recovered> {
  const { client, journal } = deps;
  const { intent, jobId } = left;
  refuseOtherService(intent.about, `job ${jobId}`, client);
  const settling: Settling = { ...left, entry: journal.resume(intent) };
  try {
    const job = await pollJob({ id: jobId }, (call) => source.get(jobId, call), { ...deps, pace });
    if (job.phase === 'failed') return await refunded(settling, job);
    await settling.entry.advance('done');
    const made = await source.obtain(job, deps.signal);
    return await fetched(settling, job, { ...deps, made });
  } catch (error) {
    if (!(error instanceof Failure) || (error.exit !== 'lost' && !isNotFound(error))) throw error;
    await settling.entry.markAs('lost', { problem: error.message });
    return { ...told(settling), outcome: 'lost', problem: error.message };
  }
}

interface Settling extends InterruptedJob {
  readonly entry: Intent;
}

/**
 * Each service knows its own work only.
 * @param what that is asked about, as in `job 7`
 * @throws Failure (usage)
 */
export function refuseOtherService(
  about: IntentAbout | undefined,
  what: string,
  { address: { baseUrl, kind } }: Pick<ApiClient, 'address'>,
): void {
  const isThere =
    about === undefined || (about.target === kind && isSameOrigin(about.origin, baseUrl, kind));
  if (isThere) return;
  const where = about.target === 'embedded' ? 'the embedded service' : about.origin;
  throw new Failure(`${what} is on ${where}, and not on the service that is asked`, {
    code: 'usage',
    exit: 'usage',
    hint:
      about.target === 'embedded'
        ? 'Run `foley recover --local`.'
        : `Run \`foley recover --base-url ${about.origin}\`.`,
    billed: 'yes',
  });
}

/** The embedded service has another port each time. */
function isSameOrigin(origin: string, baseUrl: URL, kind: 'embedded' | 'hosted'): boolean {
  return kind === 'embedded' || origin === baseUrl.origin;
}

async function refunded(settling: Settling, job: WaitedJob): Promise<Recovered> {
  const { message: problem } = failedJob(job);
  await settling.entry.markAs('failed', { problem });
  return { ...told(settling, job), outcome: 'refunded', problem };
}

interface Fetching extends JobRecoveryDeps {
  readonly made: MadeFile;
}

async function fetched(settling: Settling, job: WaitedJob, deps: Fetching): Promise<Recovered> {
  const { entry, intent } = settling;
  const { format } = deps.made;
  const wanted = intent.about?.output ?? downloadName(job.id, extensionOf(format));
  const output = await saveAs(wanted, entry, deps);
  await entry.markAs('published');
  if (job.phase === 'success') return { ...told(settling, job), outcome: 'recovered', output };
  const problem = `only a part of it was spoken (${job.status})`;
  return { ...told(settling, job), outcome: 'partial', output, problem };
}

async function saveAs(
  path: string,
  entry: Intent,
  { made: { file, format }, signal, ...deps }: Fetching,
): Promise<string> {
  const output = await openOutput({ ...deps, path, existing: 'number' }).catch((error: unknown) => {
    file.discard();
    throw error;
  });
  try {
    const onVerified = (facts: { bytes: number; checksum: string }) =>
      entry.advance('verified', facts);
    const saved = await saveFile(file, { output }, { format, signal, onVerified });
    return saved.path ?? path;
  } finally {
    // After it was published this does nothing.
    await output.abandon();
  }
}

/** What is known of it so far, with what the service says of it now. */
function told({ intent: { facts, id }, jobId }: Settling, job?: WaitedJob) {
  return {
    id,
    jobId,
    output: null,
    creditsUsed: job?.creditsUsed ?? facts.creditsUsed ?? null,
    requestId: facts.requestId ?? null,
    idempotencyKey: null,
    problem: null,
  };
}
