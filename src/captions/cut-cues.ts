import { GLUED } from './boundaries.ts';
import type { Boundary, BoundaryKind } from './boundaries.ts';
import type { CueShape } from './cue-shape.ts';
import { isShort, LineFill, lineRow, partingCost } from './lines.ts';
import type { LineRow } from './lines.ts';
import type { TimedToken } from './time-tokens.ts';
import { isOpening, speakableLength } from './tokens.ts';

interface TokenRow {
  readonly tokens: readonly TimedToken[];
  // The boundary after each token.
  readonly boundaries: readonly Boundary[];
  readonly durationMs: number;
}

/**
 * Divides tokens into cues that keep the limits of `shape`, at the lowest total cost (see {@link CueCost}). A token
 * that exceeds a limit by itself gets its own cue. The computing time grows with the number of tokens in the largest
 * cue.
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
  readonly spoken: readonly boolean[];
}

// Limits the computing time.
const MOST_TOKENS = 500;

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

/** Maximum time for which a cue may appear before its speech starts (BBC guidelines: 1.5 s). */
export const MAX_LEAD_MS = 1_500;

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
export function neededMs(width: number, { maxCps, minDurationMs }: CueShape): number {
  return Math.max(minDurationMs, Math.ceil((width * 1_000) / maxCps));
}

const SHORT_PAUSE_MS = 60;
const LONG_PAUSE_MS = 440;
// In a longer silence, a subtitle that stays visible seems stuck.
const SILENCE_MS = 1_500;

const CUE = 100;
const CUT: Readonly<Record<BoundaryKind, number>> = {
  line: 0,
  sentence: 0,
  'strong clause': 20,
  clause: 50,
  word: 180,
};
const AFTER_SHORT_PAUSE = 0.7;
const AFTER_LONG_PAUSE = 0.3;
const CLING = 220;
const GLUED_COST = 5_000;
/** Added to the cost of a cue for each sentence that ends before the cue does. */
const PASSED_SENTENCE = 160;
const PASSED_LONG_PAUSE = 60;
const PASSED_SILENCE = 3_000;
// Multiplied by `shortness`.
const TOO_SHORT = 260;
// Cost of a cue that is shown too briefly to be read. Each missing millisecond adds 1.
const UNREADABLE = 500;
const SCRAP = 90;
const SCRAP_WIDTH = 14;
/**
 * Cost of a cue that contains only one short word. `sentence` applies if the word is a whole sentence, otherwise
 * `part`.
 */
const ORPHAN = { sentence: 500, part: 800 } as const;
const MIXED_SENTENCES = 350;
const MIXED_CLAUSES = 80;
// A line break with at most this `partingCost` adds nothing to the cost of the cue.
const USUAL_PARTING = 45;
const PARTING = 4;
// A half-full cue costs a quarter of that, so that cues of equal size are cheapest.
const FULL = 120;

interface CueStart {
  readonly startMs: number;
  readonly earliestMs: number;
  /** Whether the first sentence of the cue began in an earlier cue. */
  readonly isBegun: boolean;
}

interface CueContent {
  /** Start of the next cue in milliseconds; for the last cue, the end of the audio plus a gap. */
  readonly nextMs: number;
  readonly width: number;
  readonly parting: number;
  readonly isOrphan: boolean;
}

// A cue that is easier to read costs less. Costs are integers, so that equal costs are exactly equal.
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

  pass({ kind, pauseMs }: Boundary): void {
    if (kind !== 'word') this.#hasClause = true;
    if (kind === 'sentence') {
      this.#hasSentence = true;
      this.#passed += PASSED_SENTENCE;
    }
    if (pauseMs >= SILENCE_MS) this.#passed += PASSED_SILENCE;
    else if (pauseMs >= LONG_PAUSE_MS && kind !== 'sentence') this.#passed += PASSED_LONG_PAUSE;
  }

  // `content` has the measurements of the cue up to the boundary.
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

// 0 if the duration is long enough, up to 2 if it is less than half of the minimum.
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
 * Creates one cue for each spoken word. Separate signs and emoji join the previous cue, and opening punctuation joins
 * the next cue, unless the cue would exceed a limit.
 * @returns the number of tokens in each cue
 */
export function cutWords({ boundaries, tokens }: TokenRow, shape: CueShape): number[] {
  const cues: number[] = [];
  let fill = new LineFill(shape.maxChars);
  let hasWord = false;
  let beganMs = 0;
  const lastWord = tokens.findLastIndex(({ text }) => speakableLength(text) > 0);
  for (const [index, token] of tokens.entries()) {
    const { text, lineBreaks, startMs, endMs } = token;
    const isWord = speakableLength(text) > 0;
    const boundary = boundaries[index - 1];
    const opens = isOpening(text) && boundary?.cling !== GLUED;
    const belongsToNext = (lineBreaks > 0 || opens) && index < lastWord;
    const begins = hasWord && (isWord || belongsToNext);
    fill.add(token, boundary);
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
      fill.add(token);
    }
  }
  return cues;
}
