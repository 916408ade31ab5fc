import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { MediaTaskError } from '../child/messages.ts';

/** More than an index of half an hour of anything needs. */
const LARGEST_INDEX_BYTES = 64 * 1024 * 1024;

/**
 * Looks at the structure of a file of the MP4 family before a demuxer does, which would believe every
 * number in it: a count of four thousand million samples in a file of a megabyte keeps one busy for good.
 * Files of other formats pass.
 * @throws MediaTaskError for what is cut, does not fit together or has no index
 */
export async function checkBoxes(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (!(await isMp4(file))) return;
    const boxes = await boxesOf(file, size);
    const index = boxes.find(({ type }) => type === 'moov');
    if (index === undefined) throw broken('its index is missing');
    const moov = await contentOf(file, index);
    checkMovie(moov, size);
    for (const box of boxes) {
      if (box.type === 'moof') checkFragment(await contentOf(file, box), size);
    }
  } finally {
    await file.close();
  }
}

const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'styp', 'pnot']);

async function isMp4(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  return bytesRead === 8 && FIRST_BOXES.has(buffer.toString('latin1', 4, 8));
}

async function contentOf(file: FileHandle, { start, end }: Box): Promise<Buffer> {
  const length = end - start;
  if (length > LARGEST_INDEX_BYTES) throw broken('its index is larger than any');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  if (bytesRead < length) throw broken('its index is cut');
  return buffer;
}

function checkMovie(moov: Buffer, fileBytes: number): void {
  const boxes = boxesIn(moov, 0, moov.length);
  requireTimescale(moov, only(boxes, 'mvhd'));
  const tracks = boxes.filter(({ type }) => type === 'trak');
  if (tracks.length === 0) throw broken('it has no track');
  for (const track of tracks) checkTrack(moov, track, fileBytes);
}

function checkTrack(moov: Buffer, track: Box, fileBytes: number): void {
  const inside = within(moov, track);
  const edits = inside.find(({ type }) => type === 'edts');
  if (edits !== undefined) for (const list of within(moov, edits)) checkEdits(moov, list);
  const media = within(moov, only(inside, 'mdia'));
  requireTimescale(moov, only(media, 'mdhd'));
  const table = only(within(moov, only(media, 'minf')), 'stbl');
  checkSampleTable(moov, within(moov, table), fileBytes);
}

function checkEdits(moov: Buffer, { type, start, end }: Box): void {
  if (type !== 'elst') return;
  if (end - start < 8) throw broken('an edit list is cut');
  const each = moov[start] === 1 ? 20 : 12;
  if (moov.readUInt32BE(start + 4) * each > end - start - 8) throw broken('an edit list is cut');
}

/** The timescale of `mvhd` and `mdhd`: behind two times of four or, in version 1, eight bytes. */
function requireTimescale(moov: Buffer, { start, end }: Box): void {
  const at = start + (moov[start] === 1 ? 20 : 12);
  if (at + 4 > end || moov.readUInt32BE(at) === 0) throw broken('it has no clock');
}

function within(moov: Buffer, { start, end }: Box): readonly Box[] {
  return boxesIn(moov, start, end);
}

function only(boxes: readonly Box[], type: string): Box {
  const found = boxes.filter((box) => box.type === type);
  const [box] = found;
  if (box === undefined || found.length > 1) throw broken(`it has not one ${type}`);
  return box;
}

/** Fields that each sample of a run may have, by their flags; each is four bytes. */
const SAMPLE_FIELDS = [0x100, 0x200, 0x400, 0x800];
const DATA_OFFSET = 0x1;
const FIRST_SAMPLE_FLAGS = 0x4;

/**
 * Checks the runs of samples of a fragment: they fit into their boxes, and there are no more samples
 * than the file has bytes.
 * @throws MediaTaskError where they do not
 */
function checkFragment(moof: Buffer, fileBytes: number): void {
  for (const fragment of boxesIn(moof, 0, moof.length)) {
    if (fragment.type !== 'traf') continue;
    for (const box of boxesIn(moof, fragment.start, fragment.end)) {
      if (box.type === 'trun') checkRun(moof, box, fileBytes);
    }
  }
}

