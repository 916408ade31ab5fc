import { Argument } from 'commander';
import type { Timings } from '../../src/captions/timings.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { CueFlags } from '../../src/cli/flags/captions.ts';
import {
  addCueFlags,
  cueShape,
  subtitlesOption,
  subtitleTargets,
} from '../../src/cli/flags/captions.ts';
import { readTextInput } from '../../src/cli/read-input.ts';
import { jsonFaultLine } from '../../src/config/json-file.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';

interface CaptionsFlags extends CueFlags {
  readonly subtitles?: readonly string[];
}

export const captions: CommandDefinition<CaptionsFlags> = {
  configure(command) {
    command
      .description(
        'Writes subtitles from timings stored by `foley tts --timings`, with other cue settings or in ' +
          'another format. Sends nothing and costs nothing.',
      )
      .addArgument(new Argument('<timings>', 'JSON file with timings; - is stdin'))
      .addOption(subtitlesOption());
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [file = ''], options }) {
    const targets = subtitleTargets(options.subtitles ?? [], context.cwd());
    if (targets.length === 0) {
      throw usageFailure(
        '--subtitles is required',
        'Name a file: foley captions FILE.json --subtitles out.srt',
      );
    }
    const shape = cueShape(options, await context.settings());
    const timings = await readDocument(context, file);
    const { writeCaptions } = await import('../../src/captions/caption-files.ts');
    const written = await writeCaptions({ ...context, targets, timings, shape });
    for (const { cues = 0, path } of written) {
      context.io.notice(`${path}: ${counted(cues, 'cue')}`);
    }
    if (!timings.complete) context.io.warn(INCOMPLETE);
    return {
      data: {
        items: written.map(({ path, format, cues }) => ({ output: path, format, cues })),
        complete: timings.complete,
      },
      ...(timings.complete ? {} : { exit: 'partial' as const }),
    };
  },
};

const EXAMPLES = `
Examples:
  $ foley captions talk.json --subtitles talk.srt --subtitles talk.vtt
  $ foley captions talk.json --subtitles talk.vtt --cue-by word
  $ foley captions talk.json --subtitles talk.srt --cue-max-chars 37`;

const INCOMPLETE =
  'foley: the service did not time all of this text; untimed words share the time between their neighbours';

async function readDocument(context: Context, file: string): Promise<Timings> {
  const shown = file === '-' ? 'stdin' : file;
  const text = await readTextInput(context, file, shown, 'Timings are UTF-8.');
  const line = jsonFaultLine(text);
  if (line !== undefined) {
    throw usageFailure(
      text.trim() === '' ? `${shown} is empty` : `${shown} is not valid JSON, at line ${line}`,
      'Timings are written by `foley tts --timings FILE.json`.',
    );
  }
  const { readTimings } = await import('../../src/captions/timings.ts');
  return readTimings(JSON.parse(text), shown);
}
