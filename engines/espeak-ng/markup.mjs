// Escapes a text for espeak-ng, so that nothing in the text acts as a command.

import { MAX_MARKUP_BYTES } from '../parts/espeak.mjs';

/** Escapes of the characters that start SSML markup. */
const ESCAPES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/** Control characters except tab and line feed, and lone surrogates. */
const UNSPOKEN = /^(?:[^\P{Cc}\t\n]|\p{Cs})$/u;

/** espeak-ng says "Chinese letter" for each of these characters, except in Chinese and Japanese. */
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u;

/**
 * Replaces the characters that a voice of the language cannot speak by spaces.
 * @param {readonly string[]} characters code points of the text
 * @param {string} language
 */
export function speakable(characters, language) {
  const isEastAsian = /^(?:zh|ja)\b/.test(language);
  return characters.map((character) =>
    UNSPOKEN.test(character) || (!isEastAsian && EAST_ASIAN.test(character)) ? ' ' : character,
  );
}

/**
 * Escapes a part of the text, up to the limit of espeak-ng. A stretch and the signs before it are
 * shorter than the limit, however its characters are read.
 * @param {readonly string[]} characters what is spoken for each character of the text
 * @param {number} start
 * @param {number} end
 * @returns {{ text: string, sources: number[] }} `sources`: for each code point of the escaped text,
 *   the index of the original character
 */
export function escape(characters, start, end) {
  /** @type {number[]} */
  const sources = [];
  let text = '';
  let bytes = 0;
  for (let at = start; at < end; at += 1) {
    const escaped = escapeAt(characters, at);
    bytes += Buffer.byteLength(escaped);
    if (bytes > MAX_MARKUP_BYTES) break;
    for (const _ of escaped) sources.push(at);
    text += escaped;
  }
  return { text, sources };
}

/**
 * @param {readonly string[]} characters
 * @param {number} at
 */
function escapeAt(characters, at) {
  const character = characters[at] ?? '';
  // `[[` would start a list of phonemes.
  if (character === '[' && characters[at + 1] === '[') return '[ ';
  return ESCAPES.get(character) ?? character;
}
