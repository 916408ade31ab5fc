import { Option } from 'commander';
import type { JobApi, SpeechJob } from '../../src/api/resources/jobs.ts';
import { speechJobRequest } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition, Context, Connection } from '../../src/cli/command.ts';
import type { WaitFlags } from '../../src/cli/flags/jobs.ts';
import { apiOption, refuseIdleFlags, waitOptions, pollingOf } from '../../src/cli/flags/jobs.ts';
import { requestOptions } from '../../src/cli/flags/request.ts';
import { addSpeechFlags } from '../../src/cli/flags/speech.ts';
import {
  jobDocument,
  partialNotice,
  savedNotice,
  resumeCommand,
} from '../../src/cli/jobs/format.ts';
import { stdoutPlace } from '../../src/cli/jobs/places.ts';
import { openJournal } from '../../src/cli/journal.ts';
import type { Progress } from '../../src/cli/render/progress.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { jobOptions, speechOrder } from '../../src/cli/speech/order.ts';
import { checkPrice, rememberPrice } from '../../src/cli/speech/price.ts';
import { planTask } from '../../src/cli/speech/speak.ts';
import { dryRunResult } from '../../src/cli/speech/summary.ts';
import type { Task, TtsFlags } from '../../src/cli/speech/task.ts';
import { TEXT_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import type { Output } from '../../src/durable/output.ts';
import { untilStopped } from '../../src/effects/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Place } from '../../src/speech/jobs/job-source.ts';
import type { JobOrder, JobOutcome } from '../../src/speech/jobs/speech-job.ts';
import { speakAsJob } from '../../src/speech/jobs/speech-job.ts';
import { openPlanned } from '../../src/speech/output-plan.ts';

export interface CreateFlags extends TtsFlags, WaitFlags {
  readonly api?: JobApi;
  readonly wait?: true;
}

/** `foley jobs create [TEXT…]` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const jobsCreate: CommandDefinition<CreateFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Has text from the arguments, a file or a pipe spoken in the background, and prints the id of the job.',
      )
      .argument('[text...]', 'text to speak')
      .addOption(new Option('-f, --file <path>', 'read the text from a file; - is stdin'))
      .addOption(new Option('--wait', 'wait until the job has ended'))
      .addOption(
        new Option('-o, --output <path>', 'wait, and write the audio to a file; - is stdout'),
      )
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'));
    for (const option of waitOptions()) command.addOption(option);
    addSpeechFlags(command);
    for (const option of [apiOption(), ...requestOptions()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    refuseIdleFlags(options);
    const task = await planTask(context, { args, options: { ...options, via: 'job' } });
    refuseTooLong(task);
    return options.dryRun === true ? describeJob(task, options) : createJob(task, options);
  },
};

function refuseTooLong({ characters }: Task): void {
  if (characters <= TEXT_MAX_CHARACTERS) return;
  throw usageFailure(
    `the text has ${characters} characters; one job takes at most ${TEXT_MAX_CHARACTERS}`,
    '`foley tts` speaks it in parts, and joins them.',
  );
}

const EXAMPLES = `
Examples:
  $ foley jobs create -f chapter.txt
  $ foley jobs create -f chapter.txt -o chapter.mp3
  $ foley jobs wait "$(foley jobs create -f chapter.txt)" -o chapter.mp3`;

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
    const connection = await untilStopped(context.connect({ speaks: true }), signal);
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
  return openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state });
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
