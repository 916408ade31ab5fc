import { GLUED } from './boundaries.ts';
import type { Boundary, BoundaryKind } from './boundaries.ts';
import type { CueShape } from './cue-shape.ts';
import { isShort, LineFill, lineRow, partingCost } from './lines.ts';
import type { LineRow } from './lines.ts';
import type { TimedToken } from './time-tokens.ts';
import { isOpening, speakableLength } from './tokens.ts';

interface TokenRow {
  readonly tokens: readonly TimedToken[];
  /** The boundary after each token. */
  readonly boundaries: readonly Boundary[];
  /** Length of the audio in milliseconds. */
  readonly durationMs: number;
}

/**
 * Divides tokens into cues within the limits, so that the total cost is lowest (see {@link CueCost}). A token that
 * exceeds a limit becomes a cue of its own. The computing time grows with the number of tokens in the largest cue.
 * @returns the number of tokens in each cue
 */
export function cutCues(row: TokenRow, shape: CueShape): number[] {
  const count = row.tokens.length;
  const lines = lineRow(row.tokens, row.boundaries, shape.maxChars);
  const spoken = row.tokens.map(({ text }) => speakableLength(text) > 0);
  const costs = [...row.tokens.map(() => Infinity), 0];
  const ends: number[] = [];
  for (let from = count - 1; from >= 0; from -= 1) {
    for (const [to, cost] of candidates({ ...row, lines, spoken }, shape, from)) {
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

interface MeasuredRow extends TokenRow {
  readonly lines: LineRow;
  /** Whether each token is spoken. */
  readonly spoken: readonly boolean[];
}

/** Maximum number of tokens in a cue, which limits the computing time. */
const MOST_TOKENS = 500;

/** Yields each possible end of a cue that begins at token `from`, with the cost of that cue. */
function* candidates(
  { tokens, boundaries, durationMs, lines, spoken }: MeasuredRow,
  shape: CueShape,
  from: number,
): Generator<readonly [to: number, cost: number]> {
  const fill = new LineFill(shape.maxChars);
  const { startMs = 0 } = tokens[from] ?? {};
  const before = boundaries[from - 1]?.kind ?? 'line';
  const cost = new CueCost(shape, {
    startMs,
    earliestMs: earliestStart(tokens, from, shape),
    isBegun: before !== 'line' && before !== 'sentence',
  });
  const last = Math.min(tokens.length, from + MOST_TOKENS);
  let words = 0;
  for (let to = from + 1; to <= last; to += 1) {
    const token = tokens[to - 1];
    const boundary = boundaries[to - 1];
    if (token === undefined || boundary === undefined) return;
    fill.add(token, boundaries[to - 2]);
    const isSingle = to === from + 1;
    const fits = !fill.isTooWide && fill.lines <= shape.maxLines;
    if (!isSingle && (!fits || token.endMs - startMs > shape.maxDurationMs)) return;
    const nextMs = tokens[to]?.startMs ?? durationMs + shape.gapMs;
    const parting = fill.lines === 2 ? partingCost(lines, from, to) : 0;
    if (spoken[to - 1] === true) words += 1;
    const isOrphan = words < 2 && isShort(fill.width, shape.maxChars);
    yield [to, cost.ending(boundary, { nextMs, width: fill.width, parting, isOrphan })];
    const { kind } = boundary;
    if (!fits || kind === 'line' || (kind === 'sentence' && shape.by === 'sentence')) return;
    cost.pass(boundary);
  }
}

/** Maximum time between the start of a cue and the start of its speech, if nothing else is shown (BBC: 1.5 s). */
export const MAX_LEAD_MS = 1_500;

/**
 * Returns the earliest time at which a cue can start. The cue can start before its speech only after a silence, or
 * after a word that is longer than the maximum duration.
 */
function earliestStart(
  tokens: readonly TimedToken[],
  from: number,
  { gapMs, maxDurationMs }: CueShape,
): number {
  const { startMs } = tokens[from] ?? { startMs: 0 };
  const before = tokens[from - 1] ?? { startMs: -gapMs, endMs: -gapMs };
  const shownUntil = Math.min(before.endMs, before.startMs + maxDurationMs) + gapMs;
  return Math.min(startMs, Math.max(shownUntil, startMs - MAX_LEAD_MS));
}

/** Returns the minimum time for which a cue must be shown, in milliseconds. */
export function neededMs(
  width: number,
  { maxCps, minDurationMs }: Pick<CueShape, 'maxCps' | 'minDurationMs'>,
): number {
  return Math.max(minDurationMs, Math.ceil((width * 1_000) / maxCps));
}

const SHORT_PAUSE_MS = 60;
/** Minimum length of a long pause; a shorter silence, of at least `SHORT_PAUSE_MS`, is a short pause. */
const LONG_PAUSE_MS = 440;
/** Minimum length of a silence in which a visible cue seems to be stuck. */
const SILENCE_MS = 1_500;

/** Base cost of each cue. */
const CUE = 100;
/** Cost of ending a cue at each kind of boundary. */
const CUT: Readonly<Record<BoundaryKind, number>> = {
  line: 0,
  sentence: 0,
  'strong clause': 20,
  clause: 50,
  word: 180,
};
/** The cost of ending a cue at a short or a long pause is multiplied by these factors. */
const AFTER_SHORT_PAUSE = 0.7;
const AFTER_LONG_PAUSE = 0.3;
/** Cost of ending a cue at a boundary whose `cling` is just below `GLUED`; a smaller `cling` costs less. */
const CLING = 220;
/** Cost of ending a cue between a word and its sign. */
const GLUED_COST = 5_000;
/** Costs added to a cue for each sentence end, long pause or silence within the cue. */
const PASSED_SENTENCE = 160;
const PASSED_LONG_PAUSE = 60;
const PASSED_SILENCE = 3_000;
/** Cost of a cue that is too short, multiplied by `shortness`. */
const TOO_SHORT = 260;
/** Cost of a cue that cannot be shown for the needed time; each missing millisecond adds 1. */
const UNREADABLE = 500;
const SCRAP = 90;
const SCRAP_WIDTH = 14;
/** Cost of a cue with only one short word: a whole sentence or a part of one. */
const ORPHAN = { sentence: 500, part: 800 } as const;
/** Costs of a cue that contains the end of one sentence or clause and the beginning of the next. */
const MIXED_SENTENCES = 350;
const MIXED_CLAUSES = 80;
/** A line break within a cue is free up to this `partingCost`. Any excess is multiplied by `PARTING`. */
const USUAL_PARTING = 45;
const PARTING = 4;
/** Cost of a completely full cue. A half-full cue costs a quarter of it, so that cues of equal size are cheapest. */
const FULL = 120;

interface CueStart {
  /** Start of the cue's speech. */
  readonly startMs: number;
  /** Earliest time at which the cue can be shown. */
  readonly earliestMs: number;
  /** Whether the first sentence of the cue began in an earlier cue. */
  readonly isBegun: boolean;
}

interface CueContent {
  /** Start of the next cue in milliseconds; for the last cue, the end of the audio plus a gap. */
  readonly nextMs: number;
  readonly width: number;
  /** Cost of the line break within the cue; 0 if the cue has only one line. */
  readonly parting: number;
  /** Whether the cue contains only one short word. */
  readonly isOrphan: boolean;
}

/** Computes the cost of a cue, which is lower if the cue is easier to read. Costs are integers, so ties are exact. */
class CueCost {
  readonly #shape: CueShape;
  readonly #start: CueStart;
  #passed = 0;
  #hasSentence = false;
  #hasClause = false;

  constructor(shape: CueShape, start: CueStart) {
    this.#shape = shape;
    this.#start = start;
  }

  /** Updates the cost when the cue continues across a boundary. */
  pass({ kind, pauseMs }: Boundary): void {
    if (kind !== 'word') this.#hasClause = true;
    if (kind === 'sentence') {
      this.#hasSentence = true;
      this.#passed += PASSED_SENTENCE;
    }
    if (pauseMs >= SILENCE_MS) this.#passed += PASSED_SILENCE;
    else if (pauseMs >= LONG_PAUSE_MS && kind !== 'sentence') this.#passed += PASSED_LONG_PAUSE;
  }

  /**
   * Returns the cost of the cue if it ends at a boundary.
   * @param content the measurements of the cue up to the boundary
   */
  ending(boundary: Boundary, { isOrphan, nextMs, parting, width }: CueContent): number {
    const { gapMs, maxChars, maxDurationMs, maxLines, minDurationMs } = this.#shape;
    const { earliestMs, isBegun, startMs } = this.#start;
    const shownMs = Math.min(maxDurationMs, nextMs - gapMs - earliestMs);
    const missingMs = neededMs(width, this.#shape) - shownMs;
    const isWhole = boundary.kind === 'line' || boundary.kind === 'sentence';
    const filled = Math.min(1, width / (maxChars * maxLines));
    const isScrap = width < SCRAP_WIDTH && (isBegun || !isWhole);
    return Math.round(
      CUE +
        this.#passed +
        cutCost(boundary) +
        FULL * filled ** 2 +
        PARTING * Math.max(0, parting - USUAL_PARTING) +
        this.#mixed(boundary.kind) +
        (isScrap ? SCRAP : 0) +
        (isOrphan ? ORPHAN[isWhole && !isBegun ? 'sentence' : 'part'] : 0) +
        (missingMs > 0 ? UNREADABLE + missingMs : 0) +
        TOO_SHORT * shortness(nextMs - startMs, minDurationMs),
    );
  }

  #mixed(end: BoundaryKind): number {
    if (end === 'line' || end === 'sentence') return 0;
    if (this.#hasSentence) return MIXED_SENTENCES;
    return this.#hasClause && end === 'word' ? MIXED_CLAUSES : 0;
  }
}

/** Returns a penalty for a duration that is too short: from 0 (long enough) to 2 (less than half of the minimum). */
function shortness(ms: number, minDurationMs: number): number {
  if (ms >= minDurationMs) return 0;
  if (ms >= 0.75 * minDurationMs) return 0.4;
  return ms >= 0.5 * minDurationMs ? 1 : 2;
}

function cutCost({ kind, cling, pauseMs }: Boundary): number {
  if (cling === GLUED) return GLUED_COST;
  const cost = CUT[kind] + (CLING * cling) / 100;
  if (pauseMs >= LONG_PAUSE_MS) return cost * AFTER_LONG_PAUSE;
  return pauseMs >= SHORT_PAUSE_MS ? cost * AFTER_SHORT_PAUSE : cost;
}

/**
 * Divides tokens into one cue for each spoken word. If they fit, separate signs and emoji join the cue of the previous
 * word, and opening signs join the cue of the next word.
 * @returns the number of tokens in each cue
 */
export function cutWords(
  { boundaries, tokens }: Pick<TokenRow, 'boundaries' | 'tokens'>,
  shape: CueShape,
): number[] {
  const cues: number[] = [];
  let fill = new LineFill(shape.maxChars);
  let hasWord = false;
  let beganMs = 0;
  for (const [index, { text, lineBreaks, startMs, endMs, ...size }] of tokens.entries()) {
    const isWord = speakableLength(text) > 0;
    const boundary = boundaries[index - 1];
    const opens = isOpening(text) && boundary?.cling !== GLUED;
    const begins = hasWord && (isWord || lineBreaks > 0 || opens);
    fill.add(size, boundary);
    const fits =
      !fill.isTooWide && fill.lines <= shape.maxLines && endMs - beganMs <= shape.maxDurationMs;
    if (cues.length > 0 && fits && !begins) {
      cues[cues.length - 1] = (cues.at(-1) ?? 0) + 1;
      hasWord ||= isWord;
    } else {
      cues.push(1);
      hasWord = isWord;
      beganMs = startMs;
      fill = new LineFill(shape.maxChars);
      fill.add(size);
    }
  }
  return cues;
}
