// Divides a text into sentences, and the sounds of the sentences into chunks for the model.

/** Longer sentences are cut at a space, since espeak-ng limits the length of a text. */
const SENTENCE_MAX_CHARACTERS = 1000;

/** Kinds of break between two units, from weak to strong. */
export const BREAK = /** @type {const} */ ({ word: 0, comma: 1, clause: 2, sentence: 3 });

/** @typedef {(typeof BREAK)[keyof typeof BREAK]} Break */

/**
 * @typedef {{ text: string, start: number, endsParagraph: boolean }} Sentence `start` counts code points
 * @typedef {{ size: number, break: Break, endsParagraph?: boolean }} Unit
 * A word with its sounds; `break`: the kind of break after the unit.
 * @typedef {{ first: number, min: number, max: number }} Sizes
 */

/**
 * Divides a text into sentences that hold a word or mark, and joins those that were divided after an abbreviation or
 * before the "she asked" of a quotation. A single line feed is a space.
 * @param {string} text
 * @param {string} language as a BCP 47 code
 * @returns {Sentence[]}
 */
export function wholeSentences(text, language) {
  /** @type {Sentence[]} */
  const sentences = [];
  for (const { text: part, start } of sentencesOf(joinedLines(text), language)) {
    const last = sentences.at(-1);
    if (part.trim() === '') {
      if (last !== undefined && part.includes('\n')) last.endsParagraph = true;
    } else if (last !== undefined && goesOn(last, part, language)) last.text += part;
    else sentences.push({ text: part, start, endsParagraph: false });
  }
  return sentences;
}

/** Joined sentences stay below the limit of espeak-ng. */
const MAX_JOINED = 500;

const TITLES = 'Avv|Dott|Dott\\.ssa|Dra?|Ing|Mlle|Mme|Mrs?|Ms|Prof|Sig|Sig\\.ra|Sra|Srta';

/** The end of `z.` or `Mme.`, which is no end of a sentence. */
const TITLE = new RegExp(`(?:^|[\\s.("'“‘«])(?:\\p{L}|${TITLES})\\.\\s*$`, 'u');

/** `Sr. García`, where the title is not a part of the name as in `Jones Sr.` */
const SENIOR = /\bSr\.\s*$/u;

/** `3.` as in `3. Oktober`. */
const ORDINAL = /(?:^|[\s.])\p{N}{1,2}\.\s*$/u;

/** Languages that write no full stop after an ordinal number. */
const WITHOUT_ORDINALS = /^(?:en|es|fr|hi|it|pt)\b/;

/** `"Who are you?"`, with a closed quotation. */
const QUOTED = /[.!?…]["'”’»›)]+\s*$/u;

/**
 * @param {Sentence} sentence
 * @param {string} next
 * @param {string} language
 */
function goesOn({ text, endsParagraph }, next, language) {
  if (endsParagraph || text.length >= MAX_JOINED) return false;
  if (TITLE.test(text)) return true;
  if (SENIOR.test(text)) return !/^en\b/.test(language);
  if (ORDINAL.test(text)) return !WITHOUT_ORDINALS.test(language);
  return QUOTED.test(text) && /^\p{Ll}/u.test(next);
}

/**
 * Replaces single line feeds by spaces. Empty lines remain: they end paragraphs.
 * @param {string} text
 */
function joinedLines(text) {
  return text.replaceAll(/\s+/g, (gap) =>
    gap.split('\n').length === 2 ? gap.replace('\n', ' ') : gap,
  );
}

/**
 * Divides a text into sentences.
 * @param {string} text
 * @param {string} language as a BCP 47 code
 * @returns {{ text: string, start: number }[]} `start` counts code points
 */
export function sentencesOf(text, language) {
  const sentences = [];
  let start = 0;
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(
    text,
  )) {
    const characters = Array.from(segment);
    for (let from = 0; from < characters.length;) {
      const to = cut(characters, from);
      sentences.push({ text: characters.slice(from, to).join(''), start: start + from });
      from = to;
    }
    start += characters.length;
  }
  return sentences;
}

/**
 * @param {string[]} characters
 * @param {number} from
 */
function cut(characters, from) {
  const limit = from + SENTENCE_MAX_CHARACTERS;
  if (limit >= characters.length) return characters.length;
  const space = characters.lastIndexOf(' ', limit - 1);
  return space > from ? space + 1 : limit;
}

/**
 * Returns the kind of break that the characters between two words of a paragraph mean.
 * @param {string} gap
 * @returns {Break}
 */
export function breakIn(gap) {
  if (/[.!?…।]/u.test(gap)) return BREAK.sentence;
  if (/[:;—–]/u.test(gap)) return BREAK.clause;
  return /,/u.test(gap) ? BREAK.comma : BREAK.word;
}

/**
 * Returns the kind of break that the characters between two words of one sentence mean.
 * @param {string} gap
 * @returns {Break}
 */
export function breakInside(gap) {
  // A period inside a sentence is part of an abbreviation.
  const marks = gap.replace(/(?<!\.)\.(?!\.)/gu, '');
  // "Who are you?" she asked.
  if (/[!?]/u.test(marks)) return BREAK.comma;
  const kind = breakIn(marks);
  return kind === BREAK.sentence ? BREAK.clause : kind;
}

/**
 * Divides units (words with their sounds) into chunks.
 * @template {Unit} OneUnit
 * @param {OneUnit[]} units
 * @param {Sizes} sizes
 * @returns {OneUnit[][]}
 */
export function chunksOf(units, sizes) {
  const chunks = [];
  for (let from = 0; from < units.length;) {
    const to = chunkEnd(units, from, sizes);
    chunks.push(units.slice(from, to));
    from = to;
  }
  return chunks;
}

/**
 * Returns the end of the chunk that starts at the unit `from`. The first chunk of a longer text is short, so that its
 * speech is heard soon; the others end at the strongest break between the sizes `min` and `max`, or at the end of a
 * paragraph.
 * @param {readonly Unit[]} units
 * @param {number} from
 * @param {Sizes} sizes
 */
export function chunkEnd(units, from, { first, min, max }) {
  if (from > 0) return strongestEnd(units, from, min, max);
  const whole = units.reduce((sum, { size }) => sum + size, 0);
  const isOneParagraph = units.slice(0, -1).every(({ endsParagraph }) => endsParagraph !== true);
  if (whole > 0 && whole <= first + min && isOneParagraph) return units.length;
  return firstEnd(units, first, max);
}

/**
 * The first break of at least a comma after `first` sounds, or an earlier end of a sentence or a paragraph.
 * @param {readonly Unit[]} units
 * @param {number} first
 * @param {number} max
 */
function firstEnd(units, first, max) {
  let size = 0;
  for (const [index, unit] of units.entries()) {
    size += unit.size;
    if (size > max) break;
    const isEnd = unit.endsParagraph === true || unit.break >= BREAK.sentence;
    if (isEnd || (size >= first && unit.break >= BREAK.comma)) return index + 1;
  }
  return strongestEnd(units, 0, first, max);
}

/**
 * @param {readonly Unit[]} units
 * @param {number} from
 * @param {number} min
 * @param {number} max
 */
function strongestEnd(units, from, min, max) {
  let size = 0;
  let best = { end: from + 1, strength: -1 };
  for (let index = from; ; index += 1) {
    const unit = units[index];
    if (unit === undefined) return units.length;
    size += unit.size;
    if (size > max) return best.end;
    if (unit.endsParagraph === true) return index + 1;
    const strength = size < min ? -1 : unit.break;
    if (strength >= best.strength) best = { end: index + 1, strength };
  }
}
