import type { LetterRows, OnMatch, Stretch } from './match-letters.ts';

/** What a letter that is the same is worth, and one that follows another such. */
const SAME = 2;
const SAME_AGAIN = 3;

const MATCH = 1;
const FROM_RUN = 2;
const SKIP_LEFT = 4;

/**
 * The best common subsequence of a stretch, where letters in a run are worth more than scattered
 * ones. Takes time and memory of the product of both lengths.
 */
export function commonRuns({ left, right }: LetterRows, stretch: Stretch, onMatch: OnMatch): void {
  const rows = stretch.leftEnd - stretch.left;
  const columns = stretch.rightEnd - stretch.right;
  const steps = new Uint8Array(rows * columns);
  let best = new Int32Array(columns + 1);
  let run = new Int32Array(columns + 1).fill(NEVER);
  for (let row = 0; row < rows; row += 1) {
    const nextBest = new Int32Array(columns + 1);
    const nextRun = new Int32Array(columns + 1).fill(NEVER);
    for (let column = 0; column < columns; column += 1) {
      let step = 0;
      let score = nextBest[column] ?? 0;
      const above = best[column + 1] ?? 0;
      if (above > score) {
        score = above;
        step = SKIP_LEFT;
      }
      if (left[stretch.left + row] === right[stretch.right + column]) {
        const fresh = (best[column] ?? 0) + SAME;
        const again = (run[column] ?? NEVER) + SAME_AGAIN;
        const matched = Math.max(fresh, again);
        nextRun[column + 1] = matched;
        if (again >= fresh) step |= FROM_RUN;
        if (matched >= score) {
          score = matched;
          step |= MATCH;
        }
      }
      nextBest[column + 1] = score;
      steps[row * columns + column] = step;
    }
    best = nextBest;
    run = nextRun;
  }
  trace(steps, columns, stretch, onMatch);
}

const NEVER = -1_000_000;

function trace(steps: Uint8Array, columns: number, stretch: Stretch, onMatch: OnMatch): void {
  const found: number[] = [];
  let row = stretch.leftEnd - stretch.left - 1;
  let column = columns - 1;
  let isRun = false;
  while (row >= 0 && column >= 0) {
    const step = steps[row * columns + column] ?? 0;
    if (isRun || (step & MATCH) !== 0) {
      found.push(row, column);
      isRun = (step & FROM_RUN) !== 0;
      row -= 1;
      column -= 1;
    } else if ((step & SKIP_LEFT) !== 0) row -= 1;
    else column -= 1;
  }
  for (let index = found.length - 2; index >= 0; index -= 2) {
    onMatch(stretch.left + (found[index] ?? 0), stretch.right + (found[index + 1] ?? 0));
  }
}
