import { anchors } from './anchors.ts';
import { commonRuns } from './common-runs.ts';

/** Two rows of letters, of which stretches are compared. */
export interface LetterRows {
  readonly left: Int32Array;
  readonly right: Int32Array;
}

/** A stretch of both rows; ends are not included. */
export interface Stretch {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

/** Called for a letter of the left row and the one of the right row that it is; both only grow. */
export type OnMatch = (left: number, right: number) => void;

/**
 * Finds which letters of two rows are the same, in order: what both begin and end with, then what is
 * unique in both, then, in what is left between, the longest runs. Takes time nearly linear in
 * the letters: a comparison of all with all is made in small stretches only.
 */
export function matchLetters(rows: LetterRows, onMatch: OnMatch): void {
  const whole = { left: 0, leftEnd: rows.left.length, right: 0, rightEnd: rows.right.length };
  matchStretch(rows, whole, LONGEST_ANCHOR, onMatch);
}

const LONGEST_ANCHOR = 12;
const SHORTEST_ANCHOR = 3;
/** Pairs of letters that are compared all with all. */
const MOST_PAIRS = 250_000;

function matchStretch(rows: LetterRows, stretch: Stretch, length: number, onMatch: OnMatch): void {
  const { left, right } = rows;
  let { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo } = stretch;
  while (from < to && rightFrom < rightTo && left[from] === right[rightFrom]) {
    onMatch(from, rightFrom);
    from += 1;
    rightFrom += 1;
  }
  let tail = 0;
  while (
    from < to - tail &&
    rightFrom < rightTo - tail &&
    left[to - tail - 1] === right[rightTo - tail - 1]
  ) {
    tail += 1;
  }
  to -= tail;
  rightTo -= tail;
  const rest = { left: from, leftEnd: to, right: rightFrom, rightEnd: rightTo };
  if (from < to && rightFrom < rightTo) matchDifferent(rows, rest, length, onMatch);
  for (let index = 0; index < tail; index += 1) onMatch(to + index, rightTo + index);
}

function matchDifferent(
  rows: LetterRows,
  stretch: Stretch,
  length: number,
  onMatch: OnMatch,
): void {
  const { left, leftEnd, right, rightEnd } = stretch;
  if ((leftEnd - left) * (rightEnd - right) <= MOST_PAIRS) {
    commonRuns(rows, stretch, onMatch);
    return;
  }
  const found = anchors(rows, stretch, length);
  if (found.length > 0) {
    let from = { left, right };
    for (const anchor of [...found, { left: leftEnd, right: rightEnd }]) {
      const part = { ...from, leftEnd: anchor.left, rightEnd: anchor.right };
      matchStretch(rows, part, length, onMatch);
      from = anchor;
    }
    return;
  }
  if (length > SHORTEST_ANCHOR) {
    matchDifferent(rows, stretch, Math.max(SHORTEST_ANCHOR, length - 3), onMatch);
    return;
  }
  // Nothing stands out, so that one place is as good as another.
  const middle = { left: (left + leftEnd) >> 1, right: (right + rightEnd) >> 1 };
  matchStretch(
    rows,
    { left, right, leftEnd: middle.left, rightEnd: middle.right },
    length,
    onMatch,
  );
  matchStretch(rows, { ...middle, leftEnd, rightEnd }, length, onMatch);
}
