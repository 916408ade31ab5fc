import type { Readable } from 'node:stream';
import { errnoOf, reasonOf } from '../durable/file-failures.ts';
import { untilStopped } from '../effects/concurrency.ts';
import { usageFailure } from '../errors/failure.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import type { Context } from './command.ts';

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
    // A pipe opens when somebody is at its other end, and that cannot be called off.
    const stream = await untilStopped(openInput(context, path), signal, (late) => late.destroy());
    return await collect(stream, shown, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (errnoOf(error) === 'ENOENT') throw usageFailure(`${shown}: there is no such file`);
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

async function collect(stream: Readable, shown: string, signal: AbortSignal): Promise<Buffer> {
  const stop = (): void => void stream.destroy(new Error('stopped'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream) {
      const part: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += part.length;
      if (size > LARGEST_BYTES) {
        throw usageFailure(`${shown} is larger than ${LARGEST_BYTES / 1024 / 1024} MiB`);
      }
      parts.push(part);
    }
    return Buffer.concat(parts);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
