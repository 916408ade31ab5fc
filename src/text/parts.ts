import { codePointOffset, hasMoreCodePointsThan } from './code-points.ts';
import { endsParagraph, lastEnd, lengthToParagraphEnd, splitSentences } from './sentences.ts';
import type { TextPiece } from './sentences.ts';

/**
 * Splits a text into non-empty parts of at most `limit` code points. Splits after a paragraph if possible, otherwise
 * after a sentence. Splits within a sentence only if the sentence exceeds the limit. Removes white space around the
 * parts, but keeps the line breaks at the end of a paragraph, because they make a voice pause longer. The time is
 * proportional to the length of the text.
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
    parts.push(partOf(text, start, cut, limit));
    start = nextWord(text, cut);
  }
  return withSpeakableEnd(text, parts, limit);
}

function partOf(text: string, start: number, cut: number, limit: number): TextPiece {
  const whole = text.slice(start, cut);
  const withPause = whole.slice(0, lengthToParagraphEnd(whole));
  const part = hasMoreCodePointsThan(withPause, limit) ? whole.trimEnd() : withPause;
  return { text: part, start, end: start + part.length };
}

// Parts are split after a paragraph only if they are longer than this share of the limit.
const PARAGRAPH_PART = 0.7;
// Parts are split after a sentence if they are longer than this share of the limit.
const SENTENCE_PART = 0.5;

function cutOf(text: string, start: number, reach: number, limit: number, breaks: Breaks): number {
  const far = (share: number): number => start + Math.floor((reach - start) * share);
  // White space at the end of a part is removed, so it may exceed the limit.
  const { paragraph, sentence, next } = breaks.within(start, nextWord(text, reach));
  if (paragraph > far(PARAGRAPH_PART)) return paragraph;
  if (sentence > far(SENTENCE_PART)) return sentence;
  // A sentence that does not fit starts the next part, unless it is too long for one part.
  const fitsAlone = !hasMoreCodePointsThan(text.slice(sentence, next).trim(), limit);
  if (sentence > start && fitsAlone) return sentence;
  return cutWithin(text, start, reach);
}

class Breaks {
  readonly #text: string;
  // A text that fits into one part needs no sentences.
  #known: readonly TextPiece[] | undefined;
  #first = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get #sentences(): readonly TextPiece[] {
    return (this.#known ??= splitSentences(this.#text));
  }

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

/** Matches a letter or digit. A voice cannot speak a text that has none. */
export const SPEAKABLE = /[\p{L}\p{N}]/u;

function withSpeakableEnd(text: string, parts: TextPiece[], limit: number): TextPiece[] {
  const last = parts.at(-1);
  const before = parts.at(-2);
  if (last === undefined || before === undefined || SPEAKABLE.test(last.text)) return parts;
  const start = before.start + (splitSentences(before.text).at(-1)?.start ?? 0);
  const joined = text.slice(start, last.end);
  if (start === before.start || hasMoreCodePointsThan(joined, limit)) return parts;
  return [
    ...parts.slice(0, -2),
    partOf(text, before.start, start, limit),
    { text: joined, start, end: last.end },
  ];
}

const NOT_SPACE = /\S/g;

function nextWord(text: string, from: number): number {
  NOT_SPACE.lastIndex = from;
  return NOT_SPACE.exec(text)?.index ?? text.length;
}

/**
 * Returns the index at which to split a sentence that is too long. Prefers the end of the last clause that ends at or
 * before `reach`, then the end of the last word, then of the last grapheme. If there is none, returns `reach`. In
 * scripts without spaces (Chinese, Japanese, Thai), `Intl.Segmenter` finds the words.
 * @param reach the last allowed index; greater than `start`
 */
export function cutWithin(text: string, start: number, reach: number): number {
  // Also look at the text after `reach`: a punctuation mark with its space, a word or a grapheme may continue there.
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

// As a share of the limit.
const SHORTEST_PART = 0.5;

// Ends of clauses, strongest first, and then ends of words. A comma between two digits does not match.
const MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|—|[；：。！？।]/gu,
  /[,)\]][\p{Pf}"']*(?=\s)|[，、،]/gu,
  /\S(?=\s)/gu,
] as const;

// Returns the last boundary at or before `most`; undefined if it is before `shortest`. Does not segment the text before it.
function lastBoundary(
  segmenter: Intl.Segmenter,
  seen: string,
  shortest: number,
  most: number,
): number | undefined {
  const last = segmenter.segment(seen).containing(Math.min(most, seen.length - 1))?.index;
  return last !== undefined && last >= Math.max(shortest, 1) ? last : undefined;
}

const segmenters = new Map<string, Intl.Segmenter>();

function segmenterOf(granularity: 'grapheme' | 'word'): Intl.Segmenter {
  const made = segmenters.get(granularity) ?? new Intl.Segmenter('en', { granularity });
  segmenters.set(granularity, made);
  return made;
}
