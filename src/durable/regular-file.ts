import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { errnoOf, reasonOf } from './file-failures.ts';

/** A regular file, which can be read repeatedly, unlike a pipe. */
export interface RegularFile {
  /** The size in bytes when the file was checked. */
  readonly byteLength: number;
  /** Reads the content. @throws Failure of kind `usage` if the file cannot be read */
  open(): AsyncIterable<Uint8Array>;
}

/**
 * Checks that a file can be opened for reading. Returns undefined for a pipe or a device.
 * @param shown the argument or flag that names the file, for messages
 * @throws Failure of kind `usage` for a folder, and for a missing or unreadable file
 */
export async function findRegularFile(
  file: string,
  shown: string,
  files: FileSystem,
): Promise<RegularFile | undefined> {
  try {
    const stats = await files.stat(file);
    if (stats.isDirectory()) throw usageFailure(`${shown} is a folder`);
    if (!stats.isFile()) return undefined;
    // Open the file now, so that an unreadable file fails before anything is sent.
    const handle = await files.open(file, 'r');
    await handle.close();
    return { byteLength: stats.size, open: () => contentOf(file, shown, files) };
  } catch (error) {
    throw unreadable(error, file, shown);
  }
}

async function* contentOf(
  file: string,
  shown: string,
  files: FileSystem,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const handle = await files.open(file, 'r');
    for await (const chunk of handle.createReadStream()) {
      const bytes: Uint8Array = chunk;
      yield bytes;
    }
  } catch (error) {
    throw unreadable(error, file, shown);
  }
}

function unreadable(error: unknown, file: string, shown: string): unknown {
  const errno = errnoOf(error);
  if (errno === 'ENOENT') return usageFailure(`${shown}: no such file`);
  if (errno?.startsWith('E') !== true) return error;
  const reason = errno === 'EACCES' ? 'permission is denied' : reasonOf(error, path.dirname(file));
  return usageFailure(`${shown} cannot be read: ${reason}`);
}
