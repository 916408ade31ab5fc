import { boundariesOf } from './boundaries.ts';
import type { Cue, CueShape } from './cue-shape.ts';
import { cutCues, cutWords } from './cut-cues.ts';
import { breakLines, lineRow, LineFill } from './lines.ts';
import { timeTokens } from './time-tokens.ts';
import type { Timings } from './timings.ts';
import { tokenize } from './tokens.ts';

/**
 * Creates the cues of a text, in order. The cues contain all characters except white space, and never overlap. Only a
 * cue with a single word may exceed the limits of the shape.
 */
export function shapeCues(timings: Timings, shape: CueShape): Cue[] {
  const tokens = timeTokens(tokenize(timings.text), timings);
  const boundaries = boundariesOf(timings.text, tokens);
  const row = { tokens, boundaries, durationMs: timings.durationMs };
  const counts = shape.by === 'word' ? cutWords(row, shape) : cutCues(row, shape);
  const boundaryGroups = sliceBy(boundaries, counts);
  const cues = sliceBy(tokens, counts).map((own, index) => {
    const fill = new LineFill(shape.maxChars);
    for (const token of own) fill.add(token);
    const lineCounts = breakLines(
      lineRow(own, boundaryGroups[index] ?? [], shape.maxChars),
      fill.lines,
    );
    const lines = sliceBy(own, lineCounts).map((line) =>
      line.map(({ text, gap, startMs }) => ({ text, gap, startMs })),
    );
    const { width } = fill;
    return { startMs: own[0]?.startMs ?? 0, endMs: own.at(-1)?.endMs ?? 0, width, lines };
  });
  return withTimes(cues, shape, timings.durationMs);
}

/** Divides items into consecutive groups of the given sizes. */
function sliceBy<Item>(items: readonly Item[], counts: readonly number[]): Item[][] {
  let from = 0;
  return counts.map((count) => {
    from += count;
    return items.slice(from - count, from);
  });
}

/** Minimum gap between two cues, so that viewers notice the change: two frames at 24 frames per second. */
const MIN_GAP_MS = 84;

/** Gaps shorter than this would flicker, so the cue is shown until the next one. */
const FLICKER_MS = 500;

/** Columns that a viewer reads per second; a full-width character takes two. */
const READING_SPEED = 17;

/** A cue whose times are those of the speech; the display times are computed later. */
interface SpokenCue extends Cue {
  /** Width of the whole text in columns. */
  readonly width: number;
}

/**
 * Sets when each cue is shown: from its first sound and, if a silence follows, until viewers have read the text. A cue
 * is longer than the maximum only if its speech is, and ends no later than the audio.
 */
function withTimes(cues: readonly SpokenCue[], shape: CueShape, durationMs: number): Cue[] {
  let earliest = 0;
  const starts = cues.map(({ startMs }) => {
    const start = Math.max(earliest, startMs);
    earliest = start + 1;
    return start;
  });
  return cues.map((cue, index) => {
    const startMs = starts[index] ?? 0;
    const nextMs = starts[index + 1];
    const shown = endOf({ ...cue, startMs }, shape, nextMs, durationMs);
    return { startMs, endMs: Math.max(startMs + 1, shown), lines: cue.lines };
  });
}

function endOf(
  { startMs, width, ...spoken }: SpokenCue,
  shape: CueShape,
  nextMs: number | undefined,
  durationMs: number,
): number {
  const endMs = Math.max(startMs, spoken.endMs);
  const readMs = Math.max(shape.minDurationMs, Math.ceil((width * 1_000) / READING_SPEED));
  const longest = Math.max(endMs, startMs + shape.maxDurationMs);
  const wanted = Math.max(endMs, Math.min(startMs + readMs, longest));
  if (nextMs === undefined) return Math.min(wanted, Math.max(endMs, durationMs));
  const gapMs = shape.by === 'word' ? 0 : MIN_GAP_MS;
  // The gap takes at most half of the duration of a very short cue.
  const last = nextMs - Math.min(gapMs, Math.floor((nextMs - startMs) / 2));
  const isFlicker = nextMs - wanted < (shape.by === 'word' ? shape.minDurationMs : FLICKER_MS);
  return Math.min(last, isFlicker ? Math.max(wanted, Math.min(last, longest)) : wanted);
}
