import type { Box } from './box-reader.ts';
import { broken } from './box-reader.ts';

/** Fields before the entries of a table: version and flags, and the number of entries. */
const HEAD = 8;

/**
 * Checks that the tables of a track fit into their boxes and speak of the same samples, all of which lie
 * within the file.
 * @throws MediaTaskError where they do not
 */
export function checkSampleTable(moov: Buffer, boxes: readonly Box[], fileBytes: number): void {
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
