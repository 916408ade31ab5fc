import { codePointOffset, hasMoreCodePointsThan } from './code-points.ts';
import { endsParagraph, splitSentences } from './sentences.ts';
import type { TextPiece } from './sentences.ts';

/**
 * Cuts a text into parts of at most `limit` code points, to be spoken one by one: where a paragraph
 * ends, else where a sentence does. Only a sentence that is longer than the limit is cut itself: at a
 * clause, else between words, else between what a reader sees as letters, else anywhere but inside of
 * a pair of surrogates.
 *
 * The white space between two parts is left out, and so is that around the whole: what is left of the
 * text is in the parts, unchanged and in order. No part is empty or has nothing but white space. Takes
 * time linear in the text.
 *
 * @param limit the longest text that is taken, in code points
 * @throws RangeError when `limit` is not an integer of at least 1
 */
export function splitParts(text: string, limit: number): TextPiece[] {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError(`limit must be an integer of at least 1, not ${limit}.`);
  }
  const parts: TextPiece[] = [];
  const breaks = new Breaks(text);
  const end = trimmedEnd(text);
  let start = nextWord(text, 0);
  while (start < end) {
    const reach = codePointOffset(text, limit, start);
    const cut = reach >= end ? end : cutOf(text, { start, reach, limit }, breaks);
    const part = text.slice(start, cut).trimEnd();
    parts.push({ text: part, start, end: start + part.length });
    start = nextWord(text, cut);
  }
  return withSpeakableEnd(text, parts, limit);
}

/** A part that ends with a paragraph is at least so much of the longest, and with a sentence. */
const PARAGRAPH_PART = 0.7;
const SENTENCE_PART = 0.5;

interface Window {
  readonly start: number;
  /** As far as the part may go. */
  readonly reach: number;
  /** In code points. */
  readonly limit: number;
}

function cutOf(text: string, window: Window, breaks: Breaks): number {
  const { start, reach, limit } = window;
  const far = (share: number): number => start + Math.floor((reach - start) * share);
  const { paragraph, sentence, next } = breaks.within(start, endWithSpace(text, reach));
  if (paragraph > far(PARAGRAPH_PART)) return paragraph;
  if (sentence > far(SENTENCE_PART)) return sentence;
  // The sentence that does not fit begins the next part, unless it does not fit there either.
  const fitsAlone = !hasMoreCodePointsThan(text.slice(sentence, next).trim(), limit);
  if (sentence > start && fitsAlone) return sentence;
  return cutWithin(text, start, reach);
}

/** White space at the end of a part is not in it, so that it may lie behind what fits. */
function endWithSpace(text: string, reach: number): number {
  return nextWord(text, reach);
}

/** The ends of sentences, asked for from the beginning of the text to its end. */
class Breaks {
  readonly #sentences: readonly TextPiece[];
  /** The first sentence that ends behind the last start asked for. */
  #first = 0;

  constructor(text: string) {
    this.#sentences = splitSentences(text);
  }

  /**
   * The last end of a paragraph and of a sentence behind `start` and not behind `reach`, `start` where
   * there is none, and where the sentence ends that comes then.
   */
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

/**
 * A last part of signs alone (three stars, a row of dots) is nothing that a voice can say: it takes the
 * last sentence of the part before it, where that fits.
 */
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

function trimmedEnd(text: string): number {
  return text.trimEnd().length;
}

/**
 * Where a sentence that is too long is cut: after a clause, between words, between letters. The
 * segmenters of `Intl` know words where no spaces are (Chinese, Japanese, Thai) and what is one letter.
 * They are made when they are needed, for to make one takes long.
 *
 * @param reach the last place that is allowed, behind `start`
 * @returns the last place of the best kind, or `reach`
 */
export function cutWithin(text: string, start: number, reach: number): number {
  // Looks beyond, since a mark and its space, a word or a letter may go on there.
  const seen = text.slice(start, reach + LOOK_AHEAD);
  const shortest = Math.floor((reach - start) * SHORTEST_PART);
  const most = reach - start;
  const cut =
    lastMark(seen, shortest, most) ??
    lastBoundary(words(), seen, shortest, most) ??
    lastBoundary(graphemes(), seen, 1, most) ??
    most;
  return start + cut;
}

const LOOK_AHEAD = 64;

/** A part that ends within a sentence is at least so much of the longest. */
const SHORTEST_PART = 0.5;

/** What ends a clause, strongest first; a comma between digits ends none. Then space between words. */
const MARKS = [
  /[.!?…;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|—|[；：。！？।]/gu,
  /[,)\]][\p{Pf}"']*(?=\s)|[，、،]/gu,
  /\S(?=\s)/gu,
] as const;

function lastMark(seen: string, shortest: number, most: number): number | undefined {
  for (const mark of MARKS) {
    let last: number | undefined;
    for (const match of seen.matchAll(mark)) {
      const end = match.index + match[0].length;
      if (end > most) break;
      if (end > shortest) last = end;
    }
    if (last !== undefined) return last;
  }
  return undefined;
}

/** The last place between two segments. */
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

let wordSegmenter: Intl.Segmenter | undefined;
let graphemeSegmenter: Intl.Segmenter | undefined;

function words(): Intl.Segmenter {
  return (wordSegmenter ??= new Intl.Segmenter('en', { granularity: 'word' }));
}

function graphemes(): Intl.Segmenter {
  return (graphemeSegmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' }));
}
