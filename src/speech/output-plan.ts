import path from 'node:path';
import type { Format } from '../audio/formats.ts';
import { formatOfPath, extensionOf } from '../audio/formats.ts';
import type { AudioFormat } from '../contract/values.ts';
import { SPEECH_FORMATS } from '../contract/generated/speech-controls.ts';
import type { FileDeps } from '../durable/files.ts';
import { requireOutputSpace, requireSpoolSpace } from '../durable/free-space.ts';
import { automaticName } from '../durable/names.ts';
import type { Output } from '../durable/output.ts';
import { openOutput } from '../durable/publish.ts';
import { usageFailure } from '../errors/failure.ts';
import { expectedBytes } from './deliver.ts';
import { sweepTemporaries } from './sweep-temporaries.ts';

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
 * Decides where audio goes and in which format (`-o` and `--format`).
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

export interface OpenPlannedOptions extends FileDeps {
  readonly text: string;
  /** An existing file is a failure, and is not replaced. */
  readonly noClobber: boolean;
  /** The folder of foley's state, in which audio is kept that cannot get to its output. */
  readonly state: string;
  /** Ends the wait for a reader of a pipe. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the file that audio will go into, before anything is billed, and checks that there is room for it;
 * undefined where it goes to a stream.
 * @throws Failure (output, exists, usage, state)
 */
export async function openPlanned(
  plan: OutputPlan<Format>,
  options: OpenPlannedOptions,
): Promise<Output | undefined> {
  const { files, processes, state, text } = options;
  const bytes = expectedBytes(text, plan.format);
  await requireSpoolSpace(path.join(state, 'spool'), bytes, files);
  const output = await openFile(plan, options);
  if (output?.temporary === undefined) return output;
  if (processes !== undefined) {
    await sweepTemporaries(path.dirname(output.temporary), { ...options, processes });
  }
  try {
    await requireOutputSpace(output.path, bytes, { files });
    return output;
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

async function openFile(
  plan: OutputPlan<Format>,
  { text, noClobber, ...deps }: OpenPlannedOptions,
): Promise<Output | undefined> {
  switch (plan.kind) {
    case 'stdout':
    case 'player':
      return undefined;
    case 'file':
      return openOutput({ ...deps, path: plan.path, existing: noClobber ? 'refuse' : 'replace' });
    case 'automatic':
      return openOutput({
        ...deps,
        path: plan.path ?? automaticName(text, extensionOf(plan.format)),
        existing: 'number',
      });
  }
}
