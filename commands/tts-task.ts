import type { SpeechOptions } from '../src/api/speech.ts';
import { speechRequest } from '../src/api/speech.ts';
import { allVoices } from '../src/api/voices.ts';
import type { CommandInput } from '../src/cli/command.ts';
import type { Connection, Context } from '../src/cli/context.ts';
import type { CommandResult } from '../src/cli/result.ts';
import type { SettingSources } from '../src/config/settings.ts';
import { resolveSetting } from '../src/config/settings.ts';
import { TEXT_MAX_CHARACTERS } from '../src/contract/limits.ts';
import type { SpeechRequest } from '../src/contract/schemas/speech.ts';
import { usageFailure } from '../src/errors/failure.ts';
import { openPlanned } from '../src/speech/open-planned.ts';
import type { OutputPlan } from '../src/speech/output-plan.ts';
import { planOutput } from '../src/speech/output-plan.ts';
import type { Player } from '../src/speech/players.ts';
import { readText } from '../src/speech/text-source.ts';
import { chooseVoice } from '../src/speech/voice-choice.ts';
import { untilStopped } from '../src/speech/until-stopped.ts';
import { countCodePoints } from '../src/text/code-points.ts';
import type { SpeechFlags } from './speech-flags.ts';
import { controlsToSend } from './speech-flags.ts';
import { deliverSpeech } from './tts-delivery.ts';
import { dryRunResult } from './tts-words.ts';

export interface TtsFlags extends SpeechFlags {
  readonly file?: string;
  readonly output?: string;
  readonly clobber: boolean;
  readonly play?: true;
  readonly player?: string;
  readonly idempotencyKey?: string;
  readonly requestId?: string;
  readonly maxCredits?: number;
  readonly creditRate?: number;
  readonly dryRun?: true;
}

/** What is going to be spoken, and where it will go; nothing has been asked of the service yet. */
export interface Task {
  readonly context: Context;
  readonly flags: TtsFlags;
  readonly settings: SettingSources;
  readonly plan: OutputPlan;
  readonly player: Player | undefined;
  readonly text: string;
  readonly characters: number;
}

/**
 * Checks everything that can be checked before anything is sent.
 * @throws Failure (usage, config)
 */
export async function planTask(
  context: Context,
  { args, options: flags }: CommandInput<TtsFlags>,
): Promise<Task> {
  const { files, globals, io, signal } = context;
  refuseSharedStdin(args, flags.file, globals.apiKeyFile);
  const settings = await context.settings();
  if (flags.creditRate !== undefined && flags.maxCredits === undefined) {
    throw usageFailure('--credit-rate means something only with --max-credits');
  }
  const plan = planOutput({
    output: flags.output,
    format: flags.format ?? flags.outputFormat,
    configuredFormat: resolveSetting(settings, 'format')?.value,
    json: globals.json === true && flags.dryRun !== true,
    play: flags.play === true || flags.player !== undefined,
    stdoutIsTerminal: io.stdoutIsTerminal,
  });
  const player = flags.dryRun === true ? undefined : await playerFor(context, flags, plan);
  const { stdin, stdinIsTerminal } = io;
  const source = { args, file: flags.file, stdin, stdinIsTerminal, files, signal };
  const text = await untilStopped(readText(source), signal);
  const characters = countCodePoints(text);
  if (characters > TEXT_MAX_CHARACTERS) {
    throw usageFailure(
      `the text has ${characters} characters; one request takes at most ${TEXT_MAX_CHARACTERS}`,
      'Cut it into parts.',
    );
  }
  return { context, flags, settings, plan, player, text, characters };
}

/** Stdin is read once: it cannot give both the text and the key. */
function refuseSharedStdin(
  args: readonly string[],
  file: string | undefined,
  keyFile: string | undefined,
): void {
  const givesText = args.length === 0 && (file === undefined || file === '-');
  if (!givesText || keyFile !== '-') return;
  throw usageFailure(
    'stdin is asked for twice: for the text, and for the key with --api-key-file -',
    'Give the text as an argument or with -f FILE, or the key in a file.',
  );
}

async function playerFor(
  context: Context,
  { play, player }: TtsFlags,
  { format }: OutputPlan,
): Promise<Player | undefined> {
  if (play !== true && player === undefined) return undefined;
  const [{ findPlayer }, { findProgram }] = await Promise.all([
    import('../src/speech/players.ts'),
    import('../src/speech/installed-programs.ts'),
  ]);
  return findPlayer({ format, own: player }, (command) => findProgram(command, context));
}

/** The request that would be sent (`--dry-run`). Voices may be looked up; nothing billable is sent. */
export async function describeTask(task: Task): Promise<CommandResult> {
  const connection = await task.context.connect();
  const body = await requestBody(task, connection);
  const { client } = connection;
  return dryRunResult(client.describe(speechRequest(client, body, speechOptions(task))));
}

/** Opens the output, then asks the service, and delivers. */
export async function speakTask(task: Task): Promise<CommandResult> {
  const { context, flags, plan, text } = task;
  const { signal } = context;
  const output = await untilStopped(
    openPlanned(plan, { ...context, text, noClobber: !flags.clobber }),
    signal,
    (opened) => void opened?.abandon(),
  );
  try {
    const connection = await untilStopped(context.connect(), signal);
    const body = await requestBody(task, connection);
    return await deliverSpeech(task, { body, connection, output, speech: speechOptions(task) });
  } finally {
    // After it was published or kept this does nothing.
    await output?.abandon();
  }
}

async function requestBody(
  { context, flags, plan: { format }, settings, text }: Task,
  { client, target }: Connection,
): Promise<SpeechRequest> {
  const query = { includePersonal: true, signal: context.signal };
  const voiceId = await chooseVoice(
    {
      voice: flags.voice,
      voiceName: flags.voiceName,
      configuredVoice: resolveSetting(settings, 'voice')?.value,
      target,
    },
    async function* () {
      for await (const { voice } of allVoices(client, query)) yield voice;
    },
  );
  const modelId = resolveSetting(settings, 'model', flags.model)?.value;
  return {
    text,
    voiceId,
    ...(modelId === undefined ? {} : { modelId }),
    format,
    ...controlsToSend(flags, settings),
  };
}

function speechOptions({ context, flags }: Task): SpeechOptions {
  const { idempotencyKey, requestId } = flags;
  return {
    idempotencyKey: {
      value: idempotencyKey ?? context.random.uuid(),
      madeByTool: idempotencyKey === undefined,
    },
    requestId,
    signal: context.signal,
  };
}
