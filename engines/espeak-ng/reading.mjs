// Rewrites what espeak-ng reads wrong in a language, such as `3,50 €`. espeak-ng reads the rest.

import { GERMAN } from './reading-de.mjs';
import { SPANISH } from './reading-es.mjs';
import { FRENCH } from './reading-fr.mjs';

/**
 * @typedef {(match: RegExpExecArray, before: string) => string | undefined} Read
 * Returns what is spoken instead of a match, without punctuation that makes a pause; undefined to
 * leave the match to other rules. `before` is the text in front of the match, at most 40 characters.
 * @typedef {readonly [pattern: RegExp, read: Read]} Rule
 * Quantifiers in a pattern are bounded, so that a text takes linear time.
 */

/** @type {Readonly<Record<string, readonly Rule[]>>} The first rule that matches wins. */
const RULES = { de: GERMAN, es: SPANISH, fr: FRENCH };

const CONTEXT = 40;

/**
 * Returns what is spoken for each character. The reading of several characters is at the first one,
 * and the others have an empty text.
 * @param {readonly string[]} characters code points of the text
 * @param {string} language
 * @returns {string[]}
 */
export function readAloud(characters, language) {
  const spoken = [...characters];
  // A sign in place of characters of two UTF-16 units: indices in `text` are indices in `characters`.
  const text = characters.map((one) => (one.length === 1 ? one : '\ufffc')).join('');
  const isRead = new Uint8Array(text.length);
  for (const [pattern, read] of RULES[language.slice(0, 2)] ?? []) {
    for (const match of text.matchAll(pattern)) {
      const { 0: written, index } = match;
      const end = index + written.length;
      if (isRead.subarray(index, end).includes(1)) continue;
      const reading = read(match, text.slice(Math.max(0, index - CONTEXT), index));
      if (reading === undefined) continue;
      isRead.fill(1, index, end);
      replace(spoken, index, written, reading);
    }
  }
  return spoken;
}

/**
 * Replaces the part that differs, so that words that stay keep their own positions.
 * @param {string[]} spoken
 * @param {number} index
 * @param {string} written
 * @param {string} reading
 */
function replace(spoken, index, written, reading) {
  let same = 0;
  while (same < written.length - 1 && written[same] === reading[same]) same += 1;
  let rest = 0;
  const shorter = Math.min(written.length, reading.length) - same;
  while (rest < shorter && written.at(-1 - rest) === reading.at(-1 - rest)) rest += 1;
  if (written.length - rest === same) rest -= 1;
  spoken.fill('', index + same, index + written.length - rest);
  spoken[index + same] = reading.slice(same, reading.length - rest);
}
