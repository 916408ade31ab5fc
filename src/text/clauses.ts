import { splitSentences, type TextPiece } from './sentences.ts';

/**
 * Cuts a text into sentences, and sentences longer than `maxLength` UTF-16 units into pieces that
 * are not: after a clause where there is one, else between words, else anywhere but within a
 * character. Nothing is lost or added, no piece is empty, and no tiny one is left at the end.
 *
 * @throws RangeError when `maxLength` is not an integer of at least 2
 */
export function splitClauses(text: string, maxLength: number): TextPiece[] {
  if (!Number.isInteger(maxLength) || maxLength < 2) {
    throw new RangeError(`maxLength must be an integer of at least 2, not ${maxLength}.`);
  }
  return splitSentences(text).flatMap((sentence) => cutSentence(sentence, maxLength));
}

/** Marks after which a pause is natural, strongest first; a comma between digits is no pause. */
const CLAUSE_MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*\s+|\s[-–—]+\s+|—|[；：。！？]/gu,
  /[,)\]][\p{Pf}"']*\s+|[，、]/gu,
  /\s+/g,
] as const;

/** Where a piece may end at the earliest, as a part of the longest: no stutter of tiny pieces. */
const SHORTEST_PART = 0.4;

function cutSentence(sentence: TextPiece, maxLength: number): TextPiece[] {
  const pieces: TextPiece[] = [];
  let start = 0;
  while (start < sentence.text.length) {
    const length = nextLength(sentence.text.slice(start, start + 2 * maxLength), maxLength);
    const end = start + length;
    pieces.push({
      text: sentence.text.slice(start, end),
      start: sentence.start + start,
      end: sentence.start + end,
    });
    start = end;
  }
  return pieces;
}

/** @param rest what is left of the sentence; twice the longest piece of it will do */
function nextLength(rest: string, maxLength: number): number {
  if (rest.length <= maxLength) return rest.length;
  const shortest = Math.max(1, Math.floor(maxLength * SHORTEST_PART));
  const longest = Math.min(maxLength, rest.length - shortest);
  const window = rest.slice(0, maxLength);
  for (const mark of CLAUSE_MARKS) {
    const end = lastEnd(window, mark, shortest, longest);
    if (end !== undefined) return end;
  }
  return lastEnd(window, /\s+/g, 1, maxLength) ?? withoutHalfCharacter(rest, maxLength);
}

/** The end of the last match that ends within the bounds. */
function lastEnd(
  text: string,
  pattern: RegExp,
  shortest: number,
  longest: number,
): number | undefined {
  let last: number | undefined;
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end > longest) break;
    if (end >= shortest) last = end;
  }
  return last;
}

function withoutHalfCharacter(text: string, length: number): number {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(length - 1, length + 1))
    ? length - 1
    : length;
}
