import type { TimedToken } from '../captions/time-tokens.ts';
import { timeTokens } from '../captions/time-tokens.ts';
import type { Timings } from '../captions/timings.ts';
import { tokenize } from '../captions/tokens.ts';
import { SPEAKABLE } from '../text/parts.ts';
import { withoutPauses } from '../text/pauses.ts';
import { splitSentences } from '../text/sentences.ts';
import type { Unit } from './mark-units.ts';
import type { Overlay } from './overlay.ts';

/** A spoken text of a document, and its place in the audio of the document. */
export interface PlacedText {
  readonly text: string;
  /** The UTF-16 range of its paragraph in the text of the document. Several texts may have the same paragraph. */
  readonly paragraph: Unit;
  readonly startMs: number;
  /** Word times from the beginning of the text; undefined if only the start is needed. */
  readonly timings: Timings | undefined;
}

/** The units of a document, and the times at which their words are spoken. */
export interface SpokenUnits {
  readonly units: readonly Unit[];
  /** Returns the time in milliseconds of the word at, or else after, a position in the text of the document. */
  readonly timeAt: (position: number) => number;
}

/**
 * Finds the sentences, paragraphs or words of a document that are spoken.
 * @param document the text of the document, with pause marks
 * @param texts the spoken texts in order, with their white space merged
 */
export function spokenUnits(
  document: string,
  texts: readonly PlacedText[],
  overlay: Overlay,
): SpokenUnits {
  const written = withoutPauses(document);
  const units: Unit[] = [];
  const times: { readonly end: number; readonly ms: number }[] = [];
  let done = 0;
  for (const { paragraph, startMs, text, timings } of texts) {
    const isNext = done <= paragraph.start;
    const place = placeOf(written, text, Math.max(done, paragraph.start));
    const whole = { start: place(0), end: place(text.length - 1) + 1 };
    done = whole.end;
    const tokens = timings === undefined ? [] : timeTokens(tokenize(text), { ...timings, text });
    if (timings === undefined) times.push({ end: whole.end, ms: startMs });
    for (const { end, startMs: tokenMs } of tokens) {
      times.push({ end: place(end - 1) + 1, ms: startMs + tokenMs });
    }
    if (overlay === 'paragraph') {
      const last = isNext ? undefined : units.pop();
      units.push({ start: last?.start ?? whole.start, end: whole.end });
    } else if (overlay === 'sentence') units.push(...sentencesIn(written, whole));
    else units.push(...wordsIn(tokens, place));
  }
  return {
    units,
    timeAt: (position) => (times[firstAfter(times, position)] ?? times.at(-1))?.ms ?? 0,
  };
}

// Returns a function that converts an index in a text with merged white space to a position in the document.
function placeOf(document: string, text: string, from: number): (index: number) => number {
  const words: { readonly index: number; readonly at: number }[] = [];
  let at = from;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const found = document.indexOf(word, at);
    if (found === -1) continue;
    words.push({ index, at: found });
    at = found + word.length;
  }
  return (index) => {
    let [low, high] = [0, words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((words[middle]?.index ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    const word = words[low - 1];
    return word === undefined ? from : word.at + index - word.index;
  };
}

// In the document, unlike in the spoken text, items of lists and rows of tables are lines of their own.
function sentencesIn(document: string, { end, start }: Unit): readonly Unit[] {
  return splitSentences(document.slice(start, end)).flatMap((sentence) => {
    const text = sentence.text.trim();
    const from = start + sentence.start + sentence.text.indexOf(text);
    return text === '' ? [] : [{ start: from, end: from + text.length }];
  });
}

function wordsIn(tokens: readonly TimedToken[], place: (index: number) => number): readonly Unit[] {
  const spoken = tokens.filter(({ text }) => SPEAKABLE.test(text));
  return spoken.map(({ end, start }) => ({ start: place(start), end: place(end - 1) + 1 }));
}

function firstAfter(times: readonly { readonly end: number }[], position: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle]?.end ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
