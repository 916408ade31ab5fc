import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FONT_COVERAGE } from '../../../../src/service/media/pictures/lettering/font-coverage.ts';

const FONT = fileURLToPath(new URL('../../../../assets/fonts/foley-sans.ttf', import.meta.url));

test('the list of characters is that of the font file', async () => {
  const listed = FONT_COVERAGE.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
  expect(listed).toEqual(charactersOf(await readFile(FONT)));
});

test('the font is a TrueType file of its own name, small enough for the tarball', async () => {
  const font = await readFile(FONT);
  expect(font.readUInt32BE(0)).toBe(0x00_01_00_00);
  expect(font.length).toBeLessThan(100_000);
  const names = table(font, 'name').swap16().toString('utf16le');
  expect(names).toContain('Foley Sans');
});

/** Characters of the table for Unicode's first plane (format 4). */
function charactersOf(font: Buffer): readonly number[] {
  const map = table(font, 'cmap');
  const count = map.readUInt16BE(2);
  const starts = Array.from({ length: count }, (_, index) => map.readUInt32BE(8 + index * 8));
  const start = starts.find((at) => map.readUInt16BE(at) === 4) ?? 0;
  const segments = map.readUInt16BE(start + 6) / 2;
  return Array.from({ length: segments }, (_, index) => index).flatMap((index) => {
    const last = map.readUInt16BE(start + 14 + index * 2);
    const first = map.readUInt16BE(start + 16 + (segments + index) * 2);
    if (first === 0xff_ff) return [];
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}

function table(font: Buffer, tag: string): Buffer {
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const entry = 12 + index * 16;
    if (font.toString('latin1', entry, entry + 4) !== tag) continue;
    const offset = font.readUInt32BE(entry + 8);
    const length = font.readUInt32BE(entry + 12);
    // Even, so that the pairs of a name can be swapped.
    return Buffer.from(font.subarray(offset, offset + length + (length % 2)));
  }
  throw new Error(`the font has no table ${tag}`);
}
