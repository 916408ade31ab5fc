import { Option } from 'commander';
import type { RequestSpec } from '../src/api/request.ts';
import type { SpeechOptions } from '../src/api/speech.ts';
import { speechRequest } from '../src/api/speech.ts';
import { allVoices } from '../src/api/voices.ts';
import type { CommandDefinition, CommandInput } from '../src/cli/command.ts';
import type { Connection, Context } from '../src/cli/context.ts';
import type { CommandResult } from '../src/cli/result.ts';
import type { SettingSources } from '../src/config/settings.ts';
import { resolveSetting } from '../src/config/settings.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from '../src/contract/limits.ts';
import type { SpeechRequest } from '../src/contract/schemas/speech.ts';
import { usageFailure } from '../src/errors/failure.ts';
import type { OutputPlan } from '../src/speech/output-plan.ts';
import { planOutput } from '../src/speech/output-plan.ts';
import { openPlanned, speak } from '../src/speech/speak.ts';
import { readText } from '../src/speech/text-source.ts';
import { chooseVoice } from '../src/speech/voice-choice.ts';
import { countCodePoints } from '../src/text/code-points.ts';
import type { SpeechFlags } from './speech-flags.ts';
import { addSpeechFlags, controlsToSend, textWithin } from './speech-flags.ts';
import { dryRunResult, spokenNotice, spokenResult } from './tts-words.ts';

interface TtsFlags extends SpeechFlags {
  readonly file?: string;
  readonly output?: string;
  readonly clobber: boolean;
  readonly idempotencyKey?: string;
  readonly requestId?: string;
  readonly dryRun?: true;
}

/** What is going to be spoken, and where it will go; nothing has been asked of the service yet. */
interface Task {
  readonly context: Context;
  readonly flags: TtsFlags;
  readonly settings: SettingSources;
  readonly plan: OutputPlan;
  readonly text: string;
}

/** `foley tts` (contract, section 5), on the synchronous surface of v3 (spec section 4.1). */
export const tts: CommandDefinition<TtsFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Speaks text from the arguments, a file or a pipe. On a terminal the audio goes to a file ' +
          'that is named after the text, otherwise to stdout.',
      )
      .argument('[text...]', 'text to speak')
      .addOption(new Option('-f, --file <path>', 'read the text from a file; - is stdin'))
      .addOption(new Option('-o, --output <path>', 'write the audio to a file; - is stdout'))
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'));
    addSpeechFlags(command);
    for (const option of idOptions()) command.addOption(option);
    command
      .addOption(new Option('--dry-run', 'print the request and send nothing'))
      .addHelpText('after', EXAMPLES);
  },
  async run(context, input) {
    const task = await plan(context, input);
    return task.flags.dryRun === true ? dryRun(task) : speakTask(task);
  },
};

const EXAMPLES = `
Examples:
  $ foley tts "Hello from foley" -o hello.mp3
  $ echo "Build finished" | foley tts | mpg123 -
  $ foley tts -f chapter.txt --voice-name Miles --speed 0.9 -o chapter.wav`;

function idOptions(): Option[] {
  const key = textWithin('--idempotency-key', IDEMPOTENCY_KEY_MAX_CHARACTERS);
  const id = textWithin('--request-id', IDEMPOTENCY_KEY_MAX_CHARACTERS);
  return [
    new Option(
      '--idempotency-key <key>',
      'key under which a repeated request is not billed again',
    ).argParser(key),
    new Option('--request-id <id>', 'trace id of the request').argParser(id),
  ];
}

async function plan(context: Context, { args, options }: CommandInput<TtsFlags>): Promise<Task> {
  const { files, globals, io, signal } = context;
  const settings = await context.settings();
  const output = planOutput({
    output: options.output,
    format: options.format ?? options.outputFormat,
    configuredFormat: resolveSetting(settings, 'format')?.value,
    json: globals.json === true && options.dryRun !== true,
    stdoutIsTerminal: io.stdoutIsTerminal,
  });
  const text = await readText({
    args,
    file: options.file,
    stdin: io.stdin,
    stdinIsTerminal: io.stdinIsTerminal,
    files,
    signal,
  });
  const length = countCodePoints(text);
  if (length > TEXT_MAX_CHARACTERS) {
    throw usageFailure(
      `the text has ${length} characters; one request takes at most ${TEXT_MAX_CHARACTERS}`,
      'Cut it into parts.',
    );
  }
  return { context, flags: options, settings, plan: output, text };
}

async function dryRun(task: Task): Promise<CommandResult> {
  const { client, target } = await task.context.connect();
  const body = await requestBody(task, { client, target });
  const spec: RequestSpec = speechRequest(client, body, speechOptions(task));
  return dryRunResult(client.describe(spec));
}

async function speakTask(task: Task): Promise<CommandResult> {
  const { context, flags, plan: outputPlan, text } = task;
  const output = await openPlanned(outputPlan, { text, noClobber: !flags.clobber, deps: context });
  try {
    const { client, target } = await context.connect();
    const body = await requestBody(task, { client, target });
    const spoken = await speak({
      client,
      body,
      speech: speechOptions(task),
      plan: outputPlan,
      output,
      stdout: { write: (chunk) => context.io.writeOut(chunk) },
    });
    context.io.notice(spokenNotice(spoken));
    return spokenResult(spoken, body, target);
  } finally {
    // After it was published this does nothing.
    await output?.abandon();
  }
}

async function requestBody(
  { context, flags, plan: { format }, settings, text }: Task,
  { client, target }: Pick<Connection, 'client' | 'target'>,
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
