import { FRAME_MS, FRAME_SAMPLES } from './sound.ts';

/** Range of a word in the text, in UTF-16 units, and when its sound begins and ends. */
export interface SpokenToken {
  readonly start: number;
  readonly end: number;
  /** Milliseconds from the beginning of the samples. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Half a frame of the model. */
const STEP_SAMPLES = FRAME_SAMPLES / 2;
const STEP_MS = FRAME_MS / 2;
/** A step this many decibels below the loudest is silent. */
const QUIET_DB = 38;
const SHORTEST_PAUSE_STEPS = 8;
/** How far a word may be from the end of the pause before it. */
const NEAR_MS = 125;

/**
 * Moves the times of words beside a pause to where their sound begins and ends. The durations of the model assign some of the
 * silence to the words.
 */
export function fitToPauses(
  tokens: readonly SpokenToken[],
  samples: Float32Array,
): readonly SpokenToken[] {
  const fitted = [...tokens];
  for (const { startMs, endMs } of pausesIn(samples)) {
    const isLeading = startMs < 0;
    const at = isLeading ? 0 : nearestStart(fitted, endMs);
    const after = fitted[at];
    if (after === undefined || Math.abs(after.startMs - endMs) > NEAR_MS) continue;
    if (endMs >= after.endMs - STEP_MS) {
      if (isLeading) shareStart(fitted, endMs);
      continue;
    }
    fitted[at] = { ...after, startMs: endMs };
    const before = fitted[at - 1];
    if (before === undefined || startMs <= before.startMs) continue;
    fitted[at - 1] = { ...before, endMs: Math.min(before.endMs, startMs) };
  }
  return fitted;
}

function nearestStart(tokens: readonly SpokenToken[], timeMs: number): number {
  const distances = tokens.map((token) => Math.abs(token.startMs - timeMs));
  return distances.indexOf(Math.min(...distances));
}

// A short first word may end before its sound begins, by the durations of the model: it shares the time of the next one.
function shareStart(tokens: SpokenToken[], onsetMs: number): void {
  const [first, second] = tokens;
  if (first === undefined || second === undefined || second.endMs <= onsetMs) return;
  const middleMs = Math.round((onsetMs + second.endMs) / 2 / STEP_MS) * STEP_MS;
  tokens[0] = { ...first, startMs: onsetMs, endMs: middleMs };
  tokens[1] = { ...second, startMs: middleMs };
}

function pausesIn(samples: Float32Array): { readonly startMs: number; readonly endMs: number }[] {
  const powers: number[] = [];
  for (let at = 0; at + STEP_SAMPLES <= samples.length; at += STEP_SAMPLES) {
    let power = 0;
    for (let index = at; index < at + STEP_SAMPLES; index += 1) power += (samples[index] ?? 0) ** 2;
    powers.push(power);
  }
  const quiet = powers.reduce((most, power) => Math.max(most, power), 0) / 10 ** (QUIET_DB / 10);
  const pauses: { readonly startMs: number; readonly endMs: number }[] = [];
  // Before the first word, any silence counts.
  let start = -SHORTEST_PAUSE_STEPS;
  for (const [step, power] of powers.entries()) {
    if (power < quiet) continue;
    if (step - start >= SHORTEST_PAUSE_STEPS) {
      pauses.push({ startMs: start * STEP_MS, endMs: (step + 1) * STEP_MS });
    }
    start = step + 1;
  }
  return pauses;
}
