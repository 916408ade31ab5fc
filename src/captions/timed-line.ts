import { INVISIBLE } from '../text/formats/cue-text.ts';
import type { CueLine, CueWord } from './cue-shape.ts';
import { isUnspaced, tokenize } from './tokens.ts';

/** The text of a line from one word time to the next. */
export interface TimedPiece {
  readonly text: string;
  readonly startMs: number;
}

/**
 * Splits the lines of a cue into words, and leaves out lines without words. A word begins at the time of the piece in
 * which it begins. Between two lines is a space, except in scripts without spaces.
 */
export function timedLines(lines: readonly (readonly TimedPiece[])[]): readonly CueLine[] {
  let before: string | undefined;
  const timed = lines
    .map((pieces) => timedLine(pieces.map((piece) => shown(piece))))
    .filter((line) => line.length > 0);
  return timed.map((line) =>
    line.map((word, index): CueWord => {
      const isBreak = index === 0 && before !== undefined;
      const isJoined = isUnspaced(before ?? '') && isUnspaced(word.text);
      before = word.text;
      return isBreak && !isJoined ? { ...word, gap: ' ' } : word;
    }),
  );
}

function shown({ startMs, text }: TimedPiece): TimedPiece {
  return { startMs, text: text.replaceAll(INVISIBLE, '') };
}

function timedLine(pieces: readonly TimedPiece[]): CueLine {
  let at = 0;
  const starts = pieces.map(({ startMs, text }) => {
    at += text.length;
    return { at: at - text.length, startMs };
  });
  let piece = 0;
  return tokenize(pieces.map(({ text }) => text).join('')).map(({ gap, start, text }): CueWord => {
    while ((starts[piece + 1]?.at ?? Infinity) <= start) piece += 1;
    return { text, gap, startMs: starts[piece]?.startMs ?? 0 };
  });
}
