import { Argument, Option } from 'commander';
import type { WrittenCaptions } from '../../src/captions/caption-files.ts';
import type { Cue, CueShape } from '../../src/captions/cue-shape.ts';
import { flagOf } from '../../src/captions/cue-shape.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { CaptionFlags } from '../shared/flags/captions.ts';
import {
  addCueFlags,
  captionTargets,
  cueShape,
  subtitlesOption,
  timingsOption,
} from '../shared/flags/captions.ts';
import { readTextInput } from '../../src/cli/read-input.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { jsonFaultLine } from '../../src/config/json-file.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted, display } from '../../src/text/display.ts';
import type { CaptionsDocument } from '../shared/speech/captions.ts';
import type { CueViolation } from '../../src/captions/violations.ts';

interface CaptionsFlags extends CaptionFlags {
  readonly check?: true;
}

/** With `--check`: the cues of a file that are outside the limits. */
interface CheckDocument {
  readonly file: string;
  /** Number of cues. */
  readonly cues: number;
  readonly limits: CueShape;
  readonly violations: readonly CueViolation[];
}

export type CaptionsOutput = CaptionsDocument | CheckDocument;

export const definition: CommandDefinition<CaptionsFlags, CaptionsOutput> = {
  configure(command) {
    command
      .description(
        'Writes subtitles from timings stored by `foley tts --timings`, with other cue settings or in ' +
          'another format, and converts subtitles to other formats and to timings. --check reports the ' +
          'cues of a file that are outside the limits. Sends nothing and costs nothing.',
      )
      .addArgument(new Argument('<file>', `${FILES}; - is stdin`))
      .addOption(subtitlesOption())
      .addOption(timingsOption())
      .addOption(new Option('--check', 'report cues outside the limits and write nothing'));
    addCueFlags(command);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [file = ''], options }) {
    const targets = await captionTargets(options, context);
    const shape = cueShape(options, await context.settings());
    if (options.check === true) {
      if (targets.length === 0) return checkFile(context, file, shape);
      const [target = { format: '' }] = targets;
      throw usageFailure(`--check and ${flagOf(target)} exclude each other`, 'Use one of them.');
    }
    if (targets.length === 0) {
      throw usageFailure(
        '--subtitles or --timings is required',
        'Name a file: foley captions FILE --subtitles out.srt',
      );
    }
    const { cues, timings } = await readCaptions(context, file);
    const hasCueFlags = Object.keys(options).some((name) => name.startsWith('cue'));
    const { captionFileDocument, writeCaptions } =
      await import('../../src/captions/caption-files.ts');
    const { signal, system } = context;
    const content = { timings, shape, cues: hasCueFlags ? undefined : cues };
    const written = await writeCaptions(content, { system, signal, targets });
    for (const { cues: count, path } of written) {
      context.io.notice(`${path}: ${count === undefined ? 'word times' : counted(count, 'cue')}`);
    }
    const { warnOfViolations } = await import('../../src/captions/violations.ts');
    warnOfViolations(written, (sentence) => context.io.warn(sentence));
    // Cues that are written as they are need no times of words.
    const isComplete =
      timings.complete || (cues !== undefined && !needsWords(written, hasCueFlags));
    const { describeMissing } = await import('../../src/captions/missing-text.ts');
    const missing = describeMissing(timings);
    if (missing !== undefined) context.io.warn(`foley: ${missing}`);
    else if (!isComplete) context.io.warn(cues === undefined ? INCOMPLETE : GUESSED);
    return {
      data: {
        items: written.map(captionFileDocument),
        complete: isComplete,
      },
      ...(isComplete || cues !== undefined ? {} : { exit: 'partial' as const }),
    };
  },
};

const FILES =
  'timings (.json) or subtitles (.srt, .vtt, .ass, .ttml, .lrc), recognised by their content';

function needsWords(written: readonly WrittenCaptions[], hasCueFlags: boolean): boolean {
  return hasCueFlags || written.some(({ format }) => format === 'json');
}

const EXAMPLES = `
Examples:
  $ foley captions talk.json --subtitles talk.srt --subtitles talk.vtt
  $ foley captions talk.json --subtitles talk.vtt --cue-by word
  $ foley captions talk.json --subtitles talk.srt --cue-max-chars 37
  $ foley captions talk.srt --subtitles talk.ttml --subtitles talk.ass
  $ foley captions --check talk.srt --cue-preset bbc`;

const INCOMPLETE =
  'foley: the service did not time all of this text; untimed words share the time between their neighbours';

const GUESSED =
  'foley: the subtitles have no times of words; the words of a cue share its time by their lengths';

/** Reads timings, or the cues of a subtitle file and the timings that follow from them. */
async function readCaptions(
  context: Context,
  file: string,
): Promise<{ readonly timings: Timings; readonly cues: readonly Cue[] | undefined }> {
  const text = await readFile(context, file);
  const shown = nameOf(file);
  if (isJson(file, text)) return { timings: await parseTimings(text, shown), cues: undefined };
  const { readCues, timingsOfCues } = await import('../../src/captions/read-cues.ts');
  const cues = readCues(text, shown);
  return { timings: timingsOfCues(cues), cues };
}

function isJson(file: string, text: string): boolean {
  return /\.json$/i.test(file) || text.trimStart().startsWith('{');
}

async function checkFile(
  context: Context,
  file: string,
  shape: CueShape,
): Promise<CommandResult<CheckDocument>> {
  const { describeViolation, findViolations } = await import('../../src/captions/violations.ts');
  const text = await readFile(context, file);
  const shown = nameOf(file);
  const check = async () => {
    if (!isJson(file, text)) {
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
