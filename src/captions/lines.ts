import { GLUED } from './boundaries.ts';
import type { Boundary } from './boundaries.ts';
import { gapWidth } from './tokens.ts';
import type { CaptionToken } from './tokens.ts';

export interface LineRow {
  readonly tokens: readonly CaptionToken[];
  readonly boundaries: readonly Boundary[];
  readonly maxChars: number;
  /** Width in columns up to the end of each token, as if all tokens were on one line. */
  readonly ends: readonly number[];
}

export function lineRow(
  tokens: LineRow['tokens'],
  boundaries: LineRow['boundaries'],
  maxChars: number,
): LineRow {
  let end = 0;
  const ends = tokens.map(({ gap, width }) => (end += gapWidth(gap) + width));
  return { tokens, boundaries, maxChars, ends };
}

/**
 * Breaks the tokens of a cue into lines of similar width. Prefers breaks where a reader would pause, and a shorter
 * upper line.
 * @param lineCount number of lines, which must be enough for all tokens
 * @returns the number of tokens on each line
 */
export function breakLines(row: LineRow, lineCount: number): number[] {
  const { tokens } = row;
  if (lineCount === 1) return [tokens.length];
  const ideal = widthOf(row, 0, tokens.length) / lineCount;
  let after: LineChoice = { costs: [...tokens.map(() => Infinity), 0], ends: [] };
  const choices: LineChoice[] = [];
  for (let line = 0; line < lineCount; line += 1) {
    after = chooseLine(row, ideal, after.costs);
    choices.unshift(after);
  }
  let from = 0;
  return choices.map(({ ends }) => {
    const count = (ends[from] ?? tokens.length) - from;
    from += count;
    return count;
  });
}

const MOST_TOKENS = 64;

/** Returns the lowest cost of breaking the tokens from index `from` up to but not including `to` into two lines. */
export function partingCost(row: LineRow, from: number, to: number): number {
  if (to - from > MOST_TOKENS) return 0;
  const ideal = widthOf(row, from, to) / 2;
  let least = Infinity;
  for (let middle = to - 1; middle > from; middle -= 1) {
    const lower = widthOf(row, middle, to);
    if (lower > row.maxChars) break;
    const upper = widthOf(row, from, middle);
    if (upper > row.maxChars) continue;
    const cost = upperCost(row, from, middle, ideal) + ragged(row, middle, to, ideal);
    if (cost < least) least = cost;
  }
  return least === Infinity ? 0 : least;
}

interface LineChoice {
  readonly costs: readonly number[];
  readonly ends: readonly number[];
}

function chooseLine(row: LineRow, ideal: number, costsAfter: readonly number[]): LineChoice {
  const { tokens, maxChars } = row;
  const costs = costsAfter.map(() => Infinity);
  const ends = tokens.map(() => tokens.length);
  for (const from of tokens.keys()) {
    for (let to = from + 1; to <= tokens.length; to += 1) {
      const width = widthOf(row, from, to);
      if (width > maxChars) break;
      const isLast = to === tokens.length;
      const line = isLast ? ragged(row, from, to, ideal) : upperCost(row, from, to, ideal);
      const cost = (costsAfter[to] ?? Infinity) + line;
      if (cost < (costs[from] ?? Infinity)) {
        costs[from] = cost;
        ends[from] = to;
      }
    }
  }
  return { costs, ends };
}

function widthOf({ ends, tokens }: LineRow, from: number, to: number): number {
  return (ends[to - 1] ?? 0) - (ends[from] ?? 0) + (tokens[from]?.width ?? 0);
}

// Cost of a line whose width differs by `maxChars` from the ideal width. The cost grows with the square of the difference.
const RAGGED = 400;
const TOP_HEAVY = 1.4;
const BREAK: Readonly<Record<Boundary['kind'], number>> = {
  line: 0,
  sentence: 0,
  'strong clause': 1,
  clause: 3,
  word: 30,
};
const CLING = 100;
const GLUED_COST = 2_000;
const ORPHAN = 200;

function ragged(row: LineRow, from: number, to: number, ideal: number): number {
  const width = widthOf(row, from, to);
  const isOrphan = to - from === 1 && isShort(width, row.maxChars);
  return RAGGED * ((width - ideal) / row.maxChars) ** 2 + (isOrphan ? ORPHAN : 0);
}

/** Returns whether a word is too short for a line of its own: at most a quarter of the maximum width. */
export function isShort(width: number, maxChars: number): boolean {
  return 4 * width <= maxChars;
}

function upperCost(row: LineRow, from: number, to: number, ideal: number): number {
  const { cling = 0, kind = 'word' } = row.boundaries[to - 1] ?? {};
  const isTopHeavy = widthOf(row, from, to) > ideal;
  const length = ragged(row, from, to, ideal) * (isTopHeavy ? TOP_HEAVY : 1);
  const glue = cling === GLUED ? GLUED_COST : CLING * (cling / 100) ** 2;
  return length + BREAK[kind] + glue;
}

/** Counts how many lines a cue needs. Call `add` for each token of the cue, in order. */
export class LineFill {
  lines = 0;
  width = 0;
  isTooWide = false;
  readonly #maxChars: number;
  #lineWidth = 0;
  #unitWidth = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /**
   * Adds the next token of the cue.
   * @param before the boundary between the previous token and this one; `cling: 100` keeps both on one line if they fit
   */
  add({ gap, width }: CaptionToken, before?: Boundary): void {
    this.isTooWide ||= width > this.#maxChars;
    const added = gapWidth(gap) + width;
    const isGlued = this.lines > 0 && before?.cling === GLUED;
    this.width += this.lines === 0 ? width : added;
    this.#unitWidth = isGlued ? this.#unitWidth + added : width;
    if (this.#unitWidth > this.#maxChars) this.#unitWidth = width;
    if (this.lines > 0 && this.#lineWidth + added <= this.#maxChars) {
      this.#lineWidth += added;
      return;
    }
    this.lines += 1;
    this.#lineWidth = this.#unitWidth;
  }
}
