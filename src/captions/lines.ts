import type { Boundary } from './boundaries.ts';
import { gapWidth, LineFill } from './line-fill.ts';
import type { Token } from './tokens.ts';

/**
 * Breaks the tokens of a cue into as few lines as they need: lines of about equal width, the upper
 * one rather the shorter, that end where a reader would pause. Every token must fit on a line,
 * unless it is the only one. Takes time linear in the tokens times those on a line times the lines.
 *
 * @param boundaries what comes after each of the tokens
 * @returns the number of tokens on each line
 */
export function breakLines(
  tokens: readonly Token[],
  boundaries: readonly Boundary[],
  maxChars: number,
): number[] {
  const fill = new LineFill(maxChars);
  for (const token of tokens) fill.add(token);
  if (fill.lines === 1) return [tokens.length];
  const row: Row = { tokens, boundaries, maxChars, ideal: fill.width / fill.lines };
  let after: LineChoice = { costs: [...tokens.map(() => Infinity), 0], ends: [] };
  const choices: LineChoice[] = [];
  for (let line = 0; line < fill.lines; line += 1) {
    after = chooseLine(row, after.costs);
    choices.unshift(after);
  }
  let from = 0;
  return choices.map(({ ends }) => {
    const count = (ends[from] ?? tokens.length) - from;
    from += count;
    return count;
  });
}

/** More tokens than this are not looked at again and again: nobody has so short words on two lines. */
const MOST_TOKENS = 64;

/**
 * How badly the tokens of a cue part into two lines, at best; 0 for a cue of one line, and for one of more
 * than two, which always finds good places.
 */
export function partingCost(
  tokens: readonly Token[],
  boundaries: readonly Boundary[],
  maxChars: number,
): number {
  const whole = widthOf(tokens);
  if (whole <= maxChars || tokens.length > MOST_TOKENS) return 0;
  const row: Row = { tokens, boundaries, maxChars, ideal: whole / 2 };
  let least = Infinity;
  let width = 0;
  for (let to = 1; to < tokens.length; to += 1) {
    const token = tokens[to - 1];
    const gap = gapWidth(tokens[to]?.gap ?? '');
    width += (token?.width ?? 0) + (to === 1 ? 0 : gapWidth(token?.gap ?? ''));
    const rest = whole - width - gap;
    if (width > maxChars || rest > maxChars) continue;
    least = Math.min(least, lineCost(row, to, width) + lineCost(row, tokens.length, rest));
  }
  return least === Infinity ? 0 : least;
}

function widthOf(tokens: readonly Token[]): number {
  return tokens.reduce(
    (sum, { gap, width }, index) => sum + width + (index === 0 ? 0 : gapWidth(gap)),
    0,
  );
}

interface Row {
  readonly tokens: readonly Token[];
  readonly boundaries: readonly Boundary[];
  readonly maxChars: number;
  /** Width of the lines if all were equal. */
  readonly ideal: number;
}

/** For a line that begins at each token: where it ends best, and what it and those after it cost. */
interface LineChoice {
  readonly costs: readonly number[];
  readonly ends: readonly number[];
}

function chooseLine(row: Row, costsAfter: readonly number[]): LineChoice {
  const { tokens, maxChars } = row;
  const costs = costsAfter.map(() => Infinity);
  const ends = tokens.map(() => tokens.length);
  for (const from of tokens.keys()) {
    let width = 0;
    for (let to = from + 1; to <= tokens.length; to += 1) {
      const token = tokens[to - 1];
      width += (token?.width ?? 0) + (to === from + 1 ? 0 : gapWidth(token?.gap ?? ''));
      if (width > maxChars) break;
      const cost = (costsAfter[to] ?? Infinity) + lineCost(row, to, width);
      if (cost < (costs[from] ?? Infinity)) {
        costs[from] = cost;
        ends[from] = to;
      }
    }
  }
  return { costs, ends };
}

/** What a line costs that is ragged by all its width. */
const RAGGED = 400;
/** An upper line that is longer than its share costs so many times more. */
const TOP_HEAVY = 1.4;
const BREAK: Readonly<Record<Boundary['kind'], number>> = {
  line: 0,
  sentence: 0,
  'strong clause': 1,
  clause: 3,
  word: 30,
};
/** What a break costs between words that belong together as much as can be. */
const CLING = 100;

function lineCost({ boundaries, ideal, maxChars, tokens }: Row, to: number, width: number): number {
  const ragged = RAGGED * ((width - ideal) / maxChars) ** 2;
  const boundary = boundaries[to - 1];
  if (to === tokens.length || boundary === undefined) return ragged;
  const isLong = width > ideal;
  return (
    ragged * (isLong ? TOP_HEAVY : 1) + BREAK[boundary.kind] + CLING * (boundary.cling / 100) ** 2
  );
}
