import { codePointOffset, countCodePoints } from './code-points.ts';
import { PAUSE_MAX_MS } from '../contract/recording-limits.ts';
import type { Edit, Pause, PausedText, SpokenText } from './document.ts';
import { plainText, replaceSpoken, withWritten, writtenEdits } from './document.ts';
import { durationMs } from './duration.ts';
import { SPEAKABLE, splitParts } from './parts.ts';
import type { TextPiece } from './sentences.ts';

/** Thrown for an invalid pause mark in a text. */
export class PauseError extends Error {
  override readonly name = 'PauseError';
  /** Line number of the invalid pause mark, from 1. `column` is its position in the line, in code points from 1. */
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, index: number) {
    super(message);
    const before = text.slice(0, index);
    this.line = before.split('\n').length;
    this.column = countCodePoints(before.slice(before.lastIndexOf('\n') + 1)) + 1;
  }
}

/** Hint about the allowed form and length of a pause mark, for error messages. */
export const PAUSE_HINT = 'Write [pause 800ms] or [pause 1.5s]; a pause has at most 60s.';

// A pause mark with the white space after it, or the beginning of a mark that is not closed.
const MARK = /\[[ \t]*pause(?![\p{L}\p{N}_])([^[\]\n]*)(\]?)[ \t]*/giu;
const LENGTH = /^\d+(?:\.\d+)?m?s$/i;

/**
 * Converts pause marks, such as `[pause 800ms]`, to pauses. Ignores marks in a spoken form that replaces written text.
 * @throws PauseError if a mark is not closed, or if its length is invalid or exceeds 60 s
 */
export function readPauses(source: SpokenText): SpokenText {
  const { text } = source;
  const cuts: Mark[] = [];
  let [index, at, next] = [0, 0, 0];
  for (const match of text.matchAll(MARK)) {
    const [mark, length = '', end] = match;
    at += countCodePoints(text.slice(index, match.index));
    const start = at;
    at += countCodePoints(mark);
    index = match.index + mark.length;
    while ((source.replaced[next]?.spoken.end ?? Infinity) <= start) next += 1;
    if ((source.replaced[next]?.spoken.start ?? Infinity) < at) continue;
    const ms = lengthOf({ mark: mark.trim(), length, isClosed: end !== '' }, text, match.index);
    // One white space stays between the words around a mark.
    const isFirst = cuts.at(-1)?.end !== start;
    const joinsWords =
      isFirst && /\S/.test(text.charAt(match.index - 1)) && /\S/.test(text.charAt(index));
    cuts.push({ start, end: at, insert: joinsWords ? ' ' : '', ms });
  }
  return cuts.length === 0 ? source : withoutMarks(source, cuts);
}

/** Replaces the pause marks of a text by spaces, so that all positions stay the same. */
export function withoutPauses(text: string): string {
  return text.replaceAll(MARK, (mark) => ' '.repeat(mark.length));
}

function lengthOf(
  { isClosed, length, mark }: { mark: string; length: string; isClosed: boolean },
  text: string,
  index: number,
): number {
  if (!isClosed) throw new PauseError(`the pause "${mark}" is not closed`, text, index);
  const ms = LENGTH.test(length.trim()) ? durationMs(length.trim().toLowerCase()) : undefined;
  if (ms === undefined)
    throw new PauseError(`the pause "${mark}" has no valid length`, text, index);
  if (ms > PAUSE_MAX_MS) throw new PauseError(`the pause "${mark}" is too long`, text, index);
  return ms;
}

/** A mark in a text, and the pause or the voice for which it stands. */
export interface Mark extends Edit, Omit<Pause, 'at'> {}

/** Removes marks from a text, in order, and adds a pause for each. */
export function withoutMarks(source: SpokenText, cuts: readonly Mark[]): SpokenText {
  // Passes the ends of marks and replacements as pauses, because `replaceSpoken` updates the positions of pauses.
  const edits = writtenEdits(source);
  const points = [
    ...source.pauses,
    ...cuts.map(({ end, ms, voice }): Pause => {
      return { at: end, ms, ...(voice === undefined ? {} : { voice }) };
    }),
  ].filter(({ ms, voice }) => ms > 0 || voice !== undefined);
  const moved = replaceSpoken(
    {
      ...plainText(source.text),
      chapters: source.chapters,
      pauses: [
        ...points,
        ...edits.map(({ start }) => ({ at: start, ms: 0 })),
        ...edits.map(({ end }) => ({ at: end, ms: 0 })),
      ],
    },
    cuts,
  );
  const { chapters, pauses, text } = moved;
  const ends = pauses.slice(points.length).map(({ at }) => at);
  const movedEdits = edits.map(({ insert }, index) => ({
    insert,
    start: ends[index] ?? 0,
    end: ends[edits.length + index] ?? 0,
  }));
  const sorted = pauses.slice(0, points.length).toSorted((a, b) => a.at - b.at);
  return { ...withWritten(text, movedEdits), pauses: sorted, chapters };
}

/** A part of a text. `voice` is the name or the id of its voice, if a mark in the text sets one. */
export interface VoicedPiece extends TextPiece {
  readonly voice?: string;
}

/** The parts of a text, and the silences between them. */
export interface PausedParts {
  readonly parts: readonly VoicedPiece[];
  /**
   * Milliseconds of silence before each part. The last entry is the silence after the last part.
   */
  readonly silences: readonly number[];
}

/**
 * Splits a text at its pauses, and then splits the text between the pauses as `splitParts` does. Text without letters
 * or digits is left out, because no voice can speak it. The pauses around such text are added up.
 * @param limit maximum length of a part in code points
 */
export function splitAtPauses({ pauses, text }: PausedText, limit: number): PausedParts {
  const parts: VoicedPiece[] = [];
  const silences = [0];
  let start = 0;
  let current: string | undefined;
  const addUntil = (end: number): void => {
    const between = text.slice(start, end);
    for (const piece of SPEAKABLE.test(between) ? splitParts(between, limit) : []) {
      const place = { start: start + piece.start, end: start + piece.end };
      parts.push({
        text: piece.text,
        ...place,
        ...(current === undefined ? {} : { voice: current }),
      });
      silences.push(0);
    }
    start = end;
  };
  for (const [index, { end, ms }] of pauseOffsets(text, pauses).entries()) {
    addUntil(end);
    current = pauses[index]?.voice ?? current;
    silences.push((silences.pop() ?? 0) + ms);
  }
  addUntil(text.length);
  return { parts, silences };
}

/** Returns the UTF-16 index and the length of each pause in a text. */
export function pauseOffsets(text: string, pauses: readonly Pause[]) {
  let [index, count] = [0, 0];
  return pauses.map(({ at, ms }) => {
    index = codePointOffset(text, at - count, index);
    count = at;
    return { end: index, ms };
  });
}
