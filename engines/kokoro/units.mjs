// Reads a text as units: words with the ids of their sounds, and of the punctuation around them.

import { breakIn, breakInside, wholeSentences } from '../parts/chunks.mjs';
import { gapSymbols, idsOf } from './symbols.mjs';

/**
 * @typedef {import('../parts/phonemes.mjs').Range} Range
 * @typedef {import('../parts/protocol.mjs').Pronunciation} Pronunciation
 * @typedef {{ ranges: Range[], ids: number[], gap: string }} ReadWord
 * A word, or several that are spoken as one, with the ids of its sounds. `gap`: the text before it.
 * @typedef {{ spoken: ReadWord[], gap: string }} ReadText `gap`: the text after the last word
 * @typedef {(text: string, given?: readonly Pronunciation[]) => ReadText} Read
 * Reads a sentence. `given`: words with given phonemes, in order.
 * @typedef {{ read: Read, phonemes: string }} Reader `phonemes`: the signs of IPA that it reads
 * @typedef {import('../parts/chunks.mjs').Unit & { before: number[], ids: number[], after: number[], ranges: Range[] }} Unit
 * A word, or several that are spoken as one, as ids of the model; `before` and `after` are punctuation.
 */

/**
 * Reads a text as units.
 * @param {string} text
 * @param {import('./voices.mjs').KokoroVoice} voice
 * @param {Read} read
 * @param {readonly Pronunciation[]} pronunciations
 * @returns {Unit[]}
 */
export function unitsOf(text, { language }, read, pronunciations) {
  /** @type {Unit[]} */
  const units = [];
  for (const sentence of wholeSentences(text, language)) {
    const { spoken, gap } = read(sentence.text, givenIn(sentence, pronunciations));
    for (const [index, { ranges, ids, gap: before }] of spoken.entries()) {
      const next = spoken[index + 1];
      const after = next === undefined ? gap : gapInside(next.gap);
      if (ids.length === 0) continue;
      const marks = gapSymbols(index === 0 ? before : gapInside(before)).replace(/^.* /su, '');
      const idsBefore = idsOf(marks);
      const idsAfter = idsOf(gapSymbols(after).replace(/[^ ]*$/u, ''));
      units.push({
        before: idsBefore,
        ids,
        after: idsAfter,
        size: idsBefore.length + ids.length + idsAfter.length,
        break: next === undefined ? breakIn(after) : breakInside(after),
        ranges: ranges.map(({ start, end }) => ({
          start: sentence.start + start,
          end: sentence.start + end,
        })),
      });
    }
    const last = units.at(-1);
    if (sentence.endsParagraph && last !== undefined) last.endsParagraph = true;
  }
  return units;
}

/**
 * Returns the words of a sentence with given phonemes, with their places in the sentence.
 * @param {import('../parts/chunks.mjs').Sentence} sentence
 * @param {readonly Pronunciation[]} pronunciations
 */
function givenIn({ start, text }, pronunciations) {
  const end = start + Array.from(text).length;
  return pronunciations
    .filter((word) => word.start >= start && word.end <= end)
    .map((word) => ({ ...word, start: word.start - start, end: word.end - start }));
}

/**
 * Returns the characters between two words of a sentence, without the full stop of an abbreviation.
 * @param {string} gap
 */
function gapInside(gap) {
  return gap.replace(/(?<!\.)\.(?!\.)/u, '');
}
