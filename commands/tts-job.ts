import type { JobApi } from '../src/api/speech-jobs.ts';
import type { Progress } from '../src/cli/progress.ts';
import type { JobOutcome } from '../src/jobs/speak-as-job.ts';
import { speakAsJob } from '../src/jobs/speak-as-job.ts';
import type { AudioStream, Spoken } from '../src/speech/speak.ts';
import { pollingOf } from './jobs/job-flags.ts';
import { partialNotice } from './jobs/job-words.ts';
import { resumeCommand } from './jobs/resume-command.ts';
import { openJournal } from './open-journal.ts';
import type { Delivered, SpeechTask } from './tts-delivery.ts';
import { jobOptions } from './tts-order.ts';
import type { Task } from './tts-task.ts';

/** Through which interface the job goes, and who hears of it. */
export interface JobWay {
  readonly api: JobApi;
  /** Where the audio goes that goes into no file. */
  readonly stream: AudioStream;
  readonly progress: Progress;
}

/**
 * Has a text spoken as a job, waits for it and brings its audio to where it was planned to go.
 * @throws Failure, of a job that failed too; the signal's reason, after telling how to go on
 */
export async function speakThroughJob(
  task: Task,
  { body, connection, output }: SpeechTask,
  { api, progress, stream }: JobWay,
): Promise<Delivered> {
  const { context, plan } = task;
  const { client } = connection;
  const { journal } = await openJournal(context);
  try {
    const outcome = await speakAsJob({
      client,
      order: { ...body, format: plan.format },
      options: jobOptions(task, api),
      place: output === undefined ? { stream } : { output },
      waits: true,
      polling: {
        ...pollingOf(context, client, { api }),
        onState: ({ id, status }) => progress.update(`speaking (job ${id}: ${status})`),
      },
      journal,
      onCreated: async ({ id }) => context.io.notice(`foley: job ${id} was accepted`),
      resume: (id) => resumeCommand([id], { api, output: pathOf(plan) }, context.globals),
      notice: (line) => context.io.notice(line),
    });
    if (outcome.failure !== undefined) throw outcome.failure;
    const isPartial = outcome.job.phase === 'partial';
    if (isPartial) context.io.warn(partialNotice(outcome.job));
    const tellsIgnored = outcome.job.ignoredParameters !== undefined;
    return { spoken: spokenOf(outcome), parts: 1, tellsIgnored, isPartial };
  } finally {
    await journal.close();
  }
}

/** A file that had no name from the person gets one again. */
function pathOf(plan: Task['plan']): string | undefined {
  if (plan.kind === 'file') return plan.path;
  return plan.kind === 'stdout' ? '-' : `speech.${plan.format}`;
}

function spokenOf({ job, requestId, saved }: JobOutcome): Spoken {
  if (saved === undefined) throw new Error(`job ${job.id} has no audio and no failure`);
  const { creditsUsed, ignoredParameters = [], quotaRemaining } = job;
  const { file, path, verdict } = saved;
  const answer = { ...file, requestId, creditsUsed, quotaRemaining, ignoredParameters };
  return { path, verdict, answer };
}
