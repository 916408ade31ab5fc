import type { Kernels } from '../../../neural/kernels.ts';
import type { Network } from '../../../neural/network.ts';
import type { SpokenFrames } from './voice-model.ts';
import type { Variation } from './cast.ts';

/** Samples of one frame. */
export const FRAME_SAMPLES = 300;
/** Duration of one frame in milliseconds. */
export const FRAME_MS = 12.5;

const WINDOW = 1_200;
/** Highest frequency, in hertz, for which the model has learned the envelope of pulses. */
const HIGHEST_HARMONIC = 11_000;
const FLOAT_BYTES = 4;
const NEPERS_PER_DB = Math.LN10 / 20;

/**
 * Returns the samples of the model's frames, {@link FRAME_SAMPLES} each.
 * @param seed seed of the noise in consonants and breath
 */
export function soundOf(
  kernels: Kernels,
  network: Network,
  { frames, pitch }: SpokenFrames,
  { brightness, pitch: factor, stretch }: Variation,
  seed: number,
): Float32Array<ArrayBuffer> {
  const count = frames.rows;
  const margin = WINDOW / 2;
  const pitches = network.matrix(1, count);
  network.values(pitches).set(pitch);
  const source = network.matrix(1, (count - 1) * FRAME_SAMPLES + WINDOW);
  const output = network.matrix(1, source.columns);
  for (const matrix of [source, output]) network.values(matrix).fill(0);
  const highest = HIGHEST_HARMONIC * Math.min(1, stretch);
  kernels.pulses(pitches.at, count, factor, highest, source.at + margin * FLOAT_BYTES);
  kernels.synthesize(
    frames.at,
    count,
    pitches.at,
    factor,
    source.at,
    output.at,
    stretch,
    brightness * NEPERS_PER_DB,
    seed,
  );
  return network.values(output).slice(margin, margin + count * FRAME_SAMPLES);
}
