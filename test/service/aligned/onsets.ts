import type { MonoSound } from '../../harness/spoken-words.ts';

/** Sound is measured in frames of this length, each of which begins half of it after the other. */
const FRAME_MS = 10;
const STEP_MS = 5;

/** A frame this much, in decibels, below the loudest is silence. */
const QUIET_DB = -40;

/** Silence that is shorter is within a word. */
const SHORTEST_PAUSE_MS = 60;

/** When sound begins after silence, in milliseconds, by nothing but its energy. */
export function onsetsOf({ samples, sampleRate }: MonoSound): number[] {
  const levels = levelsOf(samples, sampleRate);
  const loudest = levels.reduce((highest, level) => Math.max(highest, level), -Infinity);
  const onsets: number[] = [];
  let silentMs = Infinity;
  for (const [index, level] of levels.entries()) {
    if (level - loudest < QUIET_DB) silentMs += STEP_MS;
    else {
      if (silentMs >= SHORTEST_PAUSE_MS) onsets.push(index * STEP_MS + FRAME_MS / 2);
      silentMs = 0;
    }
  }
  return onsets;
}

function levelsOf(samples: Float32Array, sampleRate: number): number[] {
  const length = Math.round((sampleRate * FRAME_MS) / 1000);
  const step = (sampleRate * STEP_MS) / 1000;
  const count = Math.max(0, Math.floor((samples.length - length) / step));
  return Array.from({ length: count }, (_, index) => {
    const start = Math.round(index * step);
    let energy = 1e-12;
    for (let at = start; at < start + length; at += 1) energy += (samples[at] ?? 0) ** 2;
    return 10 * Math.log10(energy / length);
  });
}
