import { Argument, Option } from 'commander';
import type { CueShape } from '../../src/captions/cue-shape.ts';
import type { Subtitles } from '../../src/captions/subtitles.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { CueFlags } from '../shared/flags/captions.ts';
import {
  addCueFlags,
  cueShape,
  subtitlesOption,
  subtitleTargets,
} from '../shared/flags/captions.ts';
import { readTextInput } from '../../src/cli/read-input.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { jsonFaultLine } from '../../src/config/json-file.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted, display } from '../../src/text/display.ts';

interface CaptionsFlags extends CueFlags {
  readonly subtitles?: readonly string[];
  readonly check?: true;
}

export const definition: CommandDefinition<CaptionsFlags> = {
  configure(command) {
    command
      .description(
        'Writes subtitles from timings stored by `foley tts --timings`, with other cue settings or in ' +
          'another format. --check reports the cues of a file that are outside the limits. ' +
          'Sends nothing and costs nothing.',
      )
      .addArgument(
        new Argument(
          '<timings>',
          'JSON file with timings; with --check also .srt or .vtt; - is stdin',
        ),
      )
      .addOption(subtitlesOption())
      .addOption(new Option('--check', 'report cues outside the limits and write nothing'));
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [file = ''], options }) {
    const targets = subtitleTargets(options.subtitles ?? [], context.cwd());
    const shape = cueShape(options, await context.settings());
    if (options.check === true) {
      if (targets.length === 0) return checkFile(context, file, shape);
      throw usageFailure('--check and --subtitles exclude each other', 'Use one of them.');
    }
    if (targets.length === 0) {
      throw usageFailure(
        '--subtitles is required',
        'Name a file: foley captions FILE.json --subtitles out.srt',
      );
    }
    const timings = await parseTimings(await readFile(context, file), nameOf(file));
    const { writeCaptions } = await import('../../src/captions/caption-files.ts');
    const written = await writeCaptions({ ...context, targets, timings, shape });
    for (const { cues = 0, path } of written) {
      context.io.notice(`${path}: ${counted(cues, 'cue')}`);
    }
    const { warnOfViolations } = await import('../../src/captions/violations.ts');
    warnOfViolations(written, (sentence) => context.io.warn(sentence));
    const { describeMissing } = await import('../../src/captions/missing-text.ts');
    const missing = describeMissing(timings);
    if (missing !== undefined) context.io.warn(`foley: ${missing}`);
    else if (!timings.complete) context.io.warn(INCOMPLETE);
    return {
      data: {
        items: written.map(({ path, format, cues, violations }) => {
          return { output: path, format, cues, violations };
        }),
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
  $ foley captions talk.json --subtitles talk.srt --cue-max-chars 37
  $ foley captions --check talk.srt --cue-preset bbc`;

const INCOMPLETE =
  'foley: the service did not time all of this text; untimed words share the time between their neighbours';

async function checkFile(context: Context, file: string, shape: CueShape): Promise<CommandResult> {
  const { describeViolation, findViolations } = await import('../../src/captions/violations.ts');
  const text = await readFile(context, file);
  const shown = nameOf(file);
  const check = async (): Promise<Pick<Subtitles, 'cues' | 'violations'>> => {
    if (!/\.json$/i.test(file) && !text.trimStart().startsWith('{')) {
      const { readSubtitles } = await import('../../src/captions/read-subtitles.ts');
      const read = readSubtitles(text, shown);
      return { cues: read.length, violations: findViolations(read, shape) };
    }
    const { subtitlesUntil } = await import('../../src/captions/subtitles-thread.ts');
    const timings = await parseTimings(text, shown);
    return subtitlesUntil({ timings, shape, format: 'srt' }, context.signal);
  };
  const { cues, violations } = await check();
  const rows = violations.map((violation) => {
    const place = violation.line === null ? shown : `${shown}:${violation.line}`;
    return display(`${place}: ${violation.rule}: ${describeViolation(violation)}`);
  });
  const summary = `${counted(cues, 'cue')}, ${counted(violations.length, 'violation')}`;
  return {
    data: { file, cues, limits: shape, violations },
    human: () => [...rows, display(`${shown}: ${summary}`)].join('\n'),
    ...(violations.length === 0 ? {} : { exit: 'partial' as const }),
  };
}

function nameOf(file: string): string {
  return file === '-' ? 'stdin' : file;
}

function readFile(context: Context, file: string): Promise<string> {
  return readTextInput(context, file, nameOf(file), 'Captions are UTF-8.');
}

async function parseTimings(text: string, shown: string): Promise<Timings> {
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
