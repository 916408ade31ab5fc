import { formatOfPath } from '../audio/formats.ts';
import type { AudioFormat } from '../contract/audio-formats.ts';
import { SPEECH_FORMATS } from '../contract/generated/speech-controls.ts';
import { usageFailure } from '../errors/failure.ts';

const DEFAULT_FORMAT: AudioFormat = 'mp3';

export interface OutputWishes {
  /** `--output`. */
  readonly output?: string | undefined;
  /** `--format`. */
  readonly format?: AudioFormat | undefined;
  /** The format of the environment or a config file, when no flag and no extension decides. */
  readonly configuredFormat?: AudioFormat | undefined;
  /** What the surface makes, where that is not what v3 makes. */
  readonly surface?: OutputSurface | undefined;
  readonly json: boolean;
  /** `--subtitles` or `--timings`: they belong to a file, unless it is said that the audio goes elsewhere. */
  readonly captions?: boolean | undefined;
  /** `--play` or `--player`. */
  readonly play: boolean;
  readonly stdoutIsTerminal: boolean;
}

/** One interface of the service and the formats that it has. */
export interface OutputSurface {
  /** As the person chose it, such as `--api compat-tts`. */
  readonly flag: string;
  readonly formats: readonly AudioFormat[];
}

/** Where the audio goes, and as what. */
export type OutputPlan =
  | { readonly kind: 'stdout'; readonly format: AudioFormat }
  | { readonly kind: 'file'; readonly path: string; readonly format: AudioFormat }
  /** A file that is named after the text. */
  | { readonly kind: 'automatic'; readonly format: AudioFormat }
  /** The player alone. */
  | { readonly kind: 'player'; readonly format: AudioFormat };

/**
 * Decides where audio goes and in which format (contract, section 5, `-o` and `--format`).
 * @throws Failure (usage) for flags that contradict each other
 */
export function planOutput(wishes: OutputWishes): OutputPlan {
  const { captions = false, output, json, play, stdoutIsTerminal } = wishes;
  if (output === '') throw usageFailure('--output is empty', 'Give a file name, or - for stdout.');
  if (output === '-' && json) {
    throw usageFailure(
      '--json and audio cannot both go to stdout',
      'Give a file with -o, or leave --json out.',
    );
  }
  if (output !== undefined && output !== '-') {
    return { kind: 'file', path: output, format: formatOfFile(output, wishes) };
  }
  const format = chosenFormat(wishes);
  if (output === '-') return { kind: 'stdout', format };
  if (json || captions) return { kind: 'automatic', format };
  if (play) return { kind: 'player', format };
  return { kind: stdoutIsTerminal ? 'automatic' : 'stdout', format };
}

function formatOfFile(output: string, wishes: OutputWishes): AudioFormat {
  const named = formatOfPath(output);
  const { flag, formats = SPEECH_FORMATS }: Partial<OutputSurface> = wishes.surface ?? {};
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
  return format ?? chosenFormat(wishes);
}

/** The format that was asked for, or configured. */
function chosenFormat({ configuredFormat, format, surface }: OutputWishes): AudioFormat {
  const { flag, formats = SPEECH_FORMATS }: Partial<OutputSurface> = surface ?? {};
  const chosen = format ?? configuredFormat ?? DEFAULT_FORMAT;
  if (formats.some((candidate) => candidate === chosen)) return chosen;
  const what = format === undefined ? 'the configured format' : '--format';
  const whose = flag === undefined ? 'it takes' : `with ${flag} it takes`;
  throw usageFailure(
    `${what} is "${chosen}"; ${whose} ${formats.join(', ')}`,
    'Choose one of those with --format.',
  );
}
