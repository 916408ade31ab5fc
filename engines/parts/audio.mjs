// Turns the output of a model into samples: checks them, cuts silence, sets the level.

import { amplify } from './level.mjs';

/** Sound below this part of full scale counts as silence (-46 dB). */
const SILENCE = 0.005;

/** Stretches over which the energy is measured. */
const STRETCH_MS = 10;

/**
 * @param {Float32Array} samples
 * @throws {Error} if a sample is not a finite number, as models sometimes give
 */
export function requireFinite(samples) {
  for (const sample of samples) {
    if (!Number.isFinite(sample)) throw new Error('The model gave audio that is not a number');
  }
}

/**
 * Returns the range of the samples that holds sound, with `marginMs` of silence on each side.
 * @param {Float32Array} samples
 * @param {number} sampleRate
 * @param {number} marginMs
 * @returns {{ from: number, to: number }} indexes of samples; equal if there is no sound
 */
export function soundIn(samples, sampleRate, marginMs) {
  const size = Math.round((sampleRate * STRETCH_MS) / 1000);
  /** @param {number} at */
  const isSound = (at) => rms(samples.subarray(at, at + size)) > SILENCE;
  let from = 0;
  while (from < samples.length && !isSound(from)) from += size;
  if (from >= samples.length) return { from: 0, to: 0 };
  let to = samples.length;
  while (!isSound(Math.max(0, to - size))) to -= size;
  const margin = Math.round((sampleRate * marginMs) / 1000);
  return { from: Math.max(0, from - margin), to: Math.min(samples.length, to + margin) };
}

/**
 * Converts samples to 16 bits and makes them louder, with loud peaks compressed.
 * @param {Float32Array} samples from -1 to 1
 * @param {number} gain in decibels
 */
export function toPcm(samples, gain) {
  const scaled = Float32Array.from(samples, (sample) => sample * FULL_SCALE);
  return amplify(scaled, 10 ** (gain / 20));
}

const FULL_SCALE = 32_768;

/** @param {Float32Array} samples */
function rms(samples) {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}
