import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readEnglish, spokenText } from '../../../src/text/reading/english.ts';
import { splitSentences } from '../../../src/text/sentences.ts';

/** Phrases by writers who had not seen the code. Columns: phrase, words (`a | b` allows both). */
const ROWS = readFileSync(new URL('sealed-phrases.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [written = '', spoken = ''] = line.split('\t');
    return { written, expected: spoken.split(' | ') };
  });

/** Ignores case, punctuation and hyphens. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .replaceAll(/\bo\b/g, 'oh')
    .replaceAll(/\bmissus\b/g, 'mrs')
    .trim();
}

/** Returns the words of a text as `foley text --reading` prints them. */
function reading(text: string): string {
  return splitSentences(text)
    .map(({ text: sentence }) => spokenText(sentence, readEnglish(sentence, { region: 'US' })))
    .join(' ');
}

test('all 200 sealed phrases are read as people read them', () => {
  const misses = ROWS.filter(
    ({ expected, written }) => !expected.some((one) => plain(one) === plain(reading(written))),
  ).map(({ written }) => written);
  expect(ROWS).toHaveLength(200);
  expect(misses).toEqual([]);
});
