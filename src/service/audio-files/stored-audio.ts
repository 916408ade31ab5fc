import type { FileHandle } from 'node:fs/promises';
import type { FileSystem } from '../../effects/file-system.ts';
import { hasErrno } from '../../files/errno.ts';

/** A file that was published; it is opened when it is read, so that one nobody reads stays closed. */
export interface StoredAudio {
  /** Its size in bytes. */
  readonly size: number;
  /** Reads it once, piece by piece. */
  read(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

const PIECE_BYTES = 64 * 1024;

/** The file at this path, or `undefined` when there is none. Throws the system's error. */
export async function openStoredAudio(
  path: string,
  files: FileSystem,
): Promise<StoredAudio | undefined> {
  try {
    const { size } = await files.stat(path);
    return { size, read: () => readPieces(path, size, files) };
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function* readPieces(
  path: string,
  size: number,
  files: FileSystem,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await files.open(path, 'r');
  try {
    for (let left = size; left > 0;) {
      const piece = await readPiece(file, Math.min(left, PIECE_BYTES));
      left -= piece.length;
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length);
  if (bytesRead === 0) throw new Error('a stored file became shorter while it was read');
  return buffer.subarray(0, bytesRead);
}
