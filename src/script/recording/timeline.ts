import { SAMPLE_RATE } from './line-sound.ts';

/** Values of `--timing`: what happens to a line that is longer than its time slot in the script. */
export const TIMINGS = ['stretch', 'overlap', 'exact'] as const;
export type Timing = (typeof TIMINGS)[number];

/** The times that the script sets for a line, and the length of the line's audio in samples. */
export interface LineLength {
  readonly samples: number;
  /** Start time of the line in milliseconds; undefined if the script sets none. */
  readonly startMs?: number | undefined;
  /** End time of the line in milliseconds; undefined if the script sets none. */
  readonly endMs?: number | undefined;
  /** Silence after the line, in milliseconds. */
  readonly pauseAfterMs: number;
}

/** Position and length of a line in the recording, in samples. */
export interface LineInterval {
  readonly start: number;
  readonly samples: number;
  /** Speed factor of the line; 1 if its speed is unchanged. */
  readonly tempo: number;
  /** Milliseconds by which the line begins after its start time in the script; 0 if below 20 ms. */
  readonly lateMs: number;
  /** Milliseconds by which the line runs past the end of its time slot; 0 unless the timing is `exact`. */
  readonly excessMs: number;
}

// Limits how much `stretch` speeds up a line.
const MAX_TEMPO = 1.25;
// A line with a shorter delay is on time.
const LATE_MS = 20;

/**
 * Computes the position of each line in the recording. A line without a start time follows the line before. With the
 * timing `stretch`, a line with a start time begins at that time, or later if the line before has not ended. foley
 * speeds the line up, within a limit, if it would overlap the next line with a start time. With the other timings, a
 * line with a start time always begins at that time, and overlapping lines are mixed.
 */
export function placeLines(lines: readonly LineLength[], timing: Timing): readonly LineInterval[] {
  let end = 0;
  let pause = 0;
  let tempo = 1;
  return lines.map((line, index) => {
    const wanted = line.startMs === undefined ? undefined : samplesIn(line.startMs);
    const isShifted = wanted === undefined || (timing === 'stretch' && wanted < end);
    const start = isShifted ? end + (wanted === undefined ? pause : 0) : wanted;
    if (wanted !== undefined) tempo = timing === 'stretch' ? tempoFrom(lines, index, start) : 1;
    const samples = Math.round(line.samples / tempo);
    end = Math.max(end, start + samples);
    pause = samplesIn(line.pauseAfterMs);
    const lateMs = wanted === undefined ? 0 : millisecondsOf(start - wanted);
    const latest = Math.min(line.endMs ?? Infinity, lines[index + 1]?.startMs ?? Infinity);
    const excessMs = timing === 'exact' ? millisecondsOf(start + samples) - latest : 0;
    return {
      start,
      samples,
      tempo,
      lateMs: lateMs < LATE_MS ? 0 : lateMs,
      excessMs: Math.max(0, excessMs),
    };
  });
}

function tempoFrom(lines: readonly LineLength[], from: number, start: number): number {
  // A cue with a pause inside is several lines, of which only the first one has a start time.
  let samples = 0;
  let silence = 0;
  let pause = 0;
  for (let at = from; at < lines.length; at += 1) {
    samples += lines[at]?.samples ?? 0;
    silence += pause;
    pause = samplesIn(lines[at]?.pauseAfterMs ?? 0);
    const nextMs = lines[at + 1]?.startMs;
    if (nextMs === undefined) continue;
    const room = samplesIn(nextMs) - start - silence;
    return samples <= room ? 1 : Math.min(MAX_TEMPO, samples / Math.max(1, room));
  }
  return 1;
}

/** Converts milliseconds to a number of samples at 44.1 kHz. */
export function samplesIn(ms: number): number {
  return Math.round((ms * SAMPLE_RATE) / 1000);
}

/** Converts a number of samples at 44.1 kHz to milliseconds. */
export function millisecondsOf(samples: number): number {
  return (samples * 1000) / SAMPLE_RATE;
}
