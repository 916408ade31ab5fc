// Pronounces British English as Kokoro learned it. Kokoro was trained with the pronunciations of misaki, which differ
// from those of espeak-ng in a few sounds, in weak words, and in the words that espeak-ng speaks as one.

const VOWEL = '[AIOQWYaiuæɑɒɔəɛɜɪʊʌᵊᵻ]';
const FIRST_VOWEL = new RegExp(VOWEL, 'u');
const VOWELS = new RegExp(VOWEL, 'gu');

/** @typedef {import('../parts/phonemes.mjs').Spoken} Spoken */

/** Symbols of Kokoro, by the sound of espeak-ng. */
export const BRITISH_SOUNDS = {
  aɪə: 'Iə',
  aʊə: 'Wə',
  e: 'A',
  r: 'ɹ',
  x: 'k',
  ç: 'k',
  ɐ: 'ə',
  əl: 'ᵊl',
  ɬ: 'l',
  ʔ: 't',
  aɪɐ: 'Iə',
  aʊɐ: 'Wə',
  ɚ: 'ə',
  æ: 'a',
  eə: 'ɛː',
  iə: 'ɪə',
  o: 'ɔ',
  oː: 'ɔː',
};

/**
 * Replacements in the symbols of a word.
 * @type {readonly (readonly [RegExp, string])[]}
 */
const RULES = [
  [/[\u0303ʲ]/gu, ''],
  [/ɹ+/gu, 'ɹ'],
  // Kokoro itself links words with an r.
  [/ɹ$/u, ''],
  [/ɪ$/u, 'i'],
  [/(?<!s)w([ˈˌ]?)ɒn(?=s?$)/u, 'w$1ʌn'],
  [/^wˌʌn/u, 'wˈʌn'],
];

/** Symbols of words when they have no stress. */
const WEAK = new Map(
  `a ɐ|an ɐn|am am|as az|at at|for fɔː|from fɹɒm|had had|has haz|have hav|of ɒv|than ðən|was wɒz`
    .split('|')
    .map((entry) => {
      const [word = '', symbols = ''] = entry.split(' ');
      return [word, symbols];
    }),
);

/** Words that stay without stress at the start of a sentence. */
const NEVER_STRESSED = /^(?:an?|am|by|in|the|to)$/iu;

/**
 * Returns the symbols of a word as misaki writes it.
 * @param {string} symbols of its sounds
 * @param {string} text the word as it is written
 */
export function pronounced(symbols, text) {
  const word = RULES.reduce((changed, [from, to]) => changed.replace(from, to), symbols);
  if (word.includes('ˈ')) return word;
  if (word.includes('ˌ')) {
    return (word.match(VOWELS) ?? []).length > 1 ? word.replace('ˌ', 'ˈ') : word;
  }
  const unstressed = WEAK.get(text.toLowerCase()) ?? word;
  const isFirst = /^\p{Lu}/u.test(text) && !NEVER_STRESSED.test(text);
  return isFirst ? unstressed.replace(FIRST_VOWEL, 'ˌ$&') : unstressed;
}

/**
 * Divides the sounds of words that espeak-ng speaks as one, such as "of the". The last words get as many sounds
 * as they have alone.
 * @param {readonly Spoken[]} spoken
 * @param {(word: import('../parts/phonemes.mjs').Range) => number} soundsAlone
 * @returns {Spoken[]}
 */
export function separated(spoken, soundsAlone) {
  return spoken.flatMap(({ ranges, phonemes, gap }) => {
    /** @type {Spoken[]} */
    const words = [];
    let rest = phonemes;
    for (const range of ranges.slice(1).reverse()) {
      const count = soundsAlone(range);
      if (count === 0 || count >= rest.length) break;
      words.unshift({ ranges: [range], phonemes: rest.slice(-count), gap: ' ' });
      rest = rest.slice(0, -count);
    }
    const joined = ranges.slice(0, ranges.length - words.length);
    return [{ ranges: joined, phonemes: rest, gap }, ...words];
  });
}
