import type { English } from './english.ts';
import { openEnglish } from './english.ts';
import type { ReadUnknown } from './unknown-words.ts';

/**
 * Opens the reader of British English: a dictionary of its own, and the American rules and the American network for all
 * other words, whose sounds become the nearest British ones.
 * @param folder assets/voice
 * @param readUnknown reads words that no dictionary has, in American phonemes
 */
export function openBritish(folder: string, readUnknown: ReadUnknown): English {
  const read = (word: string): string => lengthen(readUnknown(word));
  const { phonemes } = openEnglish(folder, read, 'words-gb.txt');
  return {
    phonemes: (text) =>
      phonemes(text).map((token) => ({ ...token, phonemes: toBritish(token.phonemes) })),
  };
}

/**
 * Replaces American phonemes by the nearest British ones. British phonemes stay as they are. No rule knows which words
 * have the long vowel of `bath`.
 */
export function toBritish(phonemes: string): string {
  return RULES.reduce((all, [sound, british]) => all.replaceAll(sound, british), phonemes);
}

// An r is spoken only before a vowel, and makes the vowel before it long.
const VOWEL = '[ˈˌ]?[AIOQWYaiujwæɑɒɔəɛɜɪʊʌᵊᵻ]';
const BEFORE_VOWEL = `(?=${VOWEL})`;
const SILENT_R = `ɹ(?!${VOWEL})`;

const RULES: readonly (readonly [RegExp | string, string])[] = [
  ['O', 'Q'],
  ['T', 't'],
  ['ᵻ', 'ɪ'],
  ['æ', 'a'],
  [new RegExp(`ɜɹ${BEFORE_VOWEL}`, 'g'), 'ɜːɹ'],
  [new RegExp(`ɔɹ${BEFORE_VOWEL}`, 'g'), 'ɔːɹ'],
  [new RegExp(`([ɑɔɜɛ])${SILENT_R}`, 'g'), '$1ː'],
  [new RegExp(`([ɪʊ])${SILENT_R}`, 'g'), '$1ə'],
  [new RegExp(SILENT_R, 'g'), ''],
  [/ɑ(?![ːɑ])/g, 'ɒ'],
  [/([ɔɜu])(?!\1|ː)/g, '$1ː'],
];

/** Makes the vowel of `fleece` long, as British dictionaries write it; that at the end of `happy` stays short. */
function lengthen(phonemes: string): string {
  return phonemes.replaceAll(/i(?=[bdfhklmnpstvzðŋɡʃʒʤʧθT])/g, 'iː');
}
