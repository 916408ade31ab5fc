import path from 'node:path';
import type { Readable } from 'node:stream';
import type { OpenFile } from '../audio/sound.ts';
import { errnoOf, reasonOf } from '../durable/file-failures.ts';
import { findRegularFile } from '../durable/regular-file.ts';
import { abortable } from '../system/concurrency.ts';
import { usageFailure } from '../errors/failure.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import type { Context } from './command.ts';
import type { Io } from './io.ts';
import { checkApiKey } from '../api/request.ts';

// An input is kept in memory for retries.
const LARGEST_BYTES = 64 * 1024 * 1024;
const LARGEST_KEY_BYTES = 64 * 1024;

type InputContext = Pick<Context, 'system' | 'signal'> & { readonly io: Pick<Io, 'stdin'> };

/**
 * Reads a file, or stdin if the file name is `-`. On abort, throws the signal's abort reason.
 * @param shown the flag and its value, for messages
 * @throws Failure of kind `usage` if the file cannot be read or is too large
 */
export async function readInput(
  { system: { files }, io, signal }: InputContext,
  file: string,
  shown: string,
  maximum = LARGEST_BYTES,
): Promise<Buffer> {
  try {
    signal.throwIfAborted();
    const open = async (): Promise<Readable> =>
      file === '-' ? io.stdin() : (await files.open(file, 'r')).createReadStream();
    // Opening a pipe waits for a writer and cannot be cancelled.
    const stream = await abortable(open(), signal, (late) => late.destroy());
    const limit = maximum === LARGEST_BYTES ? '64 MiB' : `${maximum / 1024} KiB`;
    const problem = `${shown} is larger than ${limit}`;
    return await collect(stream, { maximum, problem }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (errnoOf(error) === 'ENOENT') throw usageFailure(`${shown}: no such file`);
    if (!(error instanceof Error) || errnoOf(error)?.startsWith('E') !== true) throw error;
    throw usageFailure(`${shown} cannot be read: ${reasonOf(error, file)}`);
  }
}

/**
 * Reads a file as UTF-8 text. Throws the same errors as {@link readInput}.
 * @throws Failure of kind `usage` with the hint `encodingHint` if the file is not UTF-8
 */
export async function readTextInput(
  context: Context,
  file: string,
  shown: string,
  encodingHint = 'Bytes are sent with --body.',
): Promise<string> {
  const bytes = await readInput(context, file, shown);
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof TextEncodingError)) throw error;
    const { message: encodingProblem } = error;
    throw usageFailure(`${shown} is ${encodingProblem}`, encodingHint);
  }
}

/**
 * Reads the API key from the file of `--api-key-file` (`-` is stdin), without a trailing line end. On abort, throws the
 * signal's abort reason.
 * @throws Failure: `usage` if the file cannot be read, `auth` if the file contains no valid key
 */
export async function readKeyFile(file: string, context: InputContext): Promise<string> {
  const name = `--api-key-file ${file}`;
  return checkApiKey(
    (await readInput(context, file, name, LARGEST_KEY_BYTES)).toString('utf8'),
    name,
  );
}

/**
 * Opens an audio file, calls `work` and closes the file.
 * @throws Failure of kind `usage` if the file cannot be read, or if `work` throws an UnusableAudioError
 */
export async function useAudioFile<Result>(
  given: string,
  { cwd, system: { files } }: Context,
  work: (file: OpenFile) => Promise<Result>,
): Promise<Result> {
  const file = path.resolve(cwd(), given);
  const found = await findRegularFile(file, given, files);
  if (found === undefined) throw usageFailure(`${given} is not a regular file`);
  const { UnusableAudioError } = await import('../audio/sound.ts');
  const handle = await files.open(file, 'r');
  try {
    return await work({ fd: handle.fd, size: found.byteLength });
  } catch (error) {
    if (!(error instanceof UnusableAudioError)) throw error;
    const { message: audioProblem } = error;
    throw usageFailure(`${given} ${audioProblem}`);
  } finally {
    await handle.close();
  }
}

async function collect(
  stream: Readable,
  { maximum, problem }: { readonly maximum: number; readonly problem: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const stop = (): void => void stream.destroy(new Error('stopped'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream) {
      const part: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > maximum) throw usageFailure(problem);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
