import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { addCueFlags, subtitlesOption, timingsOption } from '../shared/flags/captions.ts';
import {
  addSpeechFlags,
  outputOptions,
  pausesOption,
  requestOptions,
} from '../shared/flags/speech.ts';
import { soundChangeOptions } from '../shared/flags/sound.ts';
import { addOptions, choiceOption } from '../../src/cli/flags/values.ts';
import { SURFACE_NAMES, planTask, SPLIT_NAMES, VIA_NAMES } from '../shared/speech/plan.ts';
import { describeTask, speakTask } from '../shared/speech/speak.ts';
import type { TtsFlags } from '../shared/speech/plan.ts';
import { tagOptions } from '../shared/flags/tags.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import type { DryRunDocument } from '../../src/cli/render/result.ts';
import type { SpeechDocument } from '../shared/speech/speak.ts';

/** Defines the command `foley tts` (docs/api/README.md). */
export const definition: CommandDefinition<TtsFlags, SpeechDocument | DryRunDocument> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Speaks text from the arguments, a file or a pipe. Writes to stdout, or on a terminal to a file ' +
          'named after the text.',
      )
      .argument('[text...]', 'text to speak');
    addOptions(command, [
      ...outputOptions(),
      pausesOption(),
      new Option('--voices', 'let lines such as [voice Martin] change the voice'),
      ...soundChangeOptions(),
      new Option('--waveform', 'draw the waveform of the file'),
    ]);
    addSpeechFlags(command, { formats: `${FILE_FORMATS.join(', ')}; pcm on compat surfaces` });
    addOptions(command, [...surfaceOptions(), ...requestOptions()]);
    for (const option of tagOptions('the file'))
      command.addOption(option.helpGroup('Tag options:'));
    for (const option of [subtitlesOption(), timingsOption()]) {
      command.addOption(option.helpGroup('Caption options:'));
    }
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, input) {
    const task = await planTask(context, input);
    if (input.options.dryRun === true) return describeTask(task);
    const result = await speakTask(task);
    const { showsProgress, stdoutIsTerminal } = context.io;
    if (!showsProgress || !stdoutIsTerminal || result.notice !== undefined) return result;
    const { naturalVoicesNotice } = await import('./natural-voices.ts');
    const notice = await naturalVoicesNotice(context);
    return notice === undefined ? result : { ...result, notice };
  },
};

const EXAMPLES = `
Examples:
  $ foley tts "Hello from foley" -o hello.mp3
  $ echo "Build finished" | foley tts --play
  $ foley tts -f book.txt -o book.mp3
  $ foley tts -f book.epub -o book.m4b
  $ foley tts -f chapter.txt --voice-name Martin --speed 0.9 -o chapter.wav
  $ foley tts -f chapter.txt -o chapter.mp3 --subtitles chapter.srt`;

function surfaceOptions(): Option[] {
  return [
    choiceOption(
      '--api <surface>',
      `API surface: ${SURFACE_NAMES.join(', ')} (default: v3)`,
      SURFACE_NAMES,
    ),
    new Option('--cache', 'v1: request a stored copy and download it'),
    choiceOption(
      '--via <mode>',
      `delivery mode: ${VIA_NAMES.join(', ')} (default: auto: aligned for captions, a job for a long text to a file)`,
      VIA_NAMES,
    ),
    choiceOption(
      '--split <when>',
      "text above the model's limit: auto speaks it in parts and joins them, never refuses it (default: auto)",
      SPLIT_NAMES,
    ),
  ];
}
