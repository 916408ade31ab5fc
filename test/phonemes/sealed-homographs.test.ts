import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openEnglish } from '../../src/phonemes/english.ts';

/**
 * Sentences by writers who had not seen the code, and never fitted to it. Columns: sentence, word, sense, pronunciation in
 * IPA.
 */
const ROWS = readFileSync(new URL('sealed-homographs.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [sentence = '', word = '', sense = '', ipa = ''] = line.split('\t');
    return { sentence, word, sense, ipa };
  });

/** The rows that foley gets wrong, as `word, sense`. They stay wrong: rules are not fitted to this set. */
const KNOWN_MISSES: readonly string[] = [
  'read, past',
  'dove, past of dive',
  'wound, past of wind',
  'does, noun (deer)',
  'object, verb',
  'contract, verb',
  'invalid, noun',
  'abuse, verb',
  'project, verb',
  'putting, golf',
  'axes, plural of ax',
  'bases, plural of base',
  'learned, adjective',
  'Blessed, adjective',
  'aged, noun (old people)',
];

const english = openEnglish(new URL('../../assets/voice', import.meta.url), () => '');

const LETTERS = new Map(
  Object.entries({
    aɪ: 'I',
    aʊ: 'W',
    eɪ: 'A',
    oʊ: 'O',
    ɔɪ: 'Y',
    dʒ: 'ʤ',
    tʃ: 'ʧ',
    ɚ: 'əɹ',
    ɝ: 'ɜɹ',
    T: 't',
    ɾ: 't',
    ᵊ: 'ə',
    ᵻ: 'ɪ',
    əw: 'u',
  }),
);
const VOWEL = /[AIOQWYaiuæɑɒɔəɛɜɪʊʌ]/;

/**
 * Returns phonemes in one notation: Kokoro's letters, the main stress right before its vowel, one letter for the short
 * vowels of unstressed syllables.
 */
function fold(phonemes: string): string {
  const marked = [...LETTERS].reduce((text, [one, other]) => text.replaceAll(one, other), phonemes);
  const plain = marked.replaceAll('ˌ', '');
  const stressed = plain.replace(/ˈ([^AIOQWYaiuæɑɒɔəɛɜɪʊʌ]*)/, '$1ˈ');
  const stress = stressed.indexOf('ˈ');
  return Array.from(stressed, (sound, at) => {
    const isStressed = stress === -1 || at === stress + 1;
    if (isStressed || !VOWEL.test(sound)) return sound;
    if (/[əɪɛʌ]/.test(sound) || (sound === 'i' && at < stress)) return 'ə';
    return sound === 'ʊ' ? 'u' : sound;
  })
    .join('')
    .replaceAll('əɹ', 'ɹ');
}

function spoken(sentence: string, word: string): string {
  const start = new RegExp(`\\b${word}\\b`).exec(sentence)?.index;
  return english.phonemes(sentence).find((token) => token.start === start)?.phonemes ?? '';
}

test('the notation keeps the pronunciations of each word apart', () => {
  const folded = new Map<string, Set<string>>();
  const written = new Map<string, Set<string>>();
  for (const { ipa, word } of ROWS) {
    const key = word.toLowerCase();
    folded.set(key, (folded.get(key) ?? new Set()).add(fold(ipa)));
    written.set(key, (written.get(key) ?? new Set()).add(ipa));
  }
  expect([...folded].map(([word, forms]) => [word, forms.size])).toEqual(
    [...written].map(([word, forms]) => [word, forms.size]),
  );
});

test('at least 85 of 100 homographs in sealed sentences are right', () => {
  const misses = ROWS.filter(
    ({ ipa, sentence, word }) => fold(spoken(sentence, word)) !== fold(ipa),
  );
  expect(ROWS).toHaveLength(100);
  expect(misses.map(({ sense, word }) => `${word}, ${sense}`)).toEqual(KNOWN_MISSES);
  expect(ROWS.length - misses.length).toBeGreaterThanOrEqual(85);
});
