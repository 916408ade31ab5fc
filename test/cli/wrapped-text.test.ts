import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { wrappedText } from '../../src/cli/render/table.ts';

test.each([
  ['It fits.', 8, 'It fits.'],
  ['It does not fit.', 8, 'It does\nnot fit.'],
  ['See `foley tts --help`.', 12, 'See\n`foley tts --help`.'],
  ['an `b c`, d', 8, 'an\n`b c`, d'],
  ['Behind `--`. See `foley tts --help`.', 20, 'Behind `--`. See\n`foley tts --help`.'],
  ['漢字 漢字 漢字', 9, '漢字 漢字\n漢字'],
  ['An apostrophe ` alone', 12, 'An\napostrophe `\nalone'],
])('%j on %i columns', (text, columns, lines) => {
  expect(wrappedText(text, columns)).toBe(lines);
});

test('no line begins with a command to a build service', () => {
  expect(wrappedText('It said ::error::no and ##[group]x', 8)).toBe(
    'It said ::error::no\nand ##[group]x',
  );
});

test('without a terminal nothing is wrapped', () => {
  const text = 'word '.repeat(1_000).trim();
  expect(wrappedText(text, Infinity)).toBe(text);
});

test('no word is lost or cut, and no line is longer than necessary', () => {
  const words = fc.array(fc.stringMatching(/^[a-zé漢]{1,12}$/), { minLength: 1 });
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 60 }), (given, columns) => {
      const lines = wrappedText(given.join(' '), columns).split('\n');
      expect(lines.flatMap((line) => line.split(' '))).toEqual(given);
      for (const line of lines) {
        expect(stringWidth(line) <= columns || !line.includes(' ')).toBe(true);
      }
    }),
  );
});
