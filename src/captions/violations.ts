import type { Cue, CueShape } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import { textWidth } from './tokens.ts';

export type CueRule =
  | 'overlap'
  | 'gap'
  | 'min-duration'
  | 'max-duration'
  | 'reading-speed'
  | 'lines'
  | 'line-length';

/** A cue that violates a limit. */
export interface CueViolation {
  /** Number of the cue, from 1. */
  readonly cue: number;
  readonly startMs: number;
  /** Line number in the subtitle file where the problem is, from 1; null if the cue was not read from a file. */
  readonly line: number | null;
  readonly rule: CueRule;
  /** The measured value. Its unit depends on the limit: milliseconds, columns per second, lines or columns. */
  readonly value: number;
  /** The limit, in the same unit as the measured value. */
  readonly limit: number;
  readonly text: string;
}

/** A subtitle cue as viewers see it: its times and its lines of plain text. */
export interface ShownCue {
  readonly startMs: number;
  readonly endMs: number;
  /** Empty lines are those that the subtitle file has inside of the cue. Viewers do not see them. */
  readonly lines: readonly string[];
  /** Number of the line in the subtitle file that contains the cue's times. */
  readonly line?: number;
}

/** Joins the words of each line of a cue to plain text, as a subtitle file shows it. */
export function shownCues(cues: readonly Cue[]): ShownCue[] {
  return cues.map(({ startMs, endMs, lines }) => ({
    startMs,
    endMs,
    lines: lines.map((line) => lineText(line)),
  }));
}

const ROUNDING_MS = 1;
// One frame at 24 frames per second.
const FRAME_MS = 42;

/**
 * Returns all violations of the subtitle limits, in the order of the cues. With `by: 'word'`, gaps, reading speed and
 * the minimum duration are not checked, because each cue is shown only while its word is spoken.
 */
export function findViolations(cues: readonly ShownCue[], shape: CueShape): CueViolation[] {
  return cues.flatMap((cue, index) => {
    const timing = timingProblems(cue, cues[index - 1], shape);
    const problems = [...timing, ...sizeProblems(cue, shape)];
    const text = cue.lines.filter((line) => line !== '').join(' ');
    return problems.map(({ at = 0, limit, rule, value }) => ({
      cue: index + 1,
      startMs: cue.startMs,
      line: cue.line === undefined ? null : cue.line + at,
      rule,
      value,
      limit,
      text,
    }));
  });
}

interface CueProblem extends Pick<CueViolation, 'rule' | 'value' | 'limit'> {
  // Number of lines from the line with the cue's times down to the line with the problem.
  readonly at?: number;
}

function timingProblems(
  cue: ShownCue,
  before: ShownCue | undefined,
  shape: CueShape,
): CueProblem[] {
  const { maxCps, maxDurationMs } = shape;
  const minDurationMs = shape.by === 'word' ? 0 : shape.minDurationMs;
  const value = cue.endMs - cue.startMs;
  const problems: CueProblem[] = [];
  const gap = before === undefined ? undefined : gapProblem(cue.startMs - before.endMs, shape);
  if (gap !== undefined) problems.push(gap);
  if (value <= 0 || value < minDurationMs - ROUNDING_MS) {
    problems.push({ rule: 'min-duration', value, limit: minDurationMs });
  }
  if (value > maxDurationMs + ROUNDING_MS) {
    problems.push({ rule: 'max-duration', value, limit: maxDurationMs });
  }
  const width = cue.lines.reduce((total, line) => total + textWidth(line), 0);
  if (shape.by !== 'word' && width * 1_000 > maxCps * (value + ROUNDING_MS)) {
    const perSecond = Math.ceil((width * 10_000) / Math.max(1, value)) / 10;
    problems.push({ rule: 'reading-speed', value: perSecond, limit: maxCps });
  }
  return problems;
}

function gapProblem(gapMs: number, shape: CueShape): CueProblem | undefined {
  if (gapMs < 0) return { rule: 'overlap', value: -gapMs, limit: 0 };
  if (shape.by === 'word') return undefined;
  if (gapMs < shape.gapMs - ROUNDING_MS) return { rule: 'gap', value: gapMs, limit: shape.gapMs };
  const isFlicker = gapMs > shape.gapMs + FRAME_MS && gapMs < shape.minPauseMs - ROUNDING_MS;
  return isFlicker ? { rule: 'gap', value: gapMs, limit: shape.minPauseMs } : undefined;
}

function sizeProblems({ lines }: ShownCue, { maxChars, maxLines }: CueShape): CueProblem[] {
  const shown = lines.filter((line) => line !== '').length;
  const tooMany: CueProblem[] =
    shown > maxLines ? [{ rule: 'lines', value: shown, limit: maxLines }] : [];
  const tooWide = lines.flatMap((line, index) => {
    const value = textWidth(line);
    return value > maxChars
      ? [{ rule: 'line-length', value, limit: maxChars, at: index + 1 } as const]
      : [];
  });
  return [...tooMany, ...tooWide];
}

/** Calls `warn` for the first 20 violations in each subtitle file, and once for the number of further violations. */
export function warnOfViolations(
  written: readonly { readonly path: string; readonly violations: readonly CueViolation[] }[],
  warn: (sentence: string) => void,
): void {
  for (const { path: file, violations } of written) {
    for (const violation of violations.slice(0, MOST_WARNINGS)) {
      warn(`foley: ${file}: ${describeViolation(violation)}`);
    }
    const left = violations.length - MOST_WARNINGS;
    if (left > 0) warn(`foley: ${file}: ${left} more; foley captions --check lists all`);
  }
}

const MOST_WARNINGS = 20;

/** Describes a violation: the cue, its time and text, the value and the limit. */
export function describeViolation({ cue, startMs, text, ...problem }: CueViolation): string {
  const shown = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
  return `cue ${cue} at ${clock(startMs)} ("${shown}"): ${describeProblem(problem)}`;
}

const SHOWN_LENGTH = 30;

function describeProblem({ limit, rule, value }: CueProblem): string {
  switch (rule) {
    case 'overlap':
      return `starts ${seconds(value)} before the previous cue ends`;
    case 'gap':
      return `the gap before it is ${seconds(value)}; the minimum is ${seconds(limit)}`;
    case 'min-duration':
      return `is shown for ${seconds(value)}; the minimum is ${seconds(limit)}`;
    case 'max-duration':
      return `is shown for ${seconds(value)}; the maximum is ${seconds(limit)}`;
    case 'reading-speed':
      return `has ${value} columns per second; the maximum is ${limit}`;
    case 'lines':
      return `has ${value} lines; the maximum is ${limit}`;
    case 'line-length':
      return `has a line of ${value} columns; the maximum is ${limit}`;
    default:
      return rule satisfies never;
  }
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

function clock(ms: number): string {
  const minutes = `${Math.floor(ms / 60_000)}`;
  return `${minutes}:${((ms % 60_000) / 1_000).toFixed(3).padStart(6, '0')}`;
}
