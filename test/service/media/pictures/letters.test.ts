import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isInFont,
  TITLE_MAX_CHARACTERS,
  titleOf,
} from '../../../../src/service/media/pictures/card.ts';

const FONT = fileURLToPath(new URL('../../../../assets/fonts/foley-sans.ttf', import.meta.url));

describe('the title of a picture', () => {
  test.each([
    ['a short prompt', 'A red fox', 'A red fox', 0],
    ['white space of any kind', '  A\t red\n\u00a0fox ', 'A red fox', 0],
    ['accents in two parts', 'Z\u030courna\u0301l', 'Žournál', 0],
    ['Greek, Cyrillic and Vietnamese', 'ό, Привет, Việt', 'ό, Привет, Việt', 0],
    ['what the font lacks', 'A 狐 and a 🦊 meet', 'A and a meet', 2],
    ['nothing but that', '你好，世界', '', 5],
    ['signs of markup', '<b>&amp;</b> "it\'s"', '<b>&amp;</b> "it\'s"', 0],
    ['signs that turn text around', 'a\u202eb\u0007c', 'abc', 2],
    ['', '', '', 0],
  ])('of %s', (_name, prompt, text, lacking) => {
    expect(titleOf(prompt)).toEqual({ text, lacking });
  });

  test('is cut at a word, or within one that is as long as half of it', () => {
    const sentence = titleOf('word '.repeat(100)).text;
    expect(sentence).toMatch(/^(word )+word…$/);
    expect(sentence.length).toBeLessThanOrEqual(TITLE_MAX_CHARACTERS);
    expect(titleOf('x'.repeat(500)).text).toBe(`${'x'.repeat(TITLE_MAX_CHARACTERS - 1)}…`);
  });

  test('of any prompt is short, on one line, and has only what the font has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (prompt) => {
        const { text, lacking } = titleOf(prompt);
        const characters = Array.from(text);
        expect(characters.length).toBeLessThanOrEqual(TITLE_MAX_CHARACTERS);
        expect(characters.every((character) => isInFont(character))).toBe(true);
        expect(lacking).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

test('the list of characters is that of the font file', async () => {
  const listed = Array.from({ length: 0x1_00_00 }, (_, code) => code).filter((code) =>
    isInFont(String.fromCodePoint(code)),
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
