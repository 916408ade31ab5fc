// Converts given phonemes in IPA to the symbols of Kokoro, for voices that espeak-ng reads.

import { SYMBOLS, tableOf } from './symbols.mjs';

const VOWEL = /^[aeiouyæøœɐɑɒɔəɚɛɜɤɨɪɯʊʌᵻ]/u;

/** Signs of IPA that have no sound of their own. */
const SILENT = '.‿\u032F\u032A';

const TIE_BARS = '\u0361\u035C';

/** Spellings of IPA that espeak-ng does not use. */
const SPELLINGS = {
  "'": 'ˈ',
  g: 'ɡ',
  ...Object.fromEntries(Array.from(SILENT + TIE_BARS, (sign) => [sign, ''])),
};

/** The vowel of "bed". */
const BRITISH_SPELLINGS = { e: 'ɛ' };

/**
 * Returns the signs of IPA that a language has symbols for.
 * @param {string} language of the voice
 */
export function signsOf(language) {
  const letters = SYMBOLS.filter((symbol) => /^[\p{Ll}\p{Lm}\p{Mn}ˈˌː]$/u.test(symbol));
  const spellings = Object.keys(spellingsOf(language)).join('');
  return Array.from(new Set(letters.join('') + spellings + ' ')).join('');
}

/**
 * Returns the symbols of a word. A word without a stress mark gets the stress on its first vowel.
 * @param {string} ipa
 * @param {string} language of the voice
 */
export function givenSymbols(ipa, language) {
  const spellings = spellingsOf(language);
  const longest = Math.max(...Object.keys(spellings).map(({ length }) => length));
  return ipa
    .normalize('NFD')
    .replaceAll('c\u0327', 'ç')
    .replaceAll(new RegExp(`[${TIE_BARS}]`, 'gu'), '')
    .trim()
    .split(/\s+/u)
    .map((word) => stressed(soundsOf(word, spellings, longest)))
    .join(' ');
}

/**
 * @param {string} language
 * @returns {Readonly<Record<string, string>>}
 */
function spellingsOf(language) {
  const own = language === 'en-GB' ? BRITISH_SPELLINGS : {};
  return { ...tableOf(language), ...SPELLINGS, ...own };
}

/**
 * @param {string} word
 * @param {Readonly<Record<string, string>>} spellings
 * @param {number} longest
 */
function soundsOf(word, spellings, longest) {
  const sounds = [];
  for (let at = 0; at < word.length;) {
    let length = Math.min(longest, word.length - at);
    while (length > 1 && !Object.hasOwn(spellings, word.slice(at, at + length))) length -= 1;
    const spelling = word.slice(at, at + length);
    sounds.push({ isVowel: VOWEL.test(spelling), symbol: spellings[spelling] ?? spelling });
    at += length;
  }
  return sounds;
}

/**
 * Moves each stress mark to the vowel of its syllable, where Kokoro has it.
 * @param {readonly { isVowel: boolean, symbol: string }[]} sounds
 */
function stressed(sounds) {
  const isMarked = sounds.some(({ symbol }) => /^[ˈˌ]$/u.test(symbol));
  let mark = isMarked ? '' : 'ˈ';
  let symbols = '';
  for (const { isVowel, symbol } of sounds) {
    if (/^[ˈˌ]$/u.test(symbol)) mark = symbol;
    else if (isVowel) {
      symbols += mark + symbol;
      mark = '';
    } else symbols += symbol;
  }
  return symbols;
}
