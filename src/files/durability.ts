import type { FileHandle } from 'node:fs/promises';
import type { FileSystem } from '../effects/file-system.ts';
import { UNSUPPORTED, hasErrno } from './errno.ts';

/** Brings a file's bytes to the disk. Where a file system cannot be told to, there is nothing to do. */
export async function syncFile(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!hasErrno(error, ...UNSUPPORTED)) throw error;
  }
}

/**
 * Brings a folder's names to the disk, so that a file which was renamed or made there survives a
 * power cut. Only a disk that fails is an error: some systems do not open or sync folders at all.
 */
export async function syncFolder(files: FileSystem, folder: string): Promise<void> {
  try {
    const handle = await files.open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasErrno(error, 'EIO', 'ENOSPC', 'EDQUOT')) throw error;
  }
}
