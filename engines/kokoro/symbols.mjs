// Converts the phonemes of espeak-ng to the symbols that Kokoro was trained on.
//
// Kokoro learned its pronunciation from misaki, which writes diphthongs and affricates as one letter.

import { BRITISH_SOUNDS, pronounced } from './british.mjs';

/**
 * Symbols of the model in runs, each with the id of its first symbol.
 * @type {readonly (readonly [number, string])[]}
 */
const RUNS = [
  [1, ';:,.!?'],
  [9, '—…"()“” \u0303ʣʥʦʨᵝ\uAB67AI'],
  [31, 'O'],
  [33, 'Q'],
  [35, 'ST'],
  [39, 'W'],
  [41, 'Yᵊabcdef'],
  [50, 'hijklmnopqrstuvwxyzɑɐɒæ'],
  [75, 'βɔɕç'],
  [80, 'ɖðʤə'],
  [85, 'ɚɛɜ'],
  [90, 'ɟ'],
  [92, 'ɡ'],
  [99, 'ɥ'],
  [101, 'ɨɪʝ'],
  [110, 'ɯɰŋɳɲɴø'],
  [118, 'ɸθœ'],
  [123, 'ɹ'],
  [125, 'ɾɻ'],
  [128, 'ʁɽʂʃʈʧ'],
  [135, 'ʊʋ'],
  [138, 'ʌɣɤ'],
  [142, 'χʎ'],
  [147, 'ʒʔ'],
  [156, 'ˈˌː'],
  [162, 'ʰ'],
  [164, 'ʲ'],
  [169, '↓'],
  [171, '→↗↘'],
  [177, 'ᵻ'],
];

/** @type {ReadonlyMap<string, number>} */
const IDS = new Map(
  RUNS.flatMap(([first, run]) => Array.from(run, (symbol, index) => [symbol, first + index])),
);

/** All symbols of the model. */
export const SYMBOLS = [...IDS.keys()];

/**
 * Returns the ids of symbols. Symbols that the model does not know are left out.
 * @param {string} symbols
 */
export function idsOf(symbols) {
  return Array.from(symbols).flatMap((symbol) => IDS.get(symbol) ?? []);
}

/** Sounds of espeak-ng in every language. */
const SOUNDS = {
  aɪ: 'I',
  aʊ: 'W',
  dz: 'ʣ',
  dʒ: 'ʤ',
  eɪ: 'A',
  oʊ: 'O',
  ts: 'ʦ',
  tʃ: 'ʧ',
  ɔɪ: 'Y',
  əʊ: 'Q',
};

/**
 * Converts the sounds of one word.
 * @param {readonly string[]} sounds of espeak-ng, with stress marks
 * @param {string} language of the voice
 * @param {string} text the word as it is written
 */
export function symbolsOf(sounds, language, text) {
  const table = tableOf(language);
  const symbols = sounds.map((sound) => converted(sound, table)).join('');
  return language === 'en-GB' ? pronounced(symbols, text) : symbols;
}

/**
 * Returns the symbols of the model by sound of espeak-ng. Other sounds are symbols themselves.
 * @param {string} language of the voice
 * @returns {Readonly<Record<string, string>>}
 */
export function tableOf(language) {
  return language === 'en-GB' ? { ...SOUNDS, ...BRITISH_SOUNDS } : SOUNDS;
}

/**
 * @param {string} sound
 * @param {Readonly<Record<string, string>>} table
 */
function converted(sound, table) {
  const [, stress = '', plain = ''] = /^([ˈˌ]*)(.*)$/su.exec(sound) ?? [];
  // A syllabic consonant has a short vowel before it.
  const syllabic = plain.replace(/^(.*)\u0329$/su, 'ᵊ$1');
  return stress + (table[syllabic] ?? syllabic);
}

const PAUSES = ';:,.!?—…"()“”';
/** @type {Readonly<Record<string, string>>} */
const MARKS = { '–': '—', '।': '.', '«': '“', '»': '”', '¡': '', '¿': '' };

/**
 * Returns the symbols for the characters between two words: spaces, and punctuation that makes a pause.
 * @param {string} gap
 */
export function gapSymbols(gap) {
  const dashes = gap.replaceAll(/(?<=\s)-+(?=\s)/gu, '—');
  const symbols = Array.from(dashes, (one) => (/\s/u.test(one) ? ' ' : (MARKS[one] ?? one)));
  return symbols
    .filter((one) => one === ' ' || (one !== '' && PAUSES.includes(one)))
    .join('')
    .replaceAll(/ +/g, ' ');
}
