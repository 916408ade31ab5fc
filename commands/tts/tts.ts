import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { addCueFlags, subtitlesOption, timingsOption } from '../../src/cli/flags/captions.ts';
import { requestOptions, addSpeechFlags } from '../../src/cli/flags/speech.ts';
import { filled, oneOf } from '../../src/cli/flags/values.ts';
import { SURFACE_NAMES, planTask, SPLIT_NAMES, VIA_NAMES } from '../../src/cli/speech/plan.ts';
import { describeTask, speakTask } from '../../src/cli/speech/speak.ts';
import type { TtsFlags } from '../../src/cli/speech/plan.ts';
import { SPEECH_FORMATS } from '../../src/contract/generated/speech-controls.ts';

/** `foley tts`, on every surface (docs/api/README.md), also as a job. */
export const tts: CommandDefinition<TtsFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Speaks text from the arguments, a file or a pipe. Writes to stdout, or on a terminal to a file ' +
          'named after the text.',
      )
      .argument('[text...]', 'text to speak')
      .addOption(new Option('-f, --file <path>', 'read the text from a file; - is stdin'))
      .addOption(new Option('-o, --output <path>', 'write the audio to a file; - is stdout'))
      .addOption(new Option('--no-clobber', 'do not replace an existing file (exit code 31)'))
      .addOption(new Option('--play', 'play the audio; without -o no file is written'))
      .addOption(
        new Option('--player <command>', 'player program that reads stdin').argParser(
          filled('--player'),
        ),
      )
      .addOption(new Option('--waveform', 'draw the waveform of the file'));
    addSpeechFlags(command, { formats: `${SPEECH_FORMATS.join(', ')}; pcm on compat surfaces` });
    for (const option of [...surfaceOptions(), ...requestOptions()]) command.addOption(option);
    for (const option of [subtitlesOption(), timingsOption()]) {
      command.addOption(option.helpGroup('Caption options:'));
    }
    addCueFlags(command);
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
  $ foley tts -f book.txt -o book.mp3
  $ foley tts -f chapter.txt --voice-name Martin --speed 0.9 -o chapter.wav
  $ foley tts -f chapter.txt -o chapter.mp3 --subtitles chapter.srt`;

function surfaceOptions(): Option[] {
  return [
    new Option(
      '--api <surface>',
      `API surface: ${SURFACE_NAMES.join(', ')} (default: v3)`,
    ).argParser(oneOf('--api', SURFACE_NAMES)),
    new Option('--cache', 'v1: request a stored copy and download it'),
    new Option(
      '--via <way>',
      `delivery mode: ${VIA_NAMES.join(', ')} (default: auto: aligned for captions, a job for a long text to a file)`,
    ).argParser(oneOf('--via', VIA_NAMES)),
    new Option(
      '--split <when>',
      "auto (default) speaks a text above the model's limit in parts and joins them; never refuses it",
    ).argParser(oneOf('--split', SPLIT_NAMES)),
  ];
}
