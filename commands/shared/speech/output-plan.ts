import { requireStreamable, unchangeable } from '../../../src/audio/encode/encoded-output.ts';
import type { Format } from '../../../src/audio/formats.ts';
import { foreignOutput, formatOfPath } from '../../../src/audio/formats.ts';
import type { Context } from '../../../src/cli/command.ts';
import { checkOutputFlag } from '../../../src/cli/flags/values.ts';
import type { AudioFormat } from '../../../src/contract/values.ts';
import { FILE_FORMATS } from '../../../src/contract/values.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { SoundChanges } from '../../../src/durable/output.ts';
import type { ChosenFormat, OutputPlan } from '../../../src/paid/speakers/speak-stream.ts';
import { display } from '../../../src/text/display.ts';

export interface DestinationOptions {
  readonly output?: string | undefined;
  readonly format?: Format | undefined;
  /** The format from the environment or a settings file. A flag or a file extension overrides this format. */
  readonly configuredFormat?: AudioFormat | undefined;
  /** The changes that foley makes to the sound; undefined for none. */
  readonly changes?: SoundChanges | undefined;
  readonly json: boolean;
  /** Whether `--subtitles` or `--timings` is given; the audio then goes to a file by default. */
  readonly captions?: boolean | undefined;
  /** Whether `--play` or `--player` is given. */
  readonly play: boolean;
  readonly stdoutIsTerminal: boolean;
}

interface OutputSurface<Possible extends Format = AudioFormat> {
  /** The flag that selects the API version, such as `--api compat-tts`, for messages. */
  readonly flag?: string | undefined;
  readonly formats: readonly Possible[];
}

/**
 * Chooses the format and the destination of the audio (`--format` and `-o`).
 * @throws Failure of kind `usage` if flags contradict each other
 */
export function planOutput<Possible extends Format>(
  options: DestinationOptions,
  surface: OutputSurface<Possible>,
): OutputPlan<Possible> {
  const { captions = false, output, json, play, stdoutIsTerminal } = options;
  checkOutputFlag(output, json);
  if (output !== undefined && output !== '-') {
    return { kind: 'file', path: output, ...formatOfFile(output, options, surface) };
  }
  const chosen = chooseFormat(options, surface);
  const { changes } = options;
  const toStdout = (): OutputPlan<Possible> => {
    if (changes !== undefined) throw unchangeable(changes, 'the output is stdout');
    if (chosen.encoding !== undefined) requireStreamable(chosen.encoding, '--output is stdout');
    return { kind: 'stdout', ...chosen };
  };
  if (output === '-') return toStdout();
  if (json || captions) return { kind: 'automatic', ...chosen };
  if (play) {
    if (changes !== undefined) throw unchangeable(changes, 'the audio is only played');
    return { kind: 'player', format: chosen.format };
  }
  return stdoutIsTerminal ? { kind: 'automatic', ...chosen } : toStdout();
}

// What the service does not make, and sound that changes, is encoded from wav.
function findFormat<Possible extends Format>(
  wanted: Format | undefined,
  changes: SoundChanges | undefined,
  { formats }: OutputSurface<Possible>,
): ChosenFormat<Possible> | undefined {
  const format = formats.find((candidate) => candidate === wanted);
  if (format !== undefined && changes === undefined) return { format };
  const encoding = FILE_FORMATS.find((candidate) => candidate === wanted);
  const wav = formats.find((candidate) => candidate === 'wav');
  if (encoding === undefined || wav === undefined) return undefined;
  return { format: wav, encoding, ...(changes === undefined ? {} : { changes }) };
}

function allFormats({ formats }: OutputSurface<Format>): readonly Format[] {
  return [...new Set<Format>([...FILE_FORMATS, ...formats])];
}

function formatOfFile<Possible extends Format>(
  output: string,
  options: DestinationOptions,
  surface: OutputSurface<Possible>,
): ChosenFormat<Possible> {
  const extensionFormat = formatOfPath(output);
  const { flag } = surface;
  const found = findFormat(extensionFormat, options.changes, surface);
  if (extensionFormat !== undefined && found === undefined) {
    const list = allFormats(surface).join(', ');
    const ofFlag = flag === undefined ? '' : ` of ${flag}`;
    throw usageFailure(
      `--output has the extension of ${extensionFormat}; the formats${ofFlag} are ${list}`,
      'Use one of these extensions, and convert the file afterwards.',
    );
  }
  if (found !== undefined && options.format !== undefined && options.format !== extensionFormat) {
    throw usageFailure(
      `--format is ${options.format}, but --output has the extension of ${extensionFormat}`,
      'Leave --format out, or change the extension.',
    );
  }
  const foreign = foreignOutput('--output', output, allFormats(surface));
  if (foreign !== undefined) throw foreign;
  const chosen = found ?? chooseFormat(options, surface);
  if (found !== undefined || chosen.encoding === undefined) return chosen;
  // The extension is all that `foley recover` knows about the format.
  if (options.changes !== undefined) {
    throw usageFailure(
      `the sound changes, which requires an extension that names the format; --output ${display(output)} has none`,
      `Add the extension, such as .${chosen.encoding}.`,
    );
  }
  throw usageFailure(
    `--format ${chosen.encoding} requires the extension .${chosen.encoding}, which --output ${display(output)} does not have`,
    'Add the extension.',
  );
}

function chooseFormat<Possible extends Format>(
  { changes, configuredFormat, format }: DestinationOptions,
  surface: OutputSurface<Possible>,
): ChosenFormat<Possible> {
  const wanted = format ?? configuredFormat ?? 'mp3';
  const chosen = findFormat(wanted, changes, surface);
  if (chosen !== undefined) return chosen;
  const formatFlag = format === undefined ? 'the configured format' : '--format';
  const { flag } = surface;
  const list = (changes === undefined ? allFormats(surface) : FILE_FORMATS).join(', ');
  const withFlag = flag === undefined ? '' : `with ${flag} `;
  throw usageFailure(
    `${formatFlag} is "${wanted}"; ${withFlag}it takes ${list}`,
    'Select one of these formats with --format.',
  );
}

/** Reports that foley encodes the audio itself, if the service does not make the format. */
export function noticeEncoding({ io }: Context, { changes, encoding }: OutputPlan): void {
  if (encoding === undefined || changes !== undefined) return;
  io.notice(`foley: the service does not make ${encoding}; foley requests wav and encodes it`);
}
