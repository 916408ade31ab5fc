import { readSync } from 'node:fs';
import type { OpenFile } from './sound.ts';
import { UnusableAudioError } from './sound.ts';

interface Space {
  readonly start: number;
  readonly end: number;
}

interface BoxPosition extends Space {
  readonly type: string;
}

// Returns fewer bytes at the end of the file. The next call overwrites the buffer.
type ReadBytes = (position: number, length: number) => Buffer;

// Maximum size of a `moov` or `moof` box; half an hour of media needs less.
const LARGEST_INDEX_BYTES = 64 * 1024 * 1024;
// Half an hour of video at 25 frames a second needs 90,000 boxes (two per frame).
const MOST_BOXES_OF_FILE = 100_000;
// Real files have a few dozen boxes directly inside another box.
const MOST_BOXES_OF_LIST = 10_000;
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'styp', 'pnot']);

/**
 * Checks the boxes of an MP4 file before a demuxer parses the file. Files in other formats are not checked. The demuxer
 * trusts the counts in a file: a file of 1 MB that declares four billion samples would keep it busy for minutes.
 * @throws UnusableAudioError when boxes or tables are truncated, missing or contradictory
 */
export function checkBoxes({ fd, size }: OpenFile): void {
  const read = blockReader((block, at) => readSync(fd, block, 0, block.length, at));
  if (!FIRST_BOXES.has(read(0, HEADER).toString('latin1', 4))) return;
  const boxes = readBoxes(read, { start: 0, end: size }, MOST_BOXES_OF_FILE);
  const index = boxes.find(({ type }) => type === 'moov');
  if (index === undefined) throw damaged('its index is missing');
  checkMovie(read, index, size);
  for (const box of boxes) if (box.type === 'moof') checkFragment(read, box, size);
}

const BLOCK_BYTES = 64 * 1024;

/**
 * Returns a function that reads parts of a file. The function reads large blocks into a buffer, because MP4 boxes are
 * small.
 * @param fill reads from a file position into a block, and returns the number of bytes read
 */
export function blockReader(fill: (block: Buffer, position: number) => number): ReadBytes {
  const space = Buffer.alloc(BLOCK_BYTES);
  let block = space.subarray(0, 0);
  let blockStart = 0;
  return (position, length) => {
    if (position < blockStart || position + length > blockStart + block.length) {
      const wanted = length > BLOCK_BYTES ? Buffer.alloc(length) : space;
      block = wanted.subarray(0, fill(wanted, position));
      blockStart = position;
    }
    return block.subarray(position - blockStart, position - blockStart + length);
  };
}

const HEADER = 8;
const LARGE_HEADER = 16;

/**
 * Returns the MP4 boxes between two file positions.
 * @throws UnusableAudioError when the boxes do not fill the space exactly, or when there are more than `most` boxes
 */
export function readBoxes(
  read: ReadBytes,
  { start, end }: Space,
  most = MOST_BOXES_OF_LIST,
): readonly BoxPosition[] {
  const boxes: BoxPosition[] = [];
  for (let at = start; at < end;) {
    const header = read(at, Math.min(LARGE_HEADER, end - at));
    // QuickTime may end a list with four zero bytes.
    if (header.length === 4 && header.readUInt32BE(0) === 0) break;
    if (header.length < HEADER) throw damaged('a box is truncated');
    const short = header.readUInt32BE(0);
    const isLarge = short === 1 && header.length === LARGE_HEADER;
    const headerBytes = isLarge ? LARGE_HEADER : HEADER;
    const size = isLarge ? Number(header.readBigUInt64BE(8)) : short === 0 ? end - at : short;
    if (size < headerBytes || size > end - at) throw damaged('a box does not fit into its parent');
    const type = header.toString('latin1', 4, 8);
    boxes.push({ type, start: at + headerBytes, end: at + size });
    if (boxes.length > most) throw damaged('it has too many boxes');
    at += size;
  }
  return boxes;
}

function checkMovie(read: ReadBytes, movie: BoxPosition, fileBytes: number): void {
  requireSize(movie);
  const boxes = readBoxes(read, movie);
  requireTimescale(read, only(boxes, 'mvhd'));
  const tracks = boxes.filter(({ type }) => type === 'trak');
  if (tracks.length === 0) throw damaged('it has no track');
  for (const track of tracks) {
    const parts = readBoxes(read, track);
    const edits = parts.find(({ type }) => type === 'edts');
    for (const box of edits === undefined ? [] : readBoxes(read, edits)) {
      if (box.type === 'elst') readTable(read, box, read(box.start, 1)[0] === 1 ? 20 : 12);
    }
    const media = readBoxes(read, only(parts, 'mdia'));
    requireTimescale(read, only(media, 'mdhd'));
    const table = only(readBoxes(read, only(media, 'minf')), 'stbl');
    checkSampleTable(read, readBoxes(read, table), fileBytes);
  }
}

function requireSize({ start, end }: BoxPosition): void {
  if (end - start > LARGEST_INDEX_BYTES) throw damaged('its index is too large');
}

