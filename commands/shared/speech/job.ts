import type { JobApi, SpeechJob } from '../../../src/api/resources/jobs.ts';
import type { PerformedJob } from '../../../src/paid/job.ts';
import type { JobOrder } from '../../../src/paid/speakers/speech-job.ts';
import { speakAsJob } from '../../../src/paid/speakers/speech-job.ts';
import type { AudioStream } from '../../../src/paid/speakers/speak-stream.ts';
import { pollingOf } from '../flags/jobs.ts';
import { partialNotice, progressOf, resumeCommand } from '../jobs/format.ts';
import { openJournal } from '../journal.ts';
import type { Progress } from '../../../src/cli/render/progress.ts';
import type { DeliveredSpeech, OpenedSpeech, SpeechTask } from './plan.ts';
import { jobOptions } from './plan.ts';

/**
 * Creates a speech job. If `waits` is true, also waits for the job and writes the audio to `place`.
 * @param output foley prints a command that resumes the job; this is the output path in that command
 * @throws Failure if no job was created
 * @throws the signal's abort reason if the user aborts
 */
export async function runSpeechJob(
  task: SpeechTask,
  { body, connection, reuse }: OpenedSpeech,
  {
    api,
    output,
    ...job
  }: Pick<JobOrder, 'onCreated' | 'place' | 'polling' | 'waits'> & {
    readonly api: JobApi;
    readonly output: string | undefined;
  },
): Promise<PerformedJob<SpeechJob>> {
  const { context } = task;
  const { journal } = await openJournal(context);
  try {
    return await speakAsJob({
      ...job,
      client: connection.client,
      order: body,
      options: jobOptions(task, api),
      journal,
      reuse,
      // Only the journal knows how the sound of the output changes.
      resume: (id) =>
        task.plan.changes === undefined
          ? resumeCommand([id], { api, output }, context.globals)
          : 'foley recover',
      notice: (line) => context.io.notice(line),
    });
  } finally {
    await journal.close();
  }
}

/**
 * Speaks a text as a job and delivers the audio. If the user aborts, prints how to resume the job.
 * @throws Failure if the request or the job fails; the signal's abort reason if the user aborts
 */
export async function speakThroughJob(
  task: SpeechTask,
  request: OpenedSpeech,
  api: JobApi,
  { progress, stream }: { readonly progress: Progress; readonly stream: AudioStream },
): Promise<DeliveredSpeech> {
  const { context, plan } = task;
  const { output } = request;
  // The command that resumes the job cannot derive the automatic name.
  const automatic = plan.kind === 'stdout' ? '-' : `speech.${plan.format}`;
  const resumeOutput = plan.kind === 'file' ? plan.path : automatic;
  const outcome = await runSpeechJob(task, request, {
    api,
    output: resumeOutput,
    place: output === undefined ? { stream } : { output },
    waits: true,
    polling: {
      ...pollingOf(context, request.connection.client, { api }),
      onState: (job) => progress.update(`speaking (job ${job.id}: ${progressOf(job)})`),
    },
    onCreated: async ({ id }) => context.io.notice(`foley: job ${id} was accepted`),
  });
  const { failure, job, requestId, saved } = outcome;
  if (failure !== undefined) throw failure;
  if (saved === undefined) throw new Error(`job ${job.id} has no audio and no failure`);
  const isPartial = job.phase === 'partial';
  if (isPartial) context.io.warn(partialNotice(job));
  const { creditsUsed, ignoredParameters = [], quotaRemaining } = job;
  return {
    spoken: {
      path: saved.path,
      verdict: saved.verdict,
      response: {
        requestId,
        creditsUsed,
        quotaRemaining,
        ignoredParameters,
        unspoken: saved.unspoken ?? [],
      },
    },
    parts: 1,
    reportsIgnored: job.ignoredParameters !== undefined,
    isPartial,
  };
}
