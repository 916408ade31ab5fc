// Finds the words of a text.

/** @typedef {{ from: number, start: number, end: number }} Token
 * Positions in code points; `from` includes the signs before the word, such as an opening quote. */

/** Longer words are split. */
const LONGEST = 100;
const SPACED = new RegExp(`\\S{1,${LONGEST}}`, 'gu');

/** Signs that are spoken as a pause or not at all. */
const SILENT = '[\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Cf}.,;:!?…\'"¿¡·،؛؟。、，！？；：।॥]';
const LEADING = new RegExp(`^${SILENT}+`, 'u');
const TRAILING = new RegExp(`${SILENT}+$`, 'u');

/**
 * Returns the words that are spoken, without silent signs at both ends. Splits Chinese and Japanese
 * text with a dictionary.
 * @param {readonly string[]} characters code points of the text
 * @param {string} language
 * @returns {Token[]}
 */
export function tokenize(characters, language) {
  const text = characters.join('');
  const isSpaced = !/^(?:zh|ja)\b/.test(language);
  const pieces = isSpaced ? text.matchAll(SPACED) : segments(text, language);
  const codePoints = codePointCounter(text);
  const tokens = [];
  for (const { 0: piece, index } of pieces) {
    const trimmed = trim(piece);
    if (trimmed.text === '') continue;
    const from = codePoints(index);
    const start = from + count(piece.slice(0, trimmed.at));
    tokens.push({ from, start, end: start + count(trimmed.text) });
  }
  return tokens;
}

/**
 * @param {string} text
 * @param {string} language
 */
function* segments(text, language) {
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  for (const { segment, index } of segmenter.segment(text)) {
    if (segment.trim() !== '') yield { 0: segment, index };
  }
}

/** @param {string} piece */
function trim(piece) {
  const at = LEADING.exec(piece)?.[0].length ?? 0;
  return { at, text: piece.slice(at).replace(TRAILING, '') };
}

/**
 * Returns a function that converts increasing UTF-16 indices to code points.
 * @param {string} text
 */
function codePointCounter(text) {
  let units = 0;
  let points = 0;
  return (/** @type {number} */ index) => {
    points += count(text.slice(units, index));
    units = index;
    return points;
  };
}

const OUTSIDE_BASIC_PLANE = /[\u{10000}-\u{10ffff}]/gu;

/**
 * Counts the code points of a text.
 * @param {string} text
 */
function count(text) {
  return text.length - (text.match(OUTSIDE_BASIC_PLANE)?.length ?? 0);
}
