import { formatOfPath } from '../audio/formats.ts';
import type { SpeechFormat } from '../contract/generated/speech-controls.ts';
import { SPEECH_FORMATS } from '../contract/generated/speech-controls.ts';
import { usageFailure } from '../errors/failure.ts';

const DEFAULT_FORMAT: SpeechFormat = 'mp3';

export interface OutputWishes {
  /** `--output`. */
  readonly output?: string | undefined;
  /** `--format`. */
  readonly format?: SpeechFormat | undefined;
  /** The format of the environment or a config file, when no flag and no extension decides. */
  readonly configuredFormat?: SpeechFormat | undefined;
  readonly json: boolean;
  /** `--play` or `--player`. */
  readonly play: boolean;
  readonly stdoutIsTerminal: boolean;
}

/** Where the audio goes, and as what. */
export type OutputPlan =
  | { readonly kind: 'stdout'; readonly format: SpeechFormat }
  | { readonly kind: 'file'; readonly path: string; readonly format: SpeechFormat }
  /** A file that is named after the text. */
  | { readonly kind: 'automatic'; readonly format: SpeechFormat }
  /** The player alone. */
  | { readonly kind: 'player'; readonly format: SpeechFormat };

/**
 * Decides where audio goes and in which format (contract, section 5, `-o` and `--format`).
 * @throws Failure (usage) for flags that contradict each other
 */
export function planOutput(wishes: OutputWishes): OutputPlan {
  const { output, json, play, stdoutIsTerminal } = wishes;
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
  const format = wishes.format ?? wishes.configuredFormat ?? DEFAULT_FORMAT;
  if (output === '-') return { kind: 'stdout', format };
  if (json) return { kind: 'automatic', format };
  if (play) return { kind: 'player', format };
  return { kind: stdoutIsTerminal ? 'automatic' : 'stdout', format };
}

function formatOfFile(output: string, wishes: OutputWishes): SpeechFormat {
  const named = formatOfPath(output);
  const format = SPEECH_FORMATS.find((candidate) => candidate === named);
  if (named !== undefined && format === undefined) {
    throw usageFailure(
      `--output ends in a name for ${named}; speech comes as ${SPEECH_FORMATS.join(', ')}`,
      'Choose one of those endings, and convert the file afterwards.',
    );
  }
  if (format !== undefined && wishes.format !== undefined && wishes.format !== format) {
    throw usageFailure(
      `--format is ${wishes.format}, but the name of --output says ${format}`,
      'Drop --format, or change the ending.',
    );
  }
  return format ?? wishes.format ?? wishes.configuredFormat ?? DEFAULT_FORMAT;
}
