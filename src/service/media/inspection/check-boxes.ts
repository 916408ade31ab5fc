import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Box } from './box-reader.ts';
import { boxesIn, boxesOf, broken } from './box-reader.ts';
import { checkFragment } from './check-fragment.ts';
import { checkSampleTable } from './check-sample-table.ts';

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
