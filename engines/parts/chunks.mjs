// Divides a text into sentences, and the sounds of the sentences into chunks for the model.

/** Longer sentences are cut at a space, since espeak-ng limits the length of a text. */
const SENTENCE_MAX_CHARACTERS = 1000;

/** Kinds of break between two units, from weak to strong. */
export const BREAK = { word: 0, comma: 1, clause: 2, sentence: 3 };

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

function cut(characters, from) {
  const limit = from + SENTENCE_MAX_CHARACTERS;
  if (limit >= characters.length) return characters.length;
  const space = characters.lastIndexOf(' ', limit - 1);
  return space > from ? space + 1 : limit;
}

/** Returns the kind of break that the characters between two words of a paragraph mean. */
export function breakIn(gap) {
  if (/[.!?…।]/u.test(gap)) return BREAK.sentence;
  if (/[:;—–]/u.test(gap)) return BREAK.clause;
  return /,/u.test(gap) ? BREAK.comma : BREAK.word;
}

/**
 * Divides units (words with their sounds) into chunks. The first chunk of a longer text is short, so that its
 * speech is heard soon; the others end at the strongest break between the sizes `min` and `max`, or at the end of a
 * paragraph.
 * @template {{ size: number, break: number, endsParagraph?: boolean }} Unit `break`: the kind of break after the unit
 * @param {Unit[]} units
 * @param {{ first: number, min: number, max: number }} sizes
 * @returns {Unit[][]}
 */
export function chunksOf(units, { first, min, max }) {
  const whole = units.reduce((sum, { size }) => sum + size, 0);
  const isOneParagraph = units.slice(0, -1).every(({ endsParagraph }) => endsParagraph !== true);
  if (whole > 0 && whole <= first + min && isOneParagraph) return [units];
  const chunks = [];
  for (let from = 0; from < units.length;) {
    const to = chunks.length === 0 ? firstEnd(units, first, max) : chunkEnd(units, from, min, max);
    chunks.push(units.slice(from, to));
    from = to;
  }
  return chunks;
}

/** The first break of at least a comma after `first` sounds, or an earlier end of a sentence or a paragraph. */
function firstEnd(units, first, max) {
  let size = 0;
  for (const [index, unit] of units.entries()) {
    size += unit.size;
    if (size > max) break;
    const isEnd = unit.endsParagraph === true || unit.break >= BREAK.sentence;
    if (isEnd || (size >= first && unit.break >= BREAK.comma)) return index + 1;
  }
  return chunkEnd(units, 0, first, max);
}

function chunkEnd(units, from, min, max) {
  let size = 0;
  let best = { end: from + 1, strength: -1 };
  for (let index = from; index < units.length; index += 1) {
    size += units[index].size;
    if (size > max) return best.end;
    if (units[index].endsParagraph === true) return index + 1;
    const strength = size < min ? -1 : units[index].break;
    if (strength >= best.strength) best = { end: index + 1, strength };
  }
  return units.length;
}
