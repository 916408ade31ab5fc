import type { Cue, CueLine } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';

/**
 * Formats a time as `hh:mm:ss` and milliseconds.
 * @param ms a whole number of milliseconds
 * @param mark the separator before the milliseconds: comma for SubRip, full stop for WebVTT and TTML
 */
export function timestamp(ms: number, mark: ',' | '.'): string {
  const seconds = ms / 1_000;
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((value) => twoDigits(Math.floor(value)))
    .join(':');
  return `${clock}${mark}${`${ms % 1_000}`.padStart(3, '0')}`;
}

/** Formats a number with at least two digits. */
export function twoDigits(value: number): string {
  return `${value}`.padStart(2, '0');
}

/** Replaces the signs that begin markup in WebVTT and XML by character references. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns the name of a cue's speaker on one line; undefined for a text with one speaker. */
export function speakerName({ speaker }: Cue): string | undefined {
  return speaker?.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}

/**
 * Returns a function that tells, for the words of a cue in order, whether a word begins later than the words before it
 * and than the cue itself, and before the cue ends.
 */
export function laterTimes({ startMs, endMs }: Cue): (ms: number) => boolean {
  let latest = startMs;
  return (ms) => {
    if (ms <= latest || ms >= endMs) return false;
    latest = ms;
    return true;
  };
}

const RIGHT_TO_LEFT_MARK = '\u200f';

/**
 * Adds right-to-left marks to lines of right-to-left text that begin or end with another sign, such as a full stop, a
 * number or a Latin name. Players lay out a line from left to right unless its first letter is from right to left, and
 * show signs at its edge on the wrong side (Unicode Standard Annex 9).
 */
export function withDirectionMarks(cues: readonly Cue[]): readonly Cue[] {
  return cues.map((cue) => {
    const text = cue.lines.map((line) => lineText(line)).join(' ');
    if (!isRightToLeft(text)) return cue;
    return { ...cue, lines: cue.lines.map((line) => markedLine(line)) };
  });
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const RIGHT_TO_LEFT_LETTERS = new RegExp(RIGHT_TO_LEFT.source, 'gu');
const LETTERS = /\p{L}/gu;
const BEGINS = new RegExp(`^${RIGHT_TO_LEFT.source}`, 'u');
// A vowel sign belongs to the letter before it.
const ENDS = new RegExp(String.raw`${RIGHT_TO_LEFT.source}\p{M}*$`, 'u');

// The direction of the whole cue, since a sentence may begin with a Latin name.
function isRightToLeft(text: string): boolean {
  if (!RIGHT_TO_LEFT.test(text)) return false;
  const letters = text.match(LETTERS)?.length ?? 0;
  return 2 * (text.match(RIGHT_TO_LEFT_LETTERS)?.length ?? 0) > letters;
}

function markedLine(line: CueLine): CueLine {
  return line.map((word, index) => {
    const { text } = word;
    const before = index === 0 && !BEGINS.test(text) ? RIGHT_TO_LEFT_MARK : '';
    const after = index === line.length - 1 && !ENDS.test(text) ? RIGHT_TO_LEFT_MARK : '';
    return before + after === '' ? word : { ...word, text: before + text + after };
  });
}
