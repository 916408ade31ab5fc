import type { JobOutcome } from '../../speech/jobs/speech-job.ts';
import { speakAsJob } from '../../speech/jobs/speech-job.ts';
import type { Spoken } from '../../speech/speak.ts';
import { pollingOf } from '../flags/jobs.ts';
import { partialNotice, resumeCommand } from '../jobs/format.ts';
import { openJournal } from '../journal.ts';
import { jobOptions } from './order.ts';
import type { Task, SpeechTask, Delivered, JobWay } from './task.ts';

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
