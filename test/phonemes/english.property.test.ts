import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openEnglish } from '../../src/phonemes/english.ts';

const ASSETS = new URL('../../assets/voice', import.meta.url);
/** Kokoro's alphabet, as far as English uses it. */
const SOUNDS = 'AIOQSTWYabdefhijklmnoprstuvwxzæðŋɐɑɔəɛɜɡɪɹɾʃʊʌʒʔʤʧθᵊᵻˈˌ';
const ALPHABET = new RegExp(`^[${SOUNDS};:,.!?—…"()“” ]*$`);

const english = openEnglish(ASSETS, () => 'sˈʌm');
const WORDS = "the to A I read lead US don't U.S. é 日 7 xyzzy CDs iPhone".split(' ');
const MARKS = `' ’ " “ ” - -- ----- — . ... 😀 & / , ( ) \u0301 \u200D`.split(' ');
const pieces = fc.constantFrom(...WORDS, ...MARKS, ' ', '  ', '\n', 'P D F');
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 30 }).map((list) => list.join('')),
  fc.array(pieces, { maxLength: 30 }).map((list) => list.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);

test('any text has words in order, with phonemes of the alphabet', () => {
  fc.assert(
    fc.property(texts, (text) => {
      let last = 0;
      for (const { end, phonemes, start } of english.phonemes(text)) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
        expect(phonemes).toMatch(ALPHABET);
        last = end;
      }
    }),
    { numRuns: 400 },
  );
});

test('every letter and digit of a text belongs to a word', () => {
  fc.assert(
    fc.property(texts, (text) => {
      let rest = text;
      for (const { end, start } of english.phonemes(text).toReversed()) {
        rest = rest.slice(0, start) + rest.slice(end);
      }
      expect(rest).not.toMatch(/[\p{L}\p{N}]/u);
    }),
    { numRuns: 400 },
  );
});

test('the dictionary uses only the alphabet', () => {
  const lines = readFileSync(new URL(`${ASSETS.href}/words.txt`), 'utf8')
    .trimEnd()
    .split('\n');
  const wrong = lines.filter((line) => {
    const [, first = '', ...others] = line.split('\t');
    const all = [first.replace('~', ''), ...others.map((one) => one.slice(one.indexOf(' ') + 1))];
    return all.some((phonemes) => phonemes !== '*' && !ALPHABET.test(phonemes));
  });
  expect(wrong).toEqual([]);
});
