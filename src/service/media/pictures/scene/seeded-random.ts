import { createHash } from 'node:crypto';

/** Numbers in [0, 1), the same ones for the same seed on every machine. */
export type SeededRandom = () => number;

const STEP = 0x6d_2b_79_f5;
const RANGE = 2 ** 32;

/**
 * Counts in steps through all 32-bit numbers and scrambles each; good enough to draw with.
 * @param seed a 32-bit number
 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / RANGE;
  };
}

/** The seed of a prompt that came without one: a 32-bit number, the same for the same text. */
export function seedOf(prompt: string): number {
  return createHash('sha256').update(prompt, 'utf8').digest().readUInt32BE(0);
}

/** A number between two others. */
export function between(random: SeededRandom, low: number, high: number): number {
  return low + (high - low) * random();
}
