import { countCodePoints } from '../text/code-points.ts';
import type { PlacedWords } from './align-words.ts';
import type { ReferenceWord } from './measure-sound.ts';

/** A word of the text. The times are undefined if the word was not found in the recording. */
export interface TextWord {
  readonly text: string;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** Confidence in the times: from 0 (the word was not found) to 1. */
  readonly confidence: number;
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/**
 * Returns all words of a text in order. A word that the reference speech does not contain counts as not found.
 * @param words the words of the reference speech
 * @param placed for each of `words`, its time in the recording
 */
export function textWords(
  text: string,
  words: readonly ReferenceWord[],
  placed: PlacedWords,
): readonly TextWord[] {
  const characters = Array.from(text);
  const rows: TextWord[] = [];
  let next = 0;
  const addUntil = (end: number): void => {
    for (let word = words[next]; word !== undefined && word.start < end; word = words[next]) {
      const place = placed[next];
      rows.push({
        text: characters.slice(word.start, word.end).join(''),
        startMs: place?.startMs,
        endMs: place?.endMs,
        confidence: place?.confidence ?? 0,
      });
      next += 1;
    }
  };
  let units = 0;
  let points = 0;
  for (const { 0: written, index } of text.matchAll(/\S+/g)) {
    const start = points + countCodePoints(text.slice(units, index));
    points = start + countCodePoints(written);
    units = index + written.length;
    const isSpoken = next > 0 && (words[next - 1]?.end ?? 0) > start;
    const before = next;
    addUntil(points);
    if (next > before || isSpoken || !HAS_WORD.test(written)) continue;
    rows.push({ text: written, startMs: undefined, endMs: undefined, confidence: 0 });
  }
  addUntil(Infinity);
  return rows;
}

/** Returns the mean confidence of the words, or 0 if there are none. */
export function meanConfidence(words: readonly TextWord[]): number {
  const sum = words.reduce((total, { confidence }) => total + confidence, 0);
  return words.length === 0 ? 0 : sum / words.length;
}
