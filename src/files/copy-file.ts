import type { FileHandle } from 'node:fs/promises';
import { syncFile } from './durability.ts';
import type { FileDeps } from './file-deps.ts';
import { writeAll } from './file-writer.ts';

/**
 * Copies a file under a name that is free, 0600, and brings it to the disk; returns the copy, open at
 * its end. Throws the system's error, and then the copy is closed but may be there in part.
 */
export async function copyIntoNew(
  from: string,
  to: string,
  { files }: Pick<FileDeps, 'files'>,
): Promise<FileHandle> {
  const source = await files.open(from, 'r');
  try {
    const copy = await files.open(to, 'wx', 0o600);
    try {
      await copyBytes(source, copy);
      await syncFile(copy);
      return copy;
    } catch (error) {
      await copy.close();
      throw error;
    }
  } finally {
    await source.close();
  }
}

async function copyBytes(source: FileHandle, copy: FileHandle): Promise<void> {
  const buffer = Buffer.alloc(262_144);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return;
    await writeAll(copy, buffer.subarray(0, bytesRead));
  }
}