// The timescale follows two times of four bytes each in version 0, and of eight bytes each in version 1.
function requireTimescale(read: ReadBytes, { start, end }: BoxPosition): void {
  const at = start + (read(start, 1)[0] === 1 ? 20 : 12);
  if (at + 4 > end || read(at, 4).readUInt32BE(0) === 0) throw damaged('it has no timescale');
}

function only(boxes: readonly BoxPosition[], type: string): BoxPosition {
  const [box, second] = boxes.filter((one) => one.type === type);
  if (box === undefined || second !== undefined) throw damaged(`it does not have one ${type}`);
  return box;
}

// Version, flags and the number of entries precede the entries of a table.
const TABLE_HEAD = 8;

function readTable(
  read: ReadBytes,
  { type, start, end }: BoxPosition,
  entryBytes: number,
  headBytes = TABLE_HEAD,
): Buffer {
  const bytes = read(start, end - start);
  const count = bytes.length < headBytes ? Infinity : bytes.readUInt32BE(headBytes - 4);
  if (headBytes + count * entryBytes > bytes.length) throw damaged(`${type} is truncated`);
  return bytes.subarray(headBytes, headBytes + count * entryBytes);
}

const ENTRY_BYTES = { stts: 8, ctts: 8, stsc: 12, stss: 4, stco: 4, co64: 8 } as const;

function checkSampleTable(read: ReadBytes, boxes: readonly BoxPosition[], fileBytes: number): void {
  const find = (type: string): BoxPosition | undefined => boxes.find((box) => box.type === type);
  const entriesOf = (type: keyof typeof ENTRY_BYTES): Buffer | undefined => {
    const box = find(type);
    return box === undefined ? undefined : readTable(read, box, ENTRY_BYTES[type]);
  };
  const sizes = find('stsz') ?? find('stz2');
  const samples = sizes === undefined ? undefined : countSamples(read, sizes, fileBytes);
  for (const type of ['stts', 'ctts'] as const) {
    const runs = entriesOf(type);
    if (runs === undefined || samples === undefined) continue;
    let sum = 0;
    for (let at = 0; at < runs.length; at += 8) sum += runs.readUInt32BE(at);
    if (sum !== samples) throw damaged(`${type} has a different number of samples`);
  }
  entriesOf('stss');
  const hasRuns = find('stts') !== undefined && entriesOf('stsc') !== undefined;
  const isLong = find('stco') === undefined;
  const offsets = entriesOf(isLong ? 'co64' : 'stco');
  if (samples === undefined || offsets === undefined || !hasRuns) {
    throw damaged('a table of samples is missing');
  }
  for (let at = 0; at < offsets.length; at += isLong ? 8 : 4) {
    const offset = isLong ? Number(offsets.readBigUInt64BE(at)) : offsets.readUInt32BE(at);
    if (offset >= fileBytes) throw damaged('its samples are beyond the end of the file');
  }
}

// Some encoders state one size for all samples, and then the table has no entries.
function countSamples(read: ReadBytes, box: BoxPosition, fileBytes: number): number {
  const head = Buffer.from(read(box.start, TABLE_HEAD + 4));
  if (head.length < TABLE_HEAD + 4 || box.end - box.start < head.length) {
    throw damaged(`${box.type} is truncated`);
  }
  const count = head.readUInt32BE(TABLE_HEAD);
  if (box.type === 'stz2') {
    readTable(read, box, head.readUInt8(7) / 8, TABLE_HEAD + 4);
    return count;
  }
  let bytes = head.readUInt32BE(4) * count;
  if (bytes === 0) {
    const sizes = readTable(read, box, 4, TABLE_HEAD + 4);
    for (let at = 0; at < sizes.length; at += 4) bytes += sizes.readUInt32BE(at);
  }
  if (bytes > fileBytes) throw damaged('it is smaller than the samples in its index');
  return count;
}

// Flags of the optional fields of a `trun` box, four bytes each.
const RUN_FIELDS = [0x1, 0x4];
// Flags of the optional fields of each sample in a `trun` box, four bytes each.
const SAMPLE_FIELDS = [0x100, 0x200, 0x400, 0x800];

function checkFragment(read: ReadBytes, fragment: BoxPosition, fileBytes: number): void {
  requireSize(fragment);
  for (const track of readBoxes(read, fragment)) {
    if (track.type !== 'traf') continue;
    for (const { type, start, end } of readBoxes(read, track)) {
      if (type !== 'trun') continue;
      if (end - start < TABLE_HEAD) throw damaged('a run of samples is truncated');
      const head = read(start, TABLE_HEAD);
      const [flags, count] = [head.readUInt32BE(0), head.readUInt32BE(4)];
      const bytesOf = (fields: readonly number[]): number =>
        fields.filter((field) => (flags & field) !== 0).length * 4;
      const bytes = TABLE_HEAD + bytesOf(RUN_FIELDS) + count * bytesOf(SAMPLE_FIELDS);
      if (count > fileBytes || bytes > end - start) throw damaged('a run of samples is truncated');
    }
  }
}

function damaged(what: string): UnusableAudioError {
  return new UnusableAudioError(`is damaged: ${what}`);
}
