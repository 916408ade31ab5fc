import { Option } from 'commander';
import type { JobApi, SpeechJob } from '../../src/api/resources/jobs.ts';
import { speechJobRequest } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { WaitFlags } from '../shared/flags/jobs.ts';
import { apiOption, refuseUnusedWaitFlags, waitOptions, pollingOf } from '../shared/flags/jobs.ts';
import { addSpeechFlags, requestOptions, textOptions } from '../shared/flags/speech.ts';
import {
  jobDocument,
  partialNotice,
  progressOf,
  reportCreated,
  savedNotice,
  unspokenNotice,
} from '../shared/jobs/format.ts';
import { stdoutPlace } from '../shared/jobs/places.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult, DryRunDocument } from '../../src/cli/render/result.ts';
import { dryRunResult } from '../../src/cli/render/result.ts';
import { runSpeechJob } from '../shared/speech/job.ts';
import type { SpeechTask, TtsFlags } from '../shared/speech/plan.ts';
import { jobOptions, planTask } from '../shared/speech/plan.ts';
import { checkPrice, openOutputFile, rememberPrice, speechOrder } from '../shared/speech/speak.ts';
import { TEXT_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import type { Output } from '../../src/durable/output.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { refusePauses } from '../../src/speech/speech-text.ts';
import type { ResultDestination, PerformedJob } from '../../src/paid/job.ts';
import type { JobDocument } from '../shared/jobs/format.ts';

interface CreateFlags extends TtsFlags, WaitFlags {
  readonly api?: JobApi;
  readonly wait?: true;
}

/** Defines the command `foley jobs create [TEXT…]` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const definition: CommandDefinition<CreateFlags, JobDocument | DryRunDocument> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Creates a job that speaks text from the arguments, a file or a pipe, and prints the job id.',
      )
      .argument('[text...]', 'text to speak')
      .addOption(new Option('--wait', 'wait until the job has finished'))
      .addOption(
        new Option('-o, --output <path>', 'wait, and write the audio to a file; - is stdout'),
      )
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'));
    for (const option of [...textOptions(), ...waitOptions()]) command.addOption(option);
    addSpeechFlags(command);
    for (const option of [apiOption(), ...requestOptions()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    refuseUnusedWaitFlags(options);
    const task = await planTask(context, { args, options: { ...options, via: 'job' } });
    refuseTooLong(task);
    refusePauses(task.spoken, '`foley jobs create`');
    return options.dryRun === true ? describeJob(task, options) : createJob(task, options);
  },
};

function refuseTooLong({ characters }: SpeechTask): void {
  if (characters <= TEXT_MAX_CHARACTERS) return;
  throw usageFailure(
    `the text has ${characters} characters; one job accepts at most ${TEXT_MAX_CHARACTERS}`,
    '`foley tts` speaks it in parts and joins them.',
  );
}

const EXAMPLES = `
Examples:
  $ foley jobs create -f chapter.txt
  $ foley jobs create -f chapter.txt -o chapter.mp3
  $ foley jobs wait "$(foley jobs create -f chapter.txt)" -o chapter.mp3`;

async function describeJob(
  task: SpeechTask,
  { api = 'v3' }: CreateFlags,
): Promise<CommandResult<DryRunDocument>> {
  const connection = await task.context.connect();
  const { client } = connection;
  const body = await speechOrder(task, connection);
  return dryRunResult(client.describe(speechJobRequest(client, body, jobOptions(task, api))));
}

async function createJob(
  task: SpeechTask,
  flags: CreateFlags,
): Promise<CommandResult<JobDocument>> {
  const { context } = task;
  const { clock, io, signal } = context;
  const { api = 'v3' } = flags;
  const output = flags.output === undefined ? undefined : await openOutputFile(task);
  const progress = startProgress(io, clock, 'creating the job');
  try {
    const connection = await abortable(context.connect({ speaks: true }), signal);
    const body = await speechOrder(task, connection);
    await checkPrice(task, { body, connection, parts: undefined });
    const outcome = await runSpeechJob(
      task,
      { body, connection },
      {
        api,
        output: flags.output,
        place: placeOf(task, flags, output),
        waits: flags.wait === true || flags.output !== undefined,
        polling: {
          ...pollingOf(context, connection.client, flags),
          onState: (job) => progress.update(`job ${job.id}: ${progressOf(job)}`),
        },
        onCreated: (job) => reportCreated(context, flags.output, job.id),
      },
    );
    progress.stop();
    const { creditsUsed, phase } = outcome.job;
    if (phase !== 'failed') await rememberPrice(task, { body, connection }, creditsUsed);
    return resultOf(task, outcome, connection.target);
  } finally {
    progress.stop();
    // Does nothing after the file was published.
    await output?.abandon();
  }
}

function placeOf(
  task: SpeechTask,
  flags: CreateFlags,
  output: Output | undefined,
): ResultDestination | undefined {
  if (output !== undefined) return { output };
  return flags.output === undefined ? undefined : stdoutPlace(task.context, task.plan.encoding);
}

function resultOf(
  { context: { io }, text }: SpeechTask,
  { failure, job, requestId, saved }: PerformedJob<SpeechJob>,
  target: 'embedded' | 'hosted',
): CommandResult<JobDocument> {
  const isPartial = job.phase === 'partial';
  if (isPartial) io.warn(partialNotice(job));
  if (failure === undefined) io.notice(savedNotice({ job, saved }));
  const unspoken = unspokenNotice({ job, saved, text });
  if (unspoken !== undefined) io.warn(unspoken);
  return {
    data: jobDocument({ job, requestId, saved, text }, target),
    seen: { kind: 'job', names: [{ name: job.id, about: '' }] },
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial || unspoken !== undefined ? 'partial' : 'ok',
  };
}
