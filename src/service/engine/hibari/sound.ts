import type { Kernels } from '../../../neural/kernels.ts';
import type { Network } from '../../../neural/network.ts';
import type { SpokenFrames } from './voice-model.ts';
import type { Variation } from './cast.ts';

const SAMPLE_RATE = 24_000;
/** Samples of one frame. */
export const FRAME_SAMPLES = 300;
/** Duration of one frame in milliseconds. */
export const FRAME_MS = 12.5;

const WINDOW = 1_200;
/** Highest frequency, in hertz, for which the model has learned the envelope of pulses. */
const HIGHEST_HARMONIC = 11_000;
const LOWEST_PITCH = 40;
/** The sum of the squares of the overlapping windows. */
const WINDOW_SUM = 1.5;

const NEPERS_PER_DB = Math.LN10 / 20;

/**
 * Returns the samples of the model's frames, {@link FRAME_SAMPLES} each.
 * @param seed seed of the noise in consonants and breath
 */
export function soundOf(
  kernels: Kernels,
  network: Network,
  { frames, pitch }: SpokenFrames,
  { brightness, pitch: factor, stretch }: Omit<Variation, 'pace'>,
  seed: number,
): Float32Array<ArrayBuffer> {
  const count = frames.rows;
  const margin = WINDOW / 2;
  const padded = network.matrix(1, (count - 1) * FRAME_SAMPLES + WINDOW);
  const source = network.values(padded);
  source.fill(0);
  source.set(
    pulses(pitch, factor, HIGHEST_HARMONIC * Math.min(1, stretch)).subarray(
      0,
      source.length - margin,
    ),
    margin,
  );
  const output = network.matrix(1, padded.columns);
  network.values(output).fill(0);
  const pitches = network.matrix(1, count);
  network.values(pitches).set(pitch);
  kernels.synthesize(
    frames.at,
    count,
    pitches.at,
    factor,
    padded.at,
    output.at,
    stretch,
    brightness * NEPERS_PER_DB,
    seed,
  );
  const samples = new Float32Array(count * FRAME_SAMPLES);
  samples.set(network.values(output).subarray(margin, margin + samples.length));
  for (let at = 0; at < samples.length; at += 1) samples[at] = (samples[at] ?? 0) / WINDOW_SUM;
  return samples;
}

/**
 * Returns pulses at the pitch of each frame: the sum of the cosines of all harmonics below `highest` hertz. Silent below 40 Hz.
 * @param factor multiplies the pitch
 */
function pulses(pitch: Float32Array, factor: number, highest: number): Float32Array {
  const samples = new Float32Array(pitch.length * FRAME_SAMPLES);
  const voiced = pitch.map((hertz) => (hertz < LOWEST_PITCH ? 0 : hertz));
  const last = pitch.length - 1;
  let phase = 0;
  for (let at = 0; at < samples.length; at += 1) {
    // The pitch of a frame is that in its middle.
    const place = Math.min(Math.max((at + 0.5) / FRAME_SAMPLES - 0.5, 0), last);
    const frame = Math.floor(place);
    const before = voiced[frame] ?? 0;
    const hertz = before + (place - frame) * ((voiced[Math.min(frame + 1, last)] ?? 0) - before);
    if (hertz < LOWEST_PITCH) continue;
    samples[at] = harmonics(phase, Math.floor(highest / (hertz * factor)));
    phase = (phase + (2 * Math.PI * hertz * factor) / SAMPLE_RATE) % (2 * Math.PI);
  }
  return samples;
}

/** Returns the sum of cos(phase) to cos(count * phase). */
function harmonics(phase: number, count: number): number {
  const half = Math.sin(phase / 2);
  if (Math.abs(half) < 1e-6) return count;
  return Math.sin((count + 0.5) * phase) / (2 * half) - 0.5;
}
