import { constants } from 'node:fs';
import path from 'node:path';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { errnoOf, reasonOf, UnsafeFile } from './file-failures.ts';

/** A regular file, which can be read repeatedly, unlike a pipe. */
export interface RegularFile {
  /** The size in bytes when the file was checked. */
  readonly byteLength: number;
  /** Reads the content. @throws Failure of kind `usage` if the file cannot be read */
  open(): AsyncIterable<Uint8Array>;
}

/**
 * Opens a regular file for reading. Never waits: opening a pipe would wait for its other end.
 * @throws UnsafeFile for a pipe, a device or a folder; otherwise the system error
 */
export async function openRegularFile(file: string, files: FileSystem): Promise<FileHandle> {
  // Windows lacks the constant.
  const handle = await files.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if ((await handle.stat()).isFile()) return handle;
    throw new UnsafeFile('it is not a regular file');
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Reads a regular file, with the checks of {@link openRegularFile}. */
export async function readRegularFile(file: string, files: FileSystem): Promise<Buffer> {
  const handle = await openRegularFile(file, files);
  try {
    const parts: Uint8Array[] = [];
    for await (const part of handle.createReadStream({ autoClose: false })) parts.push(part);
    return Buffer.concat(parts);
  } finally {
    await handle.close();
  }
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
