import type { CueShape } from './cue-shape.ts';

/**
 * Least time between two cues, so that the eye sees that the text has changed: two frames at 24 a
 * second.
 */
export const MIN_GAP_MS = 84;

/** A silence this short between two cues would flicker: the first one stays until the next. */
const FLICKER_MS = 500;

/** Columns that a reader reads in a second; a full-width character is two. */
export const READING_SPEED = 17;

/** When a cue is spoken, and how much there is to read. */
export interface SpokenCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly width: number;
}

export interface CueTime {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * When cues are shown: from the first sound on, and after the last one as long as there is silence and
 * a reader needs it. Never two at a time, each for a millisecond at least, none longer than the
 * limit unless it is spoken for longer.
 *
 * @param durationMs where the audio ends, beyond which no cue is held
 */
export function cueTimes(
  cues: readonly SpokenCue[],
  shape: CueShape,
  durationMs: number,
): CueTime[] {
  const gapMs = shape.by === 'word' ? 0 : MIN_GAP_MS;
  let earliest = 0;
  const starts = cues.map(({ startMs }) => {
    const start = Math.max(earliest, startMs);
    earliest = start + 1;
    return start;
  });
  return cues.map((cue, index) => {
    const startMs = starts[index] ?? 0;
    const nextMs = starts[index + 1];
    const limits = { ...shape, gapMs, nextMs, durationMs };
    return { startMs, endMs: Math.max(startMs + 1, endOf({ ...cue, startMs }, limits)) };
  });
}

interface Limits extends CueShape {
  readonly gapMs: number;
  readonly nextMs: number | undefined;
  readonly durationMs: number;
}

function endOf(cue: SpokenCue, { gapMs, nextMs, durationMs, ...shape }: Limits): number {
  const { startMs, width } = cue;
  const endMs = Math.max(startMs, cue.endMs);
  const readMs = Math.max(shape.minDurationMs, Math.ceil((width * 1_000) / READING_SPEED));
  const longest = Math.max(endMs, startMs + shape.maxDurationMs);
  const wanted = Math.max(endMs, Math.min(startMs + readMs, longest));
  if (nextMs === undefined) return Math.min(wanted, Math.max(endMs, durationMs));
  // A very short cue gives at most half of its time to the gap.
  const last = nextMs - Math.min(gapMs, Math.floor((nextMs - startMs) / 2));
  const isFlicker = nextMs - wanted < (shape.by === 'word' ? shape.minDurationMs : FLICKER_MS);
  return Math.min(last, isFlicker ? Math.max(wanted, Math.min(last, longest)) : wanted);
}
