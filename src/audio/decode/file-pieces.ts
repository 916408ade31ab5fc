import { readSync } from 'node:fs';

/** A file as a thread that listens to it gets it: open already, and without a name. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

/** The file piece by piece, in a buffer that the next piece is read into too. */
export function* filePieces(
  { fd, size }: OpenFile,
  pieceBytes: number,
  start = 0,
): Generator<Uint8Array, undefined> {
  const buffer = new Uint8Array(pieceBytes);
  for (let position = start; position < size;) {
    const bytes = readSync(fd, buffer, 0, Math.min(pieceBytes, size - position), position);
    if (bytes === 0) return;
    position += bytes;
    yield buffer.subarray(0, bytes);
  }
}

/** The first bytes of a file, as many as there are. */
export function fileHead(file: OpenFile, bytes: number): Uint8Array {
  const [head = new Uint8Array(0)] = filePieces(file, bytes);
  return head;
}
