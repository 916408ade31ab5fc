// Reads British English and other languages with espeak-ng, in the symbols of Kokoro.

import { loadPhonemes } from '../parts/phonemes.mjs';
import { separated } from './british.mjs';
import { givenSymbols, signsOf } from './given.mjs';
import { idsOf, symbolsOf } from './symbols.mjs';

/**
 * @typedef {import('../parts/phonemes.mjs').Range} Range
 * @typedef {import('./units.mjs').ReadText} ReadText
 * @typedef {import('./units.mjs').ReadWord} ReadWord
 */

/**
 * Loads espeak-ng.
 * @returns {Promise<(language: string, espeak: string) => import('./units.mjs').Reader>} `espeak`: name of the
 *   language in espeak-ng
 * @throws {Error} if espeak-ng is not installed
 */
export async function loadEspeakReaders() {
  const phonemize = await loadPhonemes();
  return (language, espeak) => {
    /** @param {string} text */
    const readPlain = (text) => {
      const { spoken: joined, gap } = phonemize(text, espeak);
      const characters = Array.from(text);
      /** @param {Range | undefined} range */
      const textOf = (range) => characters.slice(range?.start, range?.end).join('');
      /** @param {Range} word */
      const soundsAlone = (word) => phonemize(textOf(word), espeak).spoken[0]?.phonemes.length ?? 0;
      const words = language === 'en-GB' ? separated(joined, soundsAlone) : joined;
      const spoken = words.map(({ ranges, phonemes, gap: before }) => {
        return {
          ranges,
          gap: before,
          ids: idsOf(symbolsOf(phonemes, language, textOf(ranges[0]))),
        };
      });
      return { spoken, gap };
    };
    /** @param {string} ipa */
    const idsOfGiven = (ipa) => idsOf(givenSymbols(ipa, language));
    return {
      read: (text, given = []) =>
        given.length === 0 ? readPlain(text) : readAround(text, given, readPlain, idsOfGiven),
      phonemes: signsOf(language),
    };
  };
}

/**
 * Reads the text around words with given phonemes part by part.
 * @param {string} text
 * @param {readonly import('./units.mjs').Pronunciation[]} given
 * @param {(text: string) => ReadText} readPlain
 * @param {(ipa: string) => number[]} idsOfGiven
 * @returns {ReadText}
 */
function readAround(text, given, readPlain, idsOfGiven) {
  const characters = Array.from(text);
  /** @type {ReadWord[]} */
  const spoken = [];
  let gap = '';
  let at = 0;
  /** @param {number} end */
  const readUntil = (end) => {
    const part = readPlain(characters.slice(at, end).join(''));
    for (const { ranges, ids, gap: before } of part.spoken) {
      const moved = ranges.map((range) => ({ start: range.start + at, end: range.end + at }));
      spoken.push({ ranges: moved, ids, gap: gap + before });
      gap = '';
    }
    gap += part.gap;
  };
  for (const { start, end, phonemes } of given) {
    readUntil(start);
    spoken.push({ ranges: [{ start, end }], ids: idsOfGiven(phonemes), gap });
    gap = '';
    at = end;
  }
  readUntil(characters.length);
  return { spoken, gap };
}
