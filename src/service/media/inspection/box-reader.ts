import { MediaTaskError } from '../child/media-task-error.ts';

/** A box of the MP4 family of formats (ISO/IEC 14496-12). */
export interface Box {
  readonly type: string;
  /** Where its content is, in bytes from the beginning of what it is in. */
  readonly start: number;
  readonly end: number;
}

/** A file that is open. */
export interface ReadableFile {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

const HEADER = 8;
const LARGE_HEADER = 16;
const BLOCK_BYTES = 64 * 1024;
/** Fragments for every picture of half an hour at 25 a second. */
const MOST_BOXES_OF_FILE = 100_000;
/** Tracks and tables: a real list has tens of them. */
const MOST_BOXES_OF_LIST = 10_000;

/**
 * The boxes in a stretch of bytes, one after the other.
 * @throws MediaTaskError where they do not fill it exactly, or are too many
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
    if (boxes.length > MOST_BOXES_OF_LIST) throw tooMany();
    at += size;
  }
  return boxes;
}

/**
 * The boxes of a whole file, of which only the blocks with their headers are read.
 * @throws MediaTaskError likewise
 */
export async function boxesOf(file: ReadableFile, size: number): Promise<readonly Box[]> {
  const boxes: Box[] = [];
  const space = Buffer.alloc(BLOCK_BYTES);
  let block = space.subarray(0, 0);
  let blockStart = 0;
  for (let at = 0; at < size;) {
    const isInside = at >= blockStart && at + LARGE_HEADER <= blockStart + block.length;
    if (!isInside) {
      const { bytesRead } = await file.read(space, 0, BLOCK_BYTES, at);
      block = space.subarray(0, bytesRead);
      blockStart = at;
    }
    const header = block.subarray(at - blockStart, at - blockStart + LARGE_HEADER);
    if (header.length < HEADER) throw broken('a box is cut');
    const large = header.readUInt32BE(0) === 1 && header.length === LARGE_HEADER;
    const length = sizeOf(header.subarray(0, large ? LARGE_HEADER : HEADER), size - at);
    const start = at + (large ? LARGE_HEADER : HEADER);
    boxes.push({ type: typeOf(header, 0), start, end: at + length });
    if (boxes.length > MOST_BOXES_OF_FILE) throw tooMany();
    at += length;
  }
  return boxes;
}

function tooMany(): MediaTaskError {
  return broken('it has more boxes than any video');
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
