import { Option } from 'commander';
import type { JobApi, SpeechJob } from '../../src/api/resources/jobs.ts';
import { speechJobRequest } from '../../src/api/resources/jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { WaitFlags } from '../shared/flags/jobs.ts';
import { apiOption, refuseUnusedWaitFlags, waitOptions, pollingOf } from '../shared/flags/jobs.ts';
import { addSpeechFlags, requestOptions, textOptions } from '../shared/flags/speech.ts';
import {
  documentOf,
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
import { describeCost, dryRunResult } from '../../src/cli/render/result.ts';
import { runSpeechJob } from '../shared/speech/job.ts';
import type { SpeechTask, TtsFlags } from '../shared/speech/plan.ts';
import { jobOptions, planTask } from '../shared/speech/plan.ts';
import { checkPrice, rememberPrice } from '../shared/speech/price.ts';
import { openOutputFile, speechOrder } from '../shared/speech/speak.ts';
import { TEXT_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import type { Output } from '../../src/durable/output.ts';
import { abortable } from '../../src/system/concurrency.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { refusePauses } from '../../src/speech/speech-text.ts';
import type { ResultDestination, PerformedJob } from '../../src/paid/job.ts';
import type { JobDocument } from '../shared/jobs/format.ts';
import { saveFile } from '../../src/paid/job.ts';
import type { ReuseFields } from '../../src/paid/reuse/reused.ts';
import { reuseFields } from '../../src/paid/reuse/reused.ts';
import { describeUnspoken, unspokenWords } from '../../src/paid/unspoken.ts';
import { openReuse } from '../shared/journal.ts';
import type { AudioResponse } from '../../src/api/resources/speech.ts';
import { describeSound } from '../../src/audio/verify.ts';

interface CreateFlags extends TtsFlags, WaitFlags {
  readonly api?: JobApi;
  readonly wait?: true;
}

/** Speech that was bought before (`--reuse`). No job was created. */
export interface ReusedJobDocument
  extends Omit<JobDocument, 'id' | keyof ReuseFields>, ReuseFields {
  readonly id: null;
}

type CreateDocument = JobDocument | ReusedJobDocument | DryRunDocument;

/** Defines the command `foley jobs create [TEXT…]` (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export const definition: CommandDefinition<CreateFlags, CreateDocument> = {
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
    if (options.reuse === true && options.output === undefined) {
      throw usageFailure('--reuse requires -o', 'Add -o PATH.');
    }
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
): Promise<CommandResult<JobDocument | ReusedJobDocument>> {
  const { context } = task;
  const { clock } = context.system;
  const { io, signal } = context;
  const { api = 'v3' } = flags;
  const output = flags.output === undefined ? undefined : await openOutputFile(task);
  const progress = startProgress(io, clock, 'creating the job');
  try {
    const connection = await abortable(context.connect({ speaks: true }), signal);
    const body = await speechOrder(task, connection);
    // Without an output, the audio stays on the service.
    const hasOutput = flags.output !== undefined;
    const reuse = hasOutput ? await openReuse(context, connection.client, flags.reuse) : undefined;
    const request = { body, captions: undefined, connection, output, parts: undefined, reuse };
    await checkPrice(task, request);
    const place = placeOf(task, flags, output);
    const reused = await reuse?.find({ surface: api, order: body });
    if (reused !== undefined && place !== undefined) {
      return await copyReused(task, reused, place, api, connection.target);
    }
    const outcome = await runSpeechJob(task, request, {
      api,
      output: flags.output,
      place,
      waits: flags.wait === true || hasOutput,
      polling: {
        ...pollingOf(context, connection.client, flags),
        onState: (job) => progress.update(`job ${job.id}: ${progressOf(job)}`),
      },
      onCreated: (job) => reportCreated(context, flags.output, job.id),
    });
    progress.stop();
    if (outcome.job.phase !== 'failed') await rememberPrice(task, request, outcome.job);
    return resultOf(task, outcome, connection.target, reuse && reuseFields(undefined));
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

/** Saves audio that was bought before. No job is created. */
async function copyReused(
  { context: { io, signal }, plan, text }: SpeechTask,
  audio: AudioResponse,
  place: ResultDestination,
  api: JobApi,
  target: JobDocument['target'],
): Promise<CommandResult<ReusedJobDocument>> {
  const { creditsUsed, ignoredParameters, requestId } = audio;
  const { path, verdict } = await saveFile(
    { file: audio, format: plan.format },
    { id: requestId },
    { placeFor: () => Promise.resolve(place), signal },
  );
  const sound = describeSound(verdict);
  io.notice(describeCost(path === undefined ? sound : `${path}: ${sound}`, audio));
  const unspoken = unspokenWords(text, audio.unspoken);
  if (unspoken.length > 0) io.warn(describeUnspoken(unspoken, {}));
  const job = { id: '', kind: 'tts', status: 'success', output: path, requestId } as const;
  return {
    data: {
      ...documentOf({ ...job, api, target, creditsUsed, ignoredParameters }),
      id: null,
      unspoken,
      ...reuseFields(audio.reused),
    },
    exit: unspoken.length > 0 ? 'partial' : 'ok',
  };
}

function resultOf(
  { context: { io }, text }: SpeechTask,
  { failure, job, requestId, saved }: PerformedJob<SpeechJob>,
  target: 'embedded' | 'hosted',
  reuse: ReuseFields | undefined,
): CommandResult<JobDocument> {
  const isPartial = job.phase === 'partial';
  if (isPartial) io.warn(partialNotice(job));
  if (failure === undefined) io.notice(savedNotice({ job, saved }));
  const unspoken = unspokenNotice({ job, saved, text });
  if (unspoken !== undefined) io.warn(unspoken);
  return {
    data: { ...jobDocument({ job, requestId, saved, text }, target), ...reuse },
    seen: { kind: 'job', names: [{ name: job.id, about: '' }] },
    ...(failure === undefined ? {} : { failure }),
    exit: isPartial || unspoken !== undefined ? 'partial' : 'ok',
  };
}
