import type { Readable } from 'node:stream';
import { errnoOf, reasonOf } from '../durable/file-failures.ts';
import { abortable } from '../effects/concurrency.ts';
import { usageFailure } from '../errors/failure.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import type { Context } from './command.ts';
import { checkApiKey } from '../api/request.ts';
import type { FileSystem } from '../effects/file-system.ts';

/** What is read is kept in memory, so that it can be sent more than once. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/**
 * The bytes of a file; `-` is stdin.
 * @param shown the flag that names it and how, for messages
 * @throws Failure (usage) when it cannot be read or is too large, or the reason of the signal
 */
export async function readInput(context: Context, path: string, shown: string): Promise<Buffer> {
  const { signal } = context;
  try {
    signal.throwIfAborted();
    // Opening a pipe waits for a writer and cannot be cancelled.
    const stream = await abortable(openInput(context, path), signal, (late) => late.destroy());
    const problem = `${shown} is larger than ${LARGEST_BYTES / 1024 / 1024} MiB`;
    return await collect(stream, { maximum: LARGEST_BYTES, problem }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (errnoOf(error) === 'ENOENT') throw usageFailure(`${shown}: no such file`);
    if (!(error instanceof Error) || errnoOf(error)?.startsWith('E') !== true) throw error;
    throw usageFailure(`${shown} cannot be read: ${reasonOf(error, path)}`);
  }
}

/** The same as text. Throws as above, also for what is not UTF-8. */
export async function readTextInput(
  context: Context,
  path: string,
  shown: string,
): Promise<string> {
  const bytes = await readInput(context, path, shown);
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof TextEncodingError)) throw error;
    throw usageFailure(`${shown} is ${error.message}`, 'Bytes are sent with --body.');
  }
}

async function openInput({ files, io }: Context, path: string): Promise<Readable> {
  return path === '-' ? io.stdin() : (await files.open(path, 'r')).createReadStream();
}

/** No key is as large. */
const LARGEST_KEY_BYTES = 64 * 1024;

/**
 * The key in the file that `--api-key-file` names (`-` is stdin), one trailing line end dropped.
 * @throws Failure: usage when it cannot be read, auth when it holds no key; or the signal's reason
 */
export async function readKeyFile(
  file: string,
  from: {
    readonly files: Pick<FileSystem, 'open'>;
    readonly stdin: () => Readable;
    readonly signal?: AbortSignal;
  },
): Promise<string> {
  const name = `--api-key-file ${file}`;
  try {
    const stream =
      file === '-' ? from.stdin() : (await from.files.open(file, 'r')).createReadStream();
    const limit = { maximum: LARGEST_KEY_BYTES, problem: `${name} is too large to be an API key` };
    return checkApiKey((await collect(stream, limit, from.signal)).toString('utf8'), name);
  } catch (error) {
    from.signal?.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw error;
    throw usageFailure(`${name} cannot be read (${code})`, 'Check the path and its permissions.');
  }
}

/** @throws Failure (usage) for more than `maximum` bytes, saying that it `problem` */
async function collect(
  stream: Readable,
  { maximum, problem }: { readonly maximum: number; readonly problem: string },
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  signal?.throwIfAborted();
  const stop = (): void => void stream.destroy(new Error('stopped'));
  signal?.addEventListener('abort', stop, { once: true });
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
    signal?.removeEventListener('abort', stop);
  }
}
