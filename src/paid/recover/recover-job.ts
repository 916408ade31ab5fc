import type { ApiClient } from '../../api/client.ts';
import { isNotFound } from '../../api/failures.ts';
import type { PollPace } from '../../api/poll.ts';
import { jobCost, noticeTrouble, pollJob } from '../../api/poll.ts';
import type { JobApi } from '../../api/resources/jobs.ts';
import { pollPace } from '../../api/resources/jobs.ts';
import { extensionOf } from '../../audio/formats.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { IntentJournal, OpenIntent } from '../intents.ts';
import { downloadName } from '../../durable/names.ts';
import { openSpeechOutput } from '../../audio/encode/encoded-output.ts';
import { Failure } from '../../errors/failure.ts';
import type { Recovered } from './recover.ts';
import { detailsOf, requireSameService } from './recover.ts';
import type { JobSource, WaitedJob } from '../job.ts';
import { failedJob, saveFile } from '../job.ts';
import { leftOut } from '../unspoken.ts';
import { speechSource } from '../speakers/speech-job.ts';

export interface JobRecoveryDeps extends FileDeps {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly signal: AbortSignal;
  readonly notice: (line: string) => void;
}

/**
 * Waits for an interrupted speech job and saves its audio. See {@link recoverAs}.
 * @throws Failure, or the signal's abort reason
 */
export function recoverJob(
  intent: OpenIntent,
  jobId: string,
  deps: JobRecoveryDeps,
): Promise<Recovered> {
  const { client } = deps;
  const api: JobApi = intent.about?.endpoint.includes('/v1/') === true ? 'v1' : 'v3';
  const source = speechSource(client, { api });
  return recoverAs(intent, jobId, { ...deps, source, pace: pollPace(client, api) });
}

/**
 * Waits for an interrupted job and saves its result (docs/billing.md). If a file with the intended name exists, adds a
 * number to the name. Nothing is billed.
 * @throws Failure, for example of kind `usage` if the job is on another service; the job then stays in the journal. On
 * abort, the abort reason of the signal
 */
export async function recoverAs<Job extends WaitedJob>(
  intent: OpenIntent,
  jobId: string,
  deps: JobRecoveryDeps & { readonly source: JobSource<Job>; readonly pace: PollPace },
): Promise<Recovered> {
  const { client, journal, signal, source } = deps;
  const { about, facts, id } = intent;
  if (about !== undefined) requireSameService(about, `job ${jobId}`, client);
  const entry = journal.resume(intent);
  const details = { ...detailsOf(facts), id, jobId };
  try {
    const job = await pollJob({ id: jobId }, (call) => source.get(jobId, call), {
      ...deps,
      onTrouble: noticeTrouble(deps.notice),
    });
    // A service may report the credits only when it creates the job.
    const creditsUsed = job.creditsUsed ?? jobCost(job.status, facts.creditsUsed) ?? null;
    if (job.phase === 'failed') {
      const { message: problem } = failedJob(job);
      await entry.markAs('refunded', { problem });
      return { ...details, creditsUsed, outcome: 'refunded', problem };
    }
    const made = await source.obtain(job, signal);
    const wanted = about?.output ?? downloadName(job.id, extensionOf(made.format));
    const { path: output = wanted, unspoken = [] } = await saveFile(made, job, {
      placeFor: async () => ({
        output: await openSpeechOutput(
          {
            ...deps,
            changes: about?.changes,
            path: wanted,
            existing: 'number',
            warn: deps.notice,
          },
          made.format,
        ),
      }),
      signal,
      onVerified: (metadata) => entry.advance('verified', metadata),
    });
    await entry.markAs('published');
    const saved = { ...details, creditsUsed, output };
    const isWhole = job.phase === 'success';
    if (isWhole && unspoken.length === 0) return { ...saved, outcome: 'recovered' };
    const problem = isWhole ? leftOut(unspoken) : `only a part of it was spoken (${job.status})`;
    return { ...saved, outcome: 'partial', problem };
  } catch (error) {
    if (!(error instanceof Failure) || (error.exit !== 'lost' && !isNotFound(error))) throw error;
    await entry.markAs('lost', { problem: error.message });
    return { ...details, outcome: 'lost', problem: error.message };
  }
}