function checkRun(moof: Buffer, { start, end }: Box, fileBytes: number): void {
  if (end - start < 8) throw broken('a run of samples is cut');
  const flags = moof.readUInt32BE(start) & 0xffffff;
  const count = moof.readUInt32BE(start + 4);
  const head = 8 + fieldBytes(flags, [DATA_OFFSET, FIRST_SAMPLE_FLAGS]);
  if (count > fileBytes || head + count * fieldBytes(flags, SAMPLE_FIELDS) > end - start) {
    throw broken('a run of samples is cut');
  }
}

function fieldBytes(flags: number, fields: readonly number[]): number {
  return fields.filter((field) => (flags & field) !== 0).length * 4;
}

/** Fields before the entries of a table: version and flags, and the number of entries. */
const HEAD = 8;

/**
 * Checks that the tables of a track fit into their boxes and speak of the same samples, all of which lie
 * within the file.
 * @throws MediaTaskError where they do not
 */
function checkSampleTable(moov: Buffer, boxes: readonly Box[], fileBytes: number): void {
  const table = (type: string): Table | undefined => {
    const box = boxes.find((one) => one.type === type);
    return box === undefined ? undefined : tableOf(moov, box);
  };
  const sizes = table('stsz') ?? table('stz2');
  const [times, chunks] = [table('stts'), table('stsc')];
  const offsets = table('stco') ?? table('co64');
  if (sizes === undefined || times === undefined || chunks === undefined || offsets === undefined) {
    throw broken('a table of samples is missing');
  }
  const samples = sampleCount(moov, sizes, fileBytes);
  requireSum(moov, times, samples);
  const shifts = table('ctts');
  if (shifts !== undefined) requireSum(moov, shifts, samples);
  requireRoom(chunks, 12);
  const key = table('stss');
  if (key !== undefined) requireRoom(key, 4);
  requireOffsets(moov, offsets, fileBytes);
}

interface Table extends Box {
  readonly count: number;
}

function tableOf(moov: Buffer, box: Box): Table {
  const isSizes = box.type === 'stsz' || box.type === 'stz2';
  const at = box.start + (isSizes ? HEAD : 4);
  if (at + 4 > box.end) throw broken(`${box.type} is cut`);
  return { ...box, count: moov.readUInt32BE(at) };
}

/** How many samples there are; what they have together is in the file. */
function sampleCount(moov: Buffer, sizes: Table, fileBytes: number): number {
  const { count, end, start, type } = sizes;
  if (type === 'stz2') {
    const bits = moov[start + 7] ?? 0;
    if (HEAD + 4 + Math.ceil((count * bits) / 8) > end - start) throw broken('stz2 is cut');
    return count;
  }
  const each = moov.readUInt32BE(start + 4);
  if (each !== 0) {
    if (each * count > fileBytes) throw broken('it has less samples than it says');
    return count;
  }
  requireRoom({ ...sizes, start: start + 4 }, 4);
  let bytes = 0;
  for (let at = start + HEAD + 4; at < start + HEAD + 4 + count * 4; at += 4) {
    bytes += moov.readUInt32BE(at);
  }
  if (bytes > fileBytes) throw broken('it has less samples than it says');
  return count;
}

/** Runs of samples that have something in common, which are all samples together. */
function requireSum(moov: Buffer, table: Table, samples: number): void {
  requireRoom(table, 8);
  let sum = 0;
  for (let at = table.start + HEAD; at < table.start + HEAD + table.count * 8; at += 8) {
    sum += moov.readUInt32BE(at);
  }
  if (sum !== samples) throw broken(`${table.type} is not of its samples`);
}

function requireOffsets(moov: Buffer, table: Table, fileBytes: number): void {
  const each = table.type === 'co64' ? 8 : 4;
  requireRoom(table, each);
  for (let at = table.start + HEAD; at < table.start + HEAD + table.count * each; at += each) {
    const offset = each === 8 ? Number(moov.readBigUInt64BE(at)) : moov.readUInt32BE(at);
    if (offset >= fileBytes) throw broken('its samples are not in it');
  }
}

function requireRoom({ count, end, start, type }: Table, each: number): void {
  if (count * each > end - start - HEAD) throw broken(`${type} is cut`);
}

/** A box of the MP4 family of formats (ISO/IEC 14496-12). */
interface Box {
  readonly type: string;
  /** Where its content is, in bytes from the beginning of what it is in. */
  readonly start: number;
  readonly end: number;
}

/** A file that is open. */
interface ReadableFile {
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
function broken(what: string): MediaTaskError {
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
