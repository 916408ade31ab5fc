import type { Box } from './box-reader.ts';
import { boxesIn, broken } from './box-reader.ts';

/** Fields that each sample of a run may have, by their flags; each is four bytes. */
const SAMPLE_FIELDS = [0x100, 0x200, 0x400, 0x800];
const DATA_OFFSET = 0x1;
const FIRST_SAMPLE_FLAGS = 0x4;

/**
 * Checks the runs of samples of a fragment: they fit into their boxes, and there are no more samples
 * than the file has bytes.
 * @throws MediaTaskError where they do not
 */
export function checkFragment(moof: Buffer, fileBytes: number): void {
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
