// Converts a text to the symbols that a Piper model reads.

import { BREAK, breakInside, chunksOf, wholeSentences } from '../parts/chunks.mjs';

/** Symbols around a text and after each of its symbols. */
const FRAME = { start: '^', end: '$', pad: '_' };

/** Symbols of a chunk: a sentence, or a part of a long one. */
const CHUNK_SYMBOLS = { first: 150, min: 150, max: 300 };

/** A sound has one to three symbols. */
const MAX_SOUNDS = 100;

/** Marks of other scripts, and marks that the models do not know. */
const MARKS = new Map(Object.entries({ '。': '.', '।': '.', '؟': '?', '？': '?', '！': '!' }));
const PAUSES = new Map(
  Object.entries({ '،': ',', '，': ',', '、': ',', '—': ',', '–': ',', '…': ',' }),
);

/**
 * @typedef {import('../parts/phonemes.mjs').Range} Range
 * @typedef {import('../parts/phonemes.mjs').Spoken} Spoken
 * @typedef {import('../parts/chunks.mjs').Unit & { ranges: Range[], sounds: string[][], after: string }} Unit
 * A word, or a part of a long one. `sounds`: the symbols of each sound; `after`: the text to the next word.
 * @typedef {{ ranges: Range[], starts: number[], end: number }} PlacedWord
 * One word, or several that are spoken as one. `starts`: for each of its sounds, the index of its first
 * id; `end`: the index after its last id.
 * @typedef {{ ids: number[], words: PlacedWord[], end: 'part' | 'sentence' | 'paragraph' }} Chunk
 */

/**
 * Yields the parts of a text that are spoken in one run of the model: its sentences, and parts of long
 * sentences. Yields nothing if the voice can speak no part of the text.
 * @param {string} text
 * @param {import('./voices.mjs').PiperVoice} voice
 * @param {import('../parts/phonemes.mjs').Phonemize} phonemize
 * @returns {Generator<Chunk>}
 */
export function* chunksOfText(text, voice, phonemize) {
  /** @param {string} part */
  const read = (part) =>
    voice.symbolType === 'text' ? lettersOf(part) : phonemize(part, voice.espeakVoice);
  for (const sentence of wholeSentences(readable(text, voice.scripts), voice.language)) {
    const { spoken, gap } = read(sentence.text);
    const units = spoken.flatMap((word, index) => unitsOf(word, spoken[index + 1]?.gap ?? gap));
    const chunks = chunksOf(units, CHUNK_SYMBOLS);
    for (const [index, chunk] of chunks.entries()) {
      const isLast = index === chunks.length - 1;
      const placed = place(chunk, isLast, voice.symbols);
      if (placed.words.length === 0) continue;
      const end = !isLast ? 'part' : sentence.endsParagraph ? 'paragraph' : 'sentence';
      yield { ...placed, words: movedBy(sentence.start, placed.words), end };
    }
  }
}

/**
 * Replaces the letters of scripts that the voice does not read by spaces.
 * @param {string} text
 * @param {readonly string[] | undefined} scripts
 */
function readable(text, scripts) {
  if (scripts === undefined) return text;
  const own = [...scripts, 'Zyyy', 'Zinh'].map((script) => `\\p{Script=${script}}`).join('');
  const foreign = new RegExp(`(?![${own}])[\\p{L}\\p{N}]`, 'gu');
  return text.replaceAll(foreign, ' ');
}

/**
 * Reads a text as letters, in the form that {@link Phonemize} has.
 * @param {string} text
 */
function lettersOf(text) {
  const characters = Array.from(text);
  /** @type {Spoken[]} */
  const spoken = [];
  let last = 0;
  for (let start = 0; start < characters.length; start += 1) {
    if (!/[\p{L}\p{N}]/u.test(characters[start] ?? '')) continue;
    let end = start + 1;
    while (/[\p{L}\p{N}\p{M}'’-]/u.test(characters[end] ?? '')) end += 1;
    const phonemes = characters.slice(start, end).map((one) => one.toLowerCase());
    const gap = characters.slice(last, start).join('');
    spoken.push({ ranges: [{ start, end }], phonemes, gap });
    last = end;
    start = end;
  }
  return { spoken, gap: characters.slice(last).join('') };
}

/**
 * Divides a word with too many sounds for one chunk, such as a very long number. The first part has its range.
 * @param {Spoken} word
 * @param {string} gap
 */
function unitsOf({ ranges, phonemes }, gap) {
  /** @type {Unit[]} */
  const units = [];
  for (let from = 0; from < phonemes.length; from += MAX_SOUNDS) {
    const isEnd = from + MAX_SOUNDS >= phonemes.length;
    const sounds = phonemes
      .slice(from, from + MAX_SOUNDS)
      .map((sound) => Array.from(sound.normalize('NFD')));
    units.push({
      ranges: from === 0 ? ranges : [],
      sounds,
      size: sounds.flat().length + 1,
      after: isEnd ? gap : '',
      break: isEnd ? breakInside(gap) : BREAK.word,
    });
  }
  return units;
}

/**
 * @param {readonly Unit[]} units
 * @param {boolean} isLast
 * @param {import('./voices.mjs').PiperVoice['symbols']} symbols
 */
function place(units, isLast, symbols) {
  /** @type {number[]} */
  const ids = [];
  /** @param {string} symbol */
  const push = (symbol) => {
    const known = symbols.get(symbol);
    if (known !== undefined) ids.push(...known, ...(symbols.get(FRAME.pad) ?? []));
    return known !== undefined;
  };
  push(FRAME.start);
  /** @type {PlacedWord[]} */
  const words = [];
  /** @type {number | undefined} */
  let space;
  for (const [index, { ranges, sounds, after }] of units.entries()) {
    /** @type {number[]} */
    const starts = [];
    for (const sound of sounds) {
      const start = ids.length;
      if (sound.filter(push).length > 0) starts.push(start);
    }
    // Without a pause, a word is heard from the space before it.
    if (starts.length > 0 && space !== undefined) starts[0] = space;
    // A word without a sound is spoken together with its neighbor.
    if (starts.length > 0) words.push({ ranges: [...ranges], starts, end: ids.length });
    else words.at(-1)?.ranges.push(...ranges);
    const isEnd = isLast && index === units.length - 1;
    const mark = isEnd ? endMark(after) : pauseMark(after);
    if (mark !== undefined) push(mark);
    space = mark === undefined ? ids.length : undefined;
    if (index < units.length - 1) push(' ');
  }
  ids.push(...(symbols.get(FRAME.end) ?? []));
  return { ids, words };
}

/** @param {string} gap */
function endMark(gap) {
  const marks = Array.from(gap, (one) => MARKS.get(one) ?? one);
  return marks.find((mark) => '.?!'.includes(mark)) ?? '.';
}

/** @param {string} gap */
function pauseMark(gap) {
  const marks = Array.from(gap, (one) => PAUSES.get(one) ?? MARKS.get(one) ?? one);
  const mark = marks.find((one) => ',:;?!'.includes(one));
  return mark ?? (/\.\.|\s-+\s/.test(gap) ? ',' : undefined);
}

/**
 * @param {number} offset
 * @param {readonly PlacedWord[]} words
 */
function movedBy(offset, words) {
  return words.map(({ ranges, ...word }) => ({
    ...word,
    ranges: ranges.map(({ start, end }) => ({ start: start + offset, end: end + offset })),
  }));
}
