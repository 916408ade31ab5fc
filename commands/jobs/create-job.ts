import type { SpeechJob } from '../../src/api/speech-jobs.ts';
import { speechJobRequest } from '../../src/api/speech-jobs.ts';
import type { Connection, Context } from '../../src/cli/context.ts';
import type { Progress } from '../../src/cli/progress.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import type { Output } from '../../src/files/output.ts';
import type { Place } from '../../src/jobs/save-file.ts';
import type { JobOrder, JobOutcome } from '../../src/jobs/speak-as-job.ts';
import { speakAsJob } from '../../src/jobs/speak-as-job.ts';
import { openPlanned } from '../../src/speech/open-planned.ts';
import { untilStopped } from '../../src/speech/until-stopped.ts';
import { openJournal } from '../open-journal.ts';
import { jobOptions, speechOrder } from '../tts-order.ts';
import { checkPrice, rememberPrice } from '../tts-price.ts';
import type { Task } from '../tts-task.ts';
import { dryRunResult } from '../tts-words.ts';
import type { CreateFlags } from './create.ts';
import { pollingOf } from './job-flags.ts';
import { jobDocument, partialNotice, savedNotice } from './job-words.ts';
import { stdoutPlace } from './places.ts';
import { resumeCommand } from './resume-command.ts';

/** The request that would be sent (`--dry-run`). Voices may be looked up; nothing billable is sent. */
export async function describeJob(task: Task, { api = 'v3' }: CreateFlags): Promise<CommandResult> {
  const connection = await task.context.connect();
  const { client } = connection;
  const body = await speechOrder(task, connection);
  return dryRunResult(client.describe(speechJobRequest(client, body, jobOptions(task, api))));
}

/** Opens the output, creates the job, tells its id at once, and waits where that is asked for. */
export async function createJob(task: Task, flags: CreateFlags): Promise<CommandResult> {
  const { context } = task;
  const { signal } = context;
  const output = await openFor(task, flags);
  try {
    const connection = await untilStopped(context.connect(), signal);
    const body = await speechOrder(task, connection);
    await checkPrice(task, { body, connection });
    const { outcome, progress } = await order(task, flags, { body, connection, output });
    progress.stop();
    const { creditsUsed } = outcome.job;
    if (outcome.job.phase !== 'failed') {
      await rememberPrice(task, { body, connection }, { creditsUsed });
    }
    return resultOf(context, outcome, connection.target);
  } finally {
    // After it was published this does nothing.
    await output?.abandon();
  }
}

async function openFor(task: Task, { output }: CreateFlags): Promise<Output | undefined> {
  const { context, flags, plan, text } = task;
  if (output === undefined) return undefined;
  const { state } = await context.paths();
  return untilStopped(
    openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state }),
    context.signal,
    (opened) => void opened?.abandon(),
  );
}

interface Ready {
  readonly body: JobOrder['order'];
  readonly connection: Connection;
  readonly output: Output | undefined;
}

async function order(
  task: Task,
  flags: CreateFlags,
  { body, connection: { client }, output }: Ready,
): Promise<{ readonly outcome: JobOutcome; readonly progress: Progress }> {
  const { context } = task;
  const { api = 'v3' } = flags;
  const { journal } = await openJournal(context);
  const progress = startProgress(context.io, context.clock, 'creating the job');
  try {
    const outcome = await speakAsJob({
      client,
      order: body,
      options: jobOptions(task, api),
      place: placeOf(context, flags, output),
      waits: flags.wait === true || flags.output !== undefined,
      polling: {
        ...pollingOf(context, client, flags),
        onState: ({ id, status }) => progress.update(`job ${id}: ${status}`),
      },
      journal,
      onCreated: (job) => tellId(context, flags, job),
      resume: (id) => resumeCommand([id], { api, output: flags.output }, context.globals),
      notice: (line) => context.io.notice(line),
    });
    return { outcome, progress };
  } finally {
    progress.stop();
    await journal.close();
  }
}

function placeOf(
  context: Context,
  flags: CreateFlags,
  output: Output | undefined,
): Place | undefined {
  if (output !== undefined) return { output };
  return flags.output === undefined ? undefined : stdoutPlace(context);
}

/** The id is the result, and is there before anything else; beside other results it is told on stderr. */
async function tellId(context: Context, { output }: CreateFlags, { id }: SpeechJob): Promise<void> {
  const { globals, io } = context;
  if (globals.json === true || output === '-') io.notice(`foley: job ${id} was accepted`);
  else await context.emit({ human: () => id });
}

function resultOf(
  { io }: Context,
  { failure, job, requestId, saved }: JobOutcome,
  target: 'embedded' | 'hosted',
): CommandResult {
  const isPartial = job.phase === 'partial';
  if (isPartial) io.warn(partialNotice(job));
  if (failure === undefined) io.notice(savedNotice({ job, saved }));
  return {
    data: jobDocument({ job, requestId, saved }, target),
    seen: { kind: 'job', names: [{ name: job.id, about: '' }] },
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial ? 'partial' : 'ok',
  };
}
