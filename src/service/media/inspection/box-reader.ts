import type { FileHandle } from 'node:fs/promises';
import { MediaTaskError } from '../child/media-task-error.ts';

/** A box of the MP4 family of formats (ISO/IEC 14496-12). */
export interface Box {
  readonly type: string;
  /** Where its content is, in bytes from the beginning of what it is in. */
  readonly start: number;
  readonly end: number;
}

const HEADER = 8;
const LARGE_HEADER = 16;

/**
 * The boxes in a stretch of bytes, one after the other.
 * @throws MediaTaskError where they do not fill it exactly
 */
export function boxesIn(bytes: Buffer, start: number, end: number): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = start; at < end;) {
    // QuickTime may end a list with four zero bytes.
    if (end - at === 4 && bytes.readUInt32BE(at) === 0) break;
    if (end - at < HEADER) throw broken('a box is cut');
    const large = bytes.readUInt32BE(at) === 1 && end - at >= LARGE_HEADER;
    const size = sizeOf(bytes.subarray(at, at + (large ? LARGE_HEADER : HEADER)), end - at);
    boxes.push({
      type: typeOf(bytes, at),
      start: at + (large ? LARGE_HEADER : HEADER),
      end: at + size,
    });
    at += size;
  }
  return boxes;
}

/** The boxes of a whole file, of which only the headers are read. @throws MediaTaskError likewise */
export async function boxesOf(file: FileHandle, size: number): Promise<readonly Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at < size;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LARGE_HEADER), 0, LARGE_HEADER, at);
    if (bytesRead < HEADER) throw broken('a box is cut');
    const large = buffer.readUInt32BE(0) === 1 && bytesRead === LARGE_HEADER;
    const length = sizeOf(buffer.subarray(0, large ? LARGE_HEADER : HEADER), size - at);
    const start = at + (large ? LARGE_HEADER : HEADER);
    boxes.push({ type: typeOf(buffer, 0), start, end: at + length });
    at += length;
  }
  return boxes;
}

/** A file that is not what it has to be. */
export function broken(what: string): MediaTaskError {
  return new MediaTaskError('unreadable', `is damaged: ${what}`);
}

function typeOf(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at + 4, at + 8);
}

/** The whole size of a box by its header; 0 is up to the end. */
function sizeOf(header: Buffer, room: number): number {
  const short = header.readUInt32BE(0);
  if (short === 0) return room;
  const size = header.length === LARGE_HEADER ? Number(header.readBigUInt64BE(8)) : short;
  if (size < header.length || size > room) throw broken('a box does not fit where it is');
  return size;
}
