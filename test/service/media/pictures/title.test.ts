import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInFont } from '../../../../src/service/media/pictures/lettering/font-coverage.ts';
import {
  TITLE_MAX_CHARACTERS,
  titleOf,
} from '../../../../src/service/media/pictures/lettering/title.ts';

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
