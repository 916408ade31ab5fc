import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openBritish, toBritish } from '../../src/phonemes/british.ts';
import { PHONEME_IDS } from '../../src/service/engine/hibari/phoneme-ids.ts';

const FOLDER = fileURLToPath(new URL('../../assets/voice', import.meta.url));
const WORDS = readFileSync(`${FOLDER}/words-gb.txt`, 'utf8')
  .split('\n')
  .flatMap((line) => line.replace('\t~', '\t').split('\t').slice(1))
  .map((field) => field.replace(/^[A-Z]+ /, ''))
  .filter((field) => field !== '' && field !== '*');

/** Reads unknown words as the American network reads "Zorblater" or "Zeenor". */
const british = openBritish(FOLDER, (word) => (word === 'Zeenor' ? 'zˈinɔɹ' : 'zˈɔɹblATəɹ'));

function read(text: string): string {
  return british
    .phonemes(text)
    .map(({ hasSpaceAfter, phonemes }) => (hasSpaceAfter ? `${phonemes} ` : phonemes))
    .join('');
}

test.each([
  ['Water, bath and car.', 'wˈɔːtə, bˈɑːθ and kˈɑː.'],
  ['Hello there.', 'həlˈQ ðˈɛː.'],
  ['He waited and painted boxes.', 'hˌiː wˈAtɪd and pˈAntɪd bˈɒksɪz.'],
  ['I used to go.', 'ˌI jˈuːst tə ɡˌQ.'],
  ['A tear in the paper.', 'ɐ tˈɛː ɪn ðə pˈApə.'],
  ['Zorblater.', 'zˈɔːblAtə.'],
  ['Zeenor.', 'zˈiːnɔː.'],
])('%s is read as %s', (text, phonemes) => {
  expect(read(text)).toBe(phonemes);
});

test('the dictionary has only phonemes that the model knows, which stay as they are', () => {
  expect(WORDS.length).toBeGreaterThan(190_000);
  const unknown = new Set(
    WORDS.flatMap((word) => Array.from(word)).filter((one) => !PHONEME_IDS.has(one)),
  );
  expect([...unknown]).toEqual([]);
  const changed = WORDS.filter((word) => toBritish(word) !== word);
  // Words of other languages, and cries such as `aww`.
  expect(changed.length).toBeLessThan(50);
});

test('no American sound is left in any reading', () => {
  const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll(
    /[^A-Za-z.,' ]/g,
    ' ',
  );
  expect(read(text.slice(0, 4_000))).not.toMatch(/[OTᵻæɾ]/);
});
