import type { Format } from '../audio/formats.ts';
import { formatOfPath } from '../audio/formats.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { SPEECH_FORMATS } from '../contract/generated/speech-controls.ts';
import { usageFailure } from '../errors/failure.ts';

const DEFAULT_FORMAT = 'mp3';

export interface OutputWishes {
  /** `--output`. */
  readonly output?: string | undefined;
  /** `--format`. */
  readonly format?: Format | undefined;
  /** The format of the environment or a config file, when no flag and no extension decides. */
  readonly configuredFormat?: AudioFormat | undefined;
  readonly json: boolean;
  /** `--subtitles` or `--timings`: they belong to a file, unless it is said that the audio goes elsewhere. */
  readonly captions?: boolean | undefined;
  /** `--play` or `--player`. */
  readonly play: boolean;
  readonly stdoutIsTerminal: boolean;
}

/** One interface of the service and the formats that it has. */
export interface OutputSurface<Possible extends Format = AudioFormat> {
  /** As the person chose it, such as `--api compat-tts`, where that matters. */
  readonly flag?: string | undefined;
  readonly formats: readonly Possible[];
}

/** Where the audio goes, and as what. */
export type OutputPlan<Possible extends Format = AudioFormat> =
  | { readonly kind: 'stdout'; readonly format: Possible }
  | { readonly kind: 'file'; readonly path: string; readonly format: Possible }
  /** A file that is named after the text, or that has the next free name like `path`. */
  | { readonly kind: 'automatic'; readonly format: Possible; readonly path?: string }
  /** The player alone. */
  | { readonly kind: 'player'; readonly format: Possible };

/**
 * Decides where audio goes and in which format (contract, section 5, `-o` and `--format`).
 * @param surface what it is asked of; by default what v3 makes
 * @throws Failure (usage) for flags that contradict each other
 */
export function planOutput(wishes: OutputWishes, surface?: OutputSurface): OutputPlan {
  return planOutputOf(wishes, surface ?? { formats: SPEECH_FORMATS });
}

/** The same for what makes other formats. */
export function planOutputOf<Possible extends Format>(
  wishes: OutputWishes,
  surface: OutputSurface<Possible>,
): OutputPlan<Possible> {
  const { captions = false, output, json, play, stdoutIsTerminal } = wishes;
  if (output === '') throw usageFailure('--output is empty', 'Give a file name, or - for stdout.');
  if (output === '-' && json) {
    throw usageFailure(
      '--json and audio cannot both go to stdout',
      'Give a file with -o, or leave --json out.',
    );
  }
  if (output !== undefined && output !== '-') {
    return { kind: 'file', path: output, format: formatOfFile(output, wishes, surface) };
  }
  const format = chosenFormat(wishes, surface);
  if (output === '-') return { kind: 'stdout', format };
  if (json || captions) return { kind: 'automatic', format };
  if (play) return { kind: 'player', format };
  return { kind: stdoutIsTerminal ? 'automatic' : 'stdout', format };
}

function formatOfFile<Possible extends Format>(
  output: string,
  wishes: OutputWishes,
  surface: OutputSurface<Possible>,
): Possible {
  const named = formatOfPath(output);
  const { flag, formats } = surface;
  const format = formats.find((candidate) => candidate === named);
  if (named !== undefined && format === undefined) {
    const whose = flag === undefined ? 'speech comes' : `with ${flag} speech comes`;
    throw usageFailure(
      `--output ends in a name for ${named}; ${whose} as ${formats.join(', ')}`,
      'Choose one of those endings, and convert the file afterwards.',
    );
  }
  if (format !== undefined && wishes.format !== undefined && wishes.format !== format) {
    throw usageFailure(
      `--format is ${wishes.format}, but the name of --output says ${format}`,
      'Drop --format, or change the ending.',
    );
  }
  return format ?? chosenFormat(wishes, surface);
}

/** The format that was asked for, or configured. */
function chosenFormat<Possible extends Format>(
  { configuredFormat, format }: OutputWishes,
  { flag, formats }: OutputSurface<Possible>,
): Possible {
  const wanted = format ?? configuredFormat ?? DEFAULT_FORMAT;
  const chosen = formats.find((candidate) => candidate === wanted);
  if (chosen !== undefined) return chosen;
  const what = format === undefined ? 'the configured format' : '--format';
  const whose = flag === undefined ? 'it takes' : `with ${flag} it takes`;
  throw usageFailure(
    `${what} is "${wanted}"; ${whose} ${formats.join(', ')}`,
    'Choose one of those with --format.',
  );
}
