// Reads American English as Kokoro learned it, with the dictionary of the built-in voices of foley.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { wordsIn } from '../parts/phonemes.mjs';
import { idsOf } from './symbols.mjs';

/**
 * @typedef {import('../../src/phonemes/english.ts').English['phonemes']} Phonemes
 * @typedef {import('./units.mjs').Pronunciation} Pronunciation
 * @typedef {import('./units.mjs').Read} Read
 */

/** Letters that neither the dictionary nor the network for unknown words has. Each stays one UTF-16 unit. */
const LETTERS = new Map(
  Array.from(
    'ßsæeÆEœeŒEøoØOłlŁLđdĐDðdÐDþtÞTıiŋnħhĦH'.matchAll(/(.)(.)/gu),
    ([, from = '', to = '']) => [from, to],
  ),
);
const LETTER = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu');

/** A letter that is read by its name, as foley writes it: `A-P's` for `APs`, and `vitamin A-`. */
const NAMED_A = /(?<![\w'’.-])A(?=-(?:[A-Z]'s| ))/gu;
const NAME_OF_A = 'ˈA';

/**
 * Loads the reader.
 * @param {string} file path of english-reader.cjs
 * @returns {Promise<import('./units.mjs').Reader>}
 */
export async function loadAmericanReader(file) {
  /** @type {typeof import('../../src/phonemes/english-reader.ts')} */
  const { openReader, signs } = await import(pathToFileURL(path.resolve(file)).href);
  const { phonemes } = openReader();
  return { read: (text, given = []) => readWords(text, given, phonemes), phonemes: signs };
}

/**
 * @param {string} text
 * @param {readonly Pronunciation[]} given
 * @param {Phonemes} phonemesOf
 * @returns {ReturnType<Read>}
 */
function readWords(text, given, phonemesOf) {
  const known = text.replaceAll(LETTER, (letter) => LETTERS.get(letter) ?? letter);
  const named = new Set(Array.from(known.matchAll(NAMED_A), ({ index }) => index));
  const characters = Array.from(text);
  const units = [0];
  let unit = 0;
  for (const character of characters) units.push((unit += character.length));
  /** @param {number} index of a code point */
  const unitAt = (index) => units[index] ?? text.length;
  const tokens = phonemesOf(
    known,
    given.map((word) => ({ ...word, start: unitAt(word.start), end: unitAt(word.end) })),
  );
  /** @type {import('./units.mjs').ReadWord[]} */
  const spoken = [];
  let last = 0;
  let next = 0;
  for (const range of wordsIn(characters)) {
    const [start, end] = [unitAt(range.start), unitAt(range.end)];
    let token = tokens[next];
    while (token !== undefined && token.end <= start) token = tokens[(next += 1)];
    let symbols = '';
    for (; token !== undefined && token.start < end; token = tokens[(next += 1)]) {
      symbols += named.has(token.start) ? NAME_OF_A : token.phonemes;
      if (token.hasSpaceAfter && token.end < end) symbols += ' ';
    }
    const ids = americanIds(symbols);
    if (ids.length > 0) {
      const gap = characters.slice(last, range.start).join('');
      spoken.push({ ranges: [range], ids, gap });
    } else spoken.at(-1)?.ranges.push(range);
    if (spoken.length > 0) last = range.end;
  }
  return { spoken, gap: characters.slice(last).join('') };
}

/**
 * Returns the ids of phonemes of the reader. Its network has three symbols that Kokoro has not; `-` and `1` are no sounds.
 * @param {string} phonemes
 */
export function americanIds(phonemes) {
  return idsOf(phonemes.replaceAll('ʀ', 'ɹ'));
}
