import path from 'node:path';
import type { FormPart } from '../../src/api/multipart.ts';
import type { Context } from '../../src/cli/context.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { errnoOf } from '../../src/files/errno.ts';
import { reasonOf } from '../../src/files/errno-reasons.ts';

const BYTES = 'application/octet-stream';

/**
 * A file as a part of a form. A regular file is read while it is sent; stdin and pipes, which can
 * be read only once, are read now.
 * @throws Failure (usage) when it cannot be read
 */
export async function filePart(
  context: Context,
  name: string,
  file: string,
  shown: string,
): Promise<FormPart> {
  const size = file === '-' ? undefined : await sizeOfFile(context, file, shown);
  const filename = file === '-' ? 'stdin' : path.basename(file);
  const common = { name, filename, contentType: BYTES };
  if (size !== undefined) {
    return { ...common, byteLength: size, open: () => contentOf(context, file, shown) };
  }
  const bytes = await readInput(context, file, shown);
  return { ...common, byteLength: bytes.length, open: () => once(bytes) };
}

/** Its size when it is a regular file that can be opened; `undefined` for a pipe or a device. */
async function sizeOfFile(
  { files }: Context,
  file: string,
  shown: string,
): Promise<number | undefined> {
  try {
    const stats = await files.stat(file);
    if (stats.isDirectory()) throw usageFailure(`${shown} is a folder`);
    if (!stats.isFile()) return undefined;
    // Tried now, before anything is sent.
    const handle = await files.open(file, 'r');
    await handle.close();
    return stats.size;
  } catch (error) {
    throw unreadable(error, file, shown);
  }
}

async function* contentOf(
  { files }: Context,
  file: string,
  shown: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const handle = await files.open(file, 'r');
    for await (const chunk of handle.createReadStream()) yield Buffer.from(chunk);
  } catch (error) {
    throw unreadable(error, file, shown);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  await Promise.resolve();
  yield bytes;
}

function unreadable(error: unknown, file: string, shown: string): unknown {
  if (errnoOf(error) === 'ENOENT') return usageFailure(`${shown}: there is no such file`);
  if (errnoOf(error)?.startsWith('E') !== true) return error;
  return usageFailure(`${shown} cannot be read: ${reasonOf(error, file)}`);
}
