import type { FileHandle } from 'node:fs/promises';
import type { FileSystem } from '../../effects/file-system.ts';
import { hasErrno } from '../../files/errno.ts';

/** A file that was published; it is opened when it is read, so that one nobody reads stays closed. */
export interface StoredAudio {
  /** Its size in bytes. */
  readonly size: number;
  /** Changes with its bytes: published files are only ever replaced as a whole. */
  readonly version: string;
  /**
   * Reads it once, piece by piece.
   * @param start first byte, default 0
   * @param end byte after the last, default its size
   */
  read(start?: number, end?: number): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

const PIECE_BYTES = 64 * 1024;

/** The file at this path, or `undefined` when there is none. Throws the system's error. */
export async function openStoredAudio(
  path: string,
  files: FileSystem,
): Promise<StoredAudio | undefined> {
  try {
    const { mtimeMs, size } = await files.stat(path);
    return {
      size,
      version: `${size.toString(16)}-${mtimeMs.toString(16)}`,
      read: (start = 0, end = size) => readPieces(path, { start, end }, files),
    };
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function* readPieces(
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
  files: FileSystem,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await files.open(path, 'r');
  try {
    for (let at = start; at < end;) {
      const piece = await readPiece(file, at, Math.min(end - at, PIECE_BYTES));
      at += piece.length;
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, position);
  if (bytesRead === 0) throw new Error('a stored file became shorter while it was read');
  return buffer.subarray(0, bytesRead);
}
