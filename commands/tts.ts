import { Option } from 'commander';
import { oneOf } from '../src/cli/choice-flag.ts';
import type { CommandDefinition } from '../src/cli/command.ts';
import { isHeaderValue } from '../src/api/request.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../src/contract/limits.ts';
import { usageFailure } from '../src/errors/failure.ts';
import { addSpeechFlags, filled, numberWithin, textWithin } from './speech-flags.ts';
import { SURFACE_NAMES } from './tts-surface.ts';
import { describeTask, planTask, speakTask } from './tts-task.ts';
import type { TtsFlags } from './tts-task.ts';

/** `foley tts` (contract, section 5), on the synchronous surfaces (spec sections 4.1 to 4.4). */
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
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'))
      .addOption(new Option('--play', 'play the audio; without -o no file is written'))
      .addOption(
        new Option('--player <command>', 'play with this program, which reads stdin').argParser(
          filled('--player'),
        ),
      );
    addSpeechFlags(command);
    for (const option of requestOptions()) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, input) {
    const task = await planTask(context, input);
    return input.options.dryRun === true ? describeTask(task) : speakTask(task);
  },
};

const EXAMPLES = `
Examples:
  $ foley tts "Hello from foley" -o hello.mp3
  $ echo "Build finished" | foley tts --play
  $ foley tts -f chapter.txt --voice-name Martin --speed 0.9 -o chapter.wav`;

function requestOptions(): Option[] {
  return [
    new Option(
      '--api <surface>',
      `interface of the service: ${SURFACE_NAMES.join(', ')} (default: v3)`,
    ).argParser(oneOf('--api', SURFACE_NAMES)),
    new Option('--cache', 'v1: have the audio stored for a while, and fetch it from there'),
    new Option(
      '--idempotency-key <key>',
      'key under which a repeated request is not billed again',
    ).argParser(headerText('--idempotency-key')),
    new Option('--request-id <id>', 'trace id of the request').argParser(
      headerText('--request-id'),
    ),
    new Option('--max-credits <n>', 'refuse what may cost more').argParser(
      numberWithin('--max-credits', { minimum: 0 }),
    ),
    new Option(
      '--credit-rate <n>',
      'credits per character for --max-credits (default: the highest seen)',
    ).argParser(numberWithin('--credit-rate', { minimum: 0 })),
    new Option('--dry-run', 'print the request and send nothing'),
  ];
}

/** A parser for a flag whose text becomes the value of a header. */
function headerText(flag: string): (given: string) => string {
  const check = textWithin(flag, IDEMPOTENCY_KEY_MAX_CHARACTERS);
  return (given) => {
    const value = check(given);
    if (isHeaderValue(value)) return value;
    throw usageFailure(
      `${flag} has characters that a header cannot carry`,
      'Use printable ASCII without spaces at the ends.',
    );
  };
}
