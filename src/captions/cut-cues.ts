import type { Boundary } from './boundaries.ts';
import { CueCost } from './cue-cost.ts';
import type { CueShape } from './cue-shape.ts';
import { LineFill } from './line-fill.ts';
import type { LineRow } from './lines.ts';
import { lineRow, partingCost } from './lines.ts';
import type { TimedToken } from './time-tokens.ts';

/** A row of tokens and what comes after each. */
export interface TokenRow {
  readonly tokens: readonly TimedToken[];
  readonly boundaries: readonly Boundary[];
  /** When the audio ends. */
  readonly durationMs: number;
}

/**
 * Cuts tokens into cues: the cheapest way, of all that keep the limits, by what each cue and each cut
 * costs ({@link CueCost}). A token that breaks a limit by itself is a cue by itself. Takes time
 * linear in the tokens times those of the largest cue.
 *
 * @returns how many tokens each cue has
 */
export function cutCues(row: TokenRow, shape: CueShape): number[] {
  const count = row.tokens.length;
  const lines = lineRow(row.tokens, row.boundaries, shape.maxChars);
  const costs = [...row.tokens.map(() => Infinity), 0];
  const ends: number[] = [];
  for (let from = count - 1; from >= 0; from -= 1) {
    for (const [to, cost] of candidates({ ...row, lines }, shape, from)) {
      const all = cost + (costs[to] ?? Infinity);
      if (all >= (costs[from] ?? Infinity)) continue;
      costs[from] = all;
      ends[from] = to;
    }
  }
  const cues: number[] = [];
  for (let from = 0; from < count; from += cues.at(-1) ?? 1) {
    cues.push((ends[from] ?? from + 1) - from);
  }
  return cues;
}

/** Nobody reads more at a time, whatever the limits are; and all of them are compared. */
const MOST_TOKENS = 500;

/** Where a cue that begins at a token may end, and what it costs then. */
function* candidates(
  { tokens, boundaries, durationMs, lines }: TokenRow & { readonly lines: LineRow },
  shape: CueShape,
  from: number,
): Generator<readonly [to: number, cost: number]> {
  const fill = new LineFill(shape.maxChars);
  const { startMs = 0 } = tokens[from] ?? {};
  const cost = new CueCost(shape, { startMs, isBegun: isBegun(boundaries[from - 1]) });
  const last = Math.min(tokens.length, from + MOST_TOKENS);
  for (let to = from + 1; to <= last; to += 1) {
    const token = tokens[to - 1];
    const boundary = boundaries[to - 1];
    if (token === undefined || boundary === undefined) return;
    fill.add(token);
    const isSingle = to === from + 1;
    const fits = !fill.isTooWide && fill.lines <= shape.maxLines;
    if (!isSingle && (!fits || token.endMs - startMs > shape.maxDurationMs)) return;
    const nextMs = tokens[to]?.startMs ?? durationMs;
    const parting = fill.lines === 2 ? partingCost(lines, from, to) : 0;
    yield [to, cost.ending({ boundary, nextMs, width: fill.width, parting })];
    if (!fits || mustEnd(boundary, shape)) return;
    cost.pass(boundary);
  }
}

function isBegun(before: Boundary | undefined): boolean {
  return before !== undefined && before.kind !== 'line' && before.kind !== 'sentence';
}

function mustEnd({ kind }: Boundary, { by }: CueShape): boolean {
  return kind === 'line' || (kind === 'sentence' && by === 'sentence');
}
