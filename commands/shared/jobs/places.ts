import { constants } from 'node:fs';
import path from 'node:path';
import { encodedOutput, encodingFor } from '../../../src/audio/encode/encoded-output.ts';
import { extensionOf, foreignOutput, formatOfPath } from '../../../src/audio/formats.ts';
import type { FileFormat } from '../../../src/contract/values.ts';
import { FILE_FORMATS } from '../../../src/contract/values.ts';
import { outputFailure } from '../../../src/durable/file-failures.ts';
import { downloadName, segmentName } from '../../../src/durable/names.ts';
import type { Existing, Output } from '../../../src/durable/output.ts';
import { openOutput } from '../../../src/durable/publish.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { ResultDestination, OpenDestination } from '../../../src/paid/job.ts';
import { sweepTemporaries } from '../../../src/paid/sweep-temporaries.ts';
import { display } from '../../../src/text/display.ts';
import type { Context } from '../../../src/cli/command.ts';
import { checkOutputFlag } from '../../../src/cli/flags/values.ts';
import { stdoutAudio } from '../stdout-audio.ts';

/** An output of a job (a file or stdout), opened before its content is available. */
export interface OpenPlace {
  readonly placeFor: OpenDestination;
  /** The open file; undefined if the output is stdout. */
  readonly file: Output | undefined;
  /**
   * foley prints a command that resumes the job. Returns the output path in that command. The extension of the path
   * matches the format of the result.
   */
  readonly nextName?: () => string;
  /** Deletes the temporary file of the output. Does nothing if the result was saved. */
  abandon(): Promise<void>;
}

/** Returns an output that writes to stdout. @throws Failure of kind `output` if stdout is closed */
export function stdoutPlace({ io }: Context, encoding?: FileFormat): ResultDestination {
  io.requireStdout();
  return { stream: stdoutAudio(io, encoding) };
}

interface PlaceOptions {
  /** Noun that messages use for the thing whose content is saved, such as `candidate`; default `job`. */
  readonly what?: string;
  /** What the output contains, as a noun for messages; default `audio`. */
  readonly holds?: string;
  /** What to do if the file exists; default `replace`. */
  readonly existing?: Existing;
}

/**
 * Opens the output of a job: stdout (`-`) or a file. Called before waiting for the job, so that errors appear at once.
 * @throws Failure of kind `usage`, `output` or `exists`
 */
export async function namedPlace(
  context: Context,
  output: string,
  { existing = 'replace', holds = 'audio', what: jobOrCandidate = 'job' }: PlaceOptions = {},
): Promise<OpenPlace> {
  checkOutputFlag(output, context.globals.json === true, holds);
  if (output === '-') {
    const place = stdoutPlace(context);
    return { file: undefined, placeFor: () => Promise.resolve(place), abandon: async () => {} };
  }
  const foreign = holds === 'audio' ? foreignOutput('--output', output, FILE_FORMATS) : undefined;
  if (foreign !== undefined) throw foreign;
  const options = { path: output, existing, signal: context.signal };
  const file = await openOutput(context.system, options);
  const { state } = await context.paths();
  await sweepTemporaries(context.system, path.dirname(output), state);
  const extensionFormat = formatOfPath(output);
  return {
    file,
    placeFor: async ({ id }, format) => {
      if (extensionFormat === undefined || extensionFormat === format) return { output: file };
      const encoding = encodingFor(output, format);
      if (encoding !== undefined) {
        return { output: await encodedOutput(context.system, file, encoding, options) };
      }
      throw usageFailure(
        `--output has the extension of ${extensionFormat}, but ${jobOrCandidate} ${display(id)} is ${format}`,
        `Use the extension .${extensionOf(format)}, and convert the file afterwards.`,
      );
    },
    abandon: () => file.abandon(),
  };
}

/** Returns a function that opens a file in the current folder, named after the job and its segment. */
export function automaticPlace(context: Context, segment?: number): OpenDestination {
  return placeIn(context, '', segment);
}

interface FolderWords {
  readonly flag: string;
  /** Subject of an error message: `several jobs` gives the message "several jobs require a folder". */
  readonly results: string;
  readonly hint: string;
}

/** Texts for messages about `--output-dir`, the folder for voice previews. */
export const PREVIEW_FOLDER: FolderWords = {
  flag: '--output-dir',
  results: 'previews',
  hint: 'Name a folder, or leave --output-dir out.',
};

const FOLDER_OF_JOBS: FolderWords = {
  flag: '--output',
  results: 'several jobs',
  hint: 'Name a folder, or wait for one job at a time.',
};

/**
 * Creates the folder for the results of several jobs, if missing. Returns a function that opens a file in the folder
 * for each result.
 * @throws Failure: `usage` if the path is not a folder, `output` if the folder cannot be written
 */
export async function folderPlace(
  context: Context,
  folder: string,
  { flag, hint, results } = FOLDER_OF_JOBS,
): Promise<OpenDestination> {
  const { files } = context.system;
  if (folder === '' || folder === '-') {
    throw usageFailure(`${flag} is "${folder}", but ${results} require a folder`, hint);
  }
  try {
    await files.mkdir(folder, { recursive: true });
    await files.access(folder, constants.W_OK);
  } catch (error) {
    const isFile = await files.stat(folder).then(
      (stats) => !stats.isDirectory(),
      () => false,
    );
    if (!isFile) throw outputFailure(path.join(folder, 'speech.mp3'), error, 'opening');
    throw usageFailure(
      `${flag} is ${display(folder)}, which is a file, but ${results} require a folder`,
      hint,
    );
  }
  return placeIn(context, folder, undefined);
}

function placeIn(context: Context, folder: string, segment: number | undefined): OpenDestination {
  return async ({ id }, format) => {
    const extension = extensionOf(format);
    const name =
      segment === undefined ? downloadName(id, extension) : segmentName(id, segment, extension);
    const file = path.join(folder, name);
    return {
      output: await openOutput(context.system, {
        signal: context.signal,
        path: file,
        existing: 'reuse',
      }),
    };
  };
}
