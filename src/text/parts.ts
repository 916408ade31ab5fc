import { codePointOffset, hasMoreCodePointsThan } from './code-points.ts';
import { endsParagraph, lastEnd, splitSentences } from './sentences.ts';
import type { TextPiece } from './sentences.ts';

/**
 * Splits a text into parts of at most `limit` code points: after a paragraph, else after a sentence. Splits a
 * sentence only if it is longer than the limit: after a clause, else between words, graphemes or code points.
 * Drops the white space around parts; no part is empty. Takes time linear in the text.
 * @throws RangeError if `limit` is not an integer of at least 1
 */
export function splitParts(text: string, limit: number): TextPiece[] {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError(`limit must be an integer of at least 1, not ${limit}.`);
  }
  const parts: TextPiece[] = [];
  const breaks = new Breaks(text);
  const end = text.trimEnd().length;
  let start = nextWord(text, 0);
  while (start < end) {
    const reach = codePointOffset(text, limit, start);
    const cut = reach >= end ? end : cutOf(text, start, reach, limit, breaks);
    const part = text.slice(start, cut).trimEnd();
    parts.push({ text: part, start, end: start + part.length });
    start = nextWord(text, cut);
  }
  return withSpeakableEnd(text, parts, limit);
}

/** Minimum length of a part that ends with a paragraph or a sentence, as a share of the maximum. */
const PARAGRAPH_PART = 0.7;
const SENTENCE_PART = 0.5;

function cutOf(text: string, start: number, reach: number, limit: number, breaks: Breaks): number {
  const far = (share: number): number => start + Math.floor((reach - start) * share);
  // White space at the end is not part of the part.
  const { paragraph, sentence, next } = breaks.within(start, nextWord(text, reach));
  if (paragraph > far(PARAGRAPH_PART)) return paragraph;
  if (sentence > far(SENTENCE_PART)) return sentence;
  // A sentence that does not fit begins the next part, unless it is longer than a part.
  const fitsAlone = !hasMoreCodePointsThan(text.slice(sentence, next).trim(), limit);
  if (sentence > start && fitsAlone) return sentence;
  return cutWithin(text, start, reach);
}

/** The ends of sentences and paragraphs; must be queried with increasing positions. */
class Breaks {
  readonly #sentences: readonly TextPiece[];
  /** Index of the first sentence that ends after the last `start`. */
  #first = 0;

  constructor(text: string) {
    this.#sentences = splitSentences(text);
  }

  /** Returns the last ends of a paragraph and a sentence in the range, else `start`, and the next sentence's end. */
  within(start: number, reach: number): { paragraph: number; sentence: number; next: number } {
    while ((this.#sentences[this.#first]?.end ?? Infinity) <= start) this.#first += 1;
    let paragraph = start;
    let sentence = start;
    for (let at = this.#first; ; at += 1) {
      const one = this.#sentences[at];
      if (one === undefined || one.end > reach) {
        return { paragraph, sentence, next: one?.end ?? reach };
      }
      sentence = one.end;
      if (endsParagraph(one.text)) paragraph = one.end;
    }
  }
}

const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Moves the last sentence to a last part without letters (such as `***`), which no voice could speak alone. */
function withSpeakableEnd(text: string, parts: TextPiece[], limit: number): TextPiece[] {
  const last = parts.at(-1);
  const before = parts.at(-2);
  if (last === undefined || before === undefined || SPEAKABLE.test(last.text)) return parts;
  const start = before.start + (splitSentences(before.text).at(-1)?.start ?? 0);
  const joined = text.slice(start, last.end);
  if (start === before.start || hasMoreCodePointsThan(joined, limit)) return parts;
  const rest = text.slice(before.start, start).trimEnd();
  return [
    ...parts.slice(0, -2),
    { text: rest, start: before.start, end: before.start + rest.length },
    { text: joined, start, end: last.end },
  ];
}

const NOT_SPACE = /\S/g;

function nextWord(text: string, from: number): number {
  NOT_SPACE.lastIndex = from;
  return NOT_SPACE.exec(text)?.index ?? text.length;
}

/**
 * Returns where to split a sentence that is too long: the last end of a clause, else of a word, else of a
 * grapheme, else `reach`. `Intl.Segmenter` finds words in scripts without spaces (Chinese, Japanese, Thai).
 * @param reach the last allowed index, after `start`
 */
export function cutWithin(text: string, start: number, reach: number): number {
  // Includes text after `reach`, where a mark with its space, a word or a grapheme may continue.
  const seen = text.slice(start, reach + LOOK_AHEAD);
  const shortest = Math.floor((reach - start) * SHORTEST_PART);
  const most = reach - start;
  const cut =
    MARKS.map((mark) => lastEnd(seen, mark, shortest + 1, most)).find((end) => end !== undefined) ??
    lastBoundary(segmenterOf('word'), seen, shortest, most) ??
    lastBoundary(segmenterOf('grapheme'), seen, 1, most) ??
    most;
  return start + cut;
}

const LOOK_AHEAD = 64;

/** Minimum length of a part that ends within a sentence, as a share of the maximum. */
const SHORTEST_PART = 0.5;

/** Ends of clauses, strongest first, then of words; a comma between digits does not match. */
const MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|—|[；：。！？।]/gu,
  /[,)\]][\p{Pf}"']*(?=\s)|[，、،]/gu,
  /\S(?=\s)/gu,
] as const;

/** Returns the last index between two segments, from `shortest` to `most`. */
function lastBoundary(
  segmenter: Intl.Segmenter,
  seen: string,
  shortest: number,
  most: number,
): number | undefined {
  let last: number | undefined;
  for (const { index } of segmenter.segment(seen)) {
    if (index > most) break;
    if (index >= Math.max(shortest, 1)) last = index;
  }
  return last;
}

const segmenters = new Map<string, Intl.Segmenter>();

/** Returns a segmenter, created on first use because that is slow. */
function segmenterOf(granularity: 'grapheme' | 'word'): Intl.Segmenter {
  const made = segmenters.get(granularity) ?? new Intl.Segmenter('en', { granularity });
  segmenters.set(granularity, made);
  return made;
}
