import { boundariesOf } from './boundaries.ts';
import type { Cue, CueShape } from './cue-shape.ts';
import { cutCues, cutWords, MAX_LEAD_MS, neededMs } from './cut-cues.ts';
import { breakLines, lineRow, LineFill } from './lines.ts';
import { leaveOutMissing } from './missing-text.ts';
import { timeTokens } from './time-tokens.ts';
import type { Timings } from './timings.ts';
import { firstWordsOf } from './timings.ts';
import { tokenize } from './tokens.ts';

/**
 * Creates the subtitle cues of a text, in order. The cues contain all characters except white space and the text that
 * {@link leaveOutMissing} leaves out, and never overlap. Only a cue with a single word may exceed the limits in `shape`.
 * If `timings` has several speakers, each speaker's line starts a new cue.
 */
export function shapeCues(timings: Timings, shape: CueShape): Cue[] {
  const { durationMs, lines, words } = timings;
  if (lines === undefined) return withTimes(spokenCues(timings, shape), shape, durationMs);
  const firstWords = firstWordsOf(lines);
  const cues = lines.flatMap(({ endMs, speaker, startMs, text, words: count }, index) => {
    const first = firstWords[index] ?? 0;
    const own = words
      .slice(first, first + count)
      .map((word) => ({ ...word, startMs: word.startMs - startMs, endMs: word.endMs - startMs }));
    // The words that were not found do not say to which line they belong.
    const line = { text, durationMs: endMs - startMs, words: own, unplaced: [] };
    const timed = { ...timings, ...line };
    return spokenCues(timed, shape).map((cue) => ({ ...movedCue(cue, startMs), speaker }));
  });
  return withTimes(cues, shape, durationMs);
}

function movedCue(cue: SpokenCue, ms: number): SpokenCue {
  const lines = cue.lines.map((line) =>
    line.map((word) => ({ ...word, startMs: word.startMs + ms })),
  );
  return { ...cue, startMs: cue.startMs + ms, endMs: cue.endMs + ms, lines };
}

function spokenCues(timings: Timings, shape: CueShape): readonly SpokenCue[] {
  const timed = timeTokens(tokenize(timings.text), timings);
  const all = { tokens: timed, boundaries: boundariesOf(timings.text, timed) };
  const { boundaries, tokens } = leaveOutMissing(all, timings);
  const row = { tokens, boundaries, durationMs: timings.durationMs };
  const counts = shape.by === 'word' ? cutWords(row, shape) : cutCues(row, shape);
  const boundaryGroups = sliceBy(boundaries, counts);
  return sliceBy(tokens, counts).map((own, index) => {
    const fill = new LineFill(shape.maxChars);
    const between = boundaryGroups[index] ?? [];
    own.forEach((token, at) => fill.add(token, between[at - 1]));
    const lineCounts = breakLines(lineRow(own, between, shape.maxChars), fill.lines);
    const lines = sliceBy(own, lineCounts).map((line) =>
      line.map(({ text, gap, startMs }) => ({ text, gap, startMs })),
    );
    const { width } = fill;
    return { startMs: own[0]?.startMs ?? 0, endMs: own.at(-1)?.endMs ?? 0, width, lines };
  });
}

function sliceBy<Item>(items: readonly Item[], counts: readonly number[]): Item[][] {
  let from = 0;
  return counts.map((count) => {
    from += count;
    return items.slice(from - count, from);
  });
}

// A full-width character takes two columns.
const READING_SPEED = 17;

interface SpokenCue extends Cue {
  readonly width: number;
}

// No cue outlasts the audio or the maximum duration, even if its speech is longer.
function withTimes(cues: readonly SpokenCue[], shape: CueShape, durationMs: number): Cue[] {
  const starts = startTimes(cues, shape, durationMs);
  return cues.map((cue, index) => {
    const startMs = starts[index] ?? 0;
    const shown = endOf({ ...cue, startMs }, shape, starts[index + 1], durationMs);
    const { lines, speaker } = cue;
    const endMs = Math.max(startMs + 1, shown);
    return { startMs, endMs, lines, ...(speaker === undefined ? {} : { speaker }) };
  });
}

const MAX_SHIFT_MS = 250;

function startTimes(cues: readonly SpokenCue[], shape: CueShape, durationMs: number): number[] {
  let earliest = 0;
  const starts = cues.map(({ startMs }) => {
    const start = Math.max(earliest, startMs);
    earliest = start + 1;
    return start;
  });
  if (shape.by === 'word') return starts;
  const { gapMs, maxDurationMs } = shape;
  const last = Math.max(durationMs, cues.at(-1)?.endMs ?? 0);
  const startAt = (index: number): number => starts[index] ?? last + gapMs;
  // Negative if the cue is shown too briefly.
  const spare = (index: number, { width }: SpokenCue): number =>
    startAt(index + 1) - gapMs - startAt(index) - neededMs(width, shape);
  cues.forEach((cue, index) => {
    const startMs = startAt(index);
    const before = cues[index - 1];
    const spareBefore = before === undefined ? startMs : spare(index - 1, before);
    const spareMs = spare(index, cue);
    if (spareBefore < 0) {
      const unshown = Math.min(MAX_LEAD_MS, cue.endMs - startMs - maxDurationMs);
      starts[index] =
        startMs + Math.max(0, Math.min(-spareBefore, spareMs, Math.max(MAX_SHIFT_MS, unshown)));
    } else if (spareMs < 0) {
      const shownUntil = Math.min(before?.endMs ?? -gapMs, startAt(index - 1) + maxDurationMs);
      const unshown = Math.min(MAX_LEAD_MS, startMs - gapMs - shownUntil);
      starts[index] = startMs - Math.min(-spareMs, spareBefore, Math.max(MAX_SHIFT_MS, unshown));
    }
  });
  return starts;
}

function endOf(
  { startMs, width, ...spoken }: SpokenCue,
  shape: CueShape,
  nextMs: number | undefined,
  durationMs: number,
): number {
  const isWord = shape.by === 'word';
  const latest = startMs + shape.maxDurationMs;
  const endMs = Math.min(latest, Math.max(startMs, spoken.endMs));
  const readMs = Math.max(
    neededMs(width, shape),
    Math.ceil((width * 1_000) / Math.min(READING_SPEED, shape.maxCps)),
  );
  const wanted = Math.max(endMs, Math.min(startMs + readMs, latest));
  if (nextMs === undefined) return Math.min(wanted, Math.max(endMs, durationMs));
  // The gap takes at most half of the duration of a very short cue.
  const gapMs = isWord ? 0 : Math.min(shape.gapMs, Math.floor((nextMs - startMs) / 2));
  const last = nextMs - gapMs;
  if (nextMs - wanted >= (isWord ? shape.minDurationMs : shape.minPauseMs)) return wanted;
  if (isWord || last <= latest) return Math.min(last, Math.max(wanted, latest));
  // The cue cannot be shown until the next one, so the gap between them becomes long enough.
  const shortened = nextMs - shape.minPauseMs;
  return shortened - startMs >= neededMs(width, shape) ? Math.min(shortened, latest) : latest;
}
