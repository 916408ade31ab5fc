import type { Boundary } from './boundaries.ts';
import { boundariesOf } from './boundaries.ts';
import type { Cue, CueShape, CueWord } from './cue-shape.ts';
import { cueTimes } from './cue-times.ts';
import { cutCues } from './cut-cues.ts';
import { cutWords } from './cut-words.ts';
import { breakLines, lineRow } from './lines.ts';
import { LineFill } from './line-fill.ts';
import type { TimedToken } from './time-tokens.ts';
import { timeTokens } from './time-tokens.ts';
import type { Timings } from './timings.ts';
import { tokenize } from './tokens.ts';

/**
 * The cues for a text that was spoken (contract, section 7). They hold the text's own characters, each
 * once and in order, without its white space; never overlap; and keep the limits of the shape,
 * but for a single word that breaks one.
 */
export function shapeCues(timings: Timings, shape: CueShape): Cue[] {
  const tokens = timeTokens(tokenize(timings.text), timings);
  const boundaries = boundariesOf(timings.text, tokens);
  const row = { tokens, boundaries, durationMs: timings.durationMs };
  const groups = groupsOf(row, shape.by === 'word' ? cutWords(row, shape) : cutCues(row, shape));
  const times = cueTimes(
    groups.map((group) => spokenCue(group, shape)),
    shape,
    timings.durationMs,
  );
  return groups.map((group, index) => ({
    startMs: times[index]?.startMs ?? 0,
    endMs: times[index]?.endMs ?? 1,
    lines: linesOf(group, shape),
  }));
}

interface Group {
  readonly tokens: readonly TimedToken[];
  readonly boundaries: readonly Boundary[];
}

function groupsOf({ tokens, boundaries }: Group, counts: readonly number[]): Group[] {
  let from = 0;
  return counts.map((count) => {
    const to = from + count;
    const group = { tokens: tokens.slice(from, to), boundaries: boundaries.slice(from, to) };
    from = to;
    return group;
  });
}

function spokenCue({ tokens }: Group, { maxChars }: CueShape) {
  const fill = new LineFill(maxChars);
  for (const token of tokens) fill.add(token);
  return {
    startMs: tokens[0]?.startMs ?? 0,
    endMs: tokens.at(-1)?.endMs ?? 0,
    width: fill.width,
  };
}

function linesOf({ tokens, boundaries }: Group, { maxChars }: CueShape): CueWord[][] {
  let from = 0;
  const fill = new LineFill(maxChars);
  for (const token of tokens) fill.add(token);
  return breakLines(lineRow(tokens, boundaries, maxChars), fill.lines).map((count) => {
    const line = tokens.slice(from, from + count);
    from += count;
    return line.map(({ text, gap, startMs }) => ({ text, gap, startMs }));
  });
}
