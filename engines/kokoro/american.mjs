// Reads American English as Kokoro learned it, with the dictionary of the built-in voices of foley.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { wordsIn } from '../parts/phonemes.mjs';
import { idsOf } from './symbols.mjs';

/** Letters that neither the dictionary nor the network for unknown words has. Each stays one UTF-16 unit. */
const LETTERS = new Map(
  Array.from('ßsæeÆEœeŒEøoØOłlŁLđdĐDðdÐDþtÞTıiŋnħhĦH'.matchAll(/(.)(.)/gu), ([, from, to]) => [
    from,
    to,
  ]),
);
const LETTER = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu');

/** A letter that is read by its name, as foley writes it: `A-P's` for `APs`, and `vitamin A-`. */
const NAMED_A = /(?<![\w'’.-])A(?=-(?:[A-Z]'s| ))/gu;
const NAME_OF_A = 'ˈA';

/**
 * Loads the reader.
 * @param {string} file path of english-reader.cjs
 * @returns {Promise<{ read: import('./speech.mjs').Read, phonemes: string }>} `phonemes`: the signs of IPA that it reads
 */
export async function loadAmericanReader(file) {
  const { openReader, signs } = await import(pathToFileURL(path.resolve(file)).href);
  const { phonemes } = openReader();
  return { read: (text, given = []) => readWords(text, given, phonemes), phonemes: signs };
}

function readWords(text, given, phonemesOf) {
  const known = text.replaceAll(LETTER, (letter) => LETTERS.get(letter));
  const named = new Set(Array.from(known.matchAll(NAMED_A), ({ index }) => index));
  const characters = Array.from(text);
  const units = [0];
  for (const character of characters) units.push(units.at(-1) + character.length);
  const tokens = phonemesOf(
    known,
    given.map((word) => ({ ...word, start: units[word.start], end: units[word.end] })),
  );
  const spoken = [];
  let last = 0;
  let next = 0;
  for (const range of wordsIn(characters)) {
    const [start, end] = [units[range.start], units[range.end]];
    while (next < tokens.length && tokens[next].end <= start) next += 1;
    let symbols = '';
    for (; next < tokens.length && tokens[next].start < end; next += 1) {
      const token = tokens[next];
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

/** Returns the ids of phonemes of the reader. Its network has three symbols that Kokoro has not; `-` and `1` are no sounds. */
export function americanIds(phonemes) {
  return idsOf(phonemes.replaceAll('ʀ', 'ɹ'));
}
