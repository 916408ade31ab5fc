import { isNotFound } from '../../api/failures.ts';
import { noticeTrouble } from '../../api/poll.ts';
import { pollPace } from '../../api/resources/jobs.ts';
import { MEDIA_JOB_KINDS } from '../../api/resources/models.ts';
import { Failure } from '../../errors/failure.ts';
import type { OpenIntent } from '../intents.ts';
import type { JobSource, WaitedJob } from '../job.ts';
import { failedJob, fetchResult } from '../job.ts';
import { speechSource } from '../speakers/speech-job.ts';
import { leftOut } from '../unspoken.ts';
import type { Recovered, RecoverDeps } from './recovered.ts';
import { connectTo, detailsOf, openRecorded } from './recovered.ts';

/**
 * Waits for an interrupted job and saves its result (docs/billing.md). Nothing is billed.
 * @throws Failure, for example of kind `usage` if the job is on another service; the job then stays in the journal. On
 * abort, the abort reason of the signal
 */
export async function recoverJob(
  intent: OpenIntent,
  jobId: string,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { about, facts, id } = intent;
  const { journal, signal } = deps;
  deps.onWait(`waiting for job ${jobId}`);
  const client =
    about === undefined ? await deps.connect() : await connectTo(about, `job ${jobId}`, deps);
  const kind = MEDIA_JOB_KINDS.find((one) => one === about?.what);
  const isV1 = kind === undefined && about?.endpoint.includes('/v1/') === true;
  const api = isV1 ? 'v1' : 'v3';
  const source: JobSource<WaitedJob> =
    kind === undefined ? speechSource(client, { api }) : deps.mediaSource(client, kind);
  const entry = journal.resume(intent);
  const details = { ...detailsOf(facts), id, jobId };
  try {
    const { job, saved: made } = await fetchResult(
      { id: jobId, recorded: facts },
      {
        source,
        polling: {
          ...deps.system,
          pace: pollPace(client, api),
          onTrouble: noticeTrouble(deps.notice),
        },
        signal,
        placeFor: async (ref, format) => ({
          output: await openRecorded(ref.id, about ?? {}, format, deps),
        }),
        onVerified: (metadata) => entry.advance('verified', metadata),
      },
    );
    const { creditsUsed = null } = job;
    if (made === undefined) {
      const { message: problem } = failedJob(job);
      await entry.markAs('refunded', { problem });
      return { ...details, creditsUsed, outcome: 'refunded', problem };
    }
    const { path: output = null, unspoken = [] } = made;
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
