import type { Matrix, Network } from '../../../neural/network.ts';

/** What the model says about a text: its sound as frames, and how long each phoneme takes. */
export interface SpokenFrames {
  /** One row per frame of 12.5 ms: five rows of 601 values (see `synthesize` in assembly/sound.ts). */
  readonly frames: Matrix;
  /** Pitch of each frame in hertz; 0 or less where the voice is silent or without pitch. */
  readonly pitch: Float32Array;
  /** Number of frames of each phoneme. */
  readonly durations: readonly number[];
}

/** Frames of sound for each frame of durations and pitch. */
const FRAMES_PER_STEP = 2;
const HEADS = 2;

/**
 * Runs the model on the numbers of phonemes, of which the first and the last are 0. The result is valid until the network is
 * released. `speed` divides the durations.
 */
export function speakPhonemes(
  network: Network,
  ids: readonly number[],
  speed: number,
): SpokenFrames {
  const prosody = encodeText(network, 'pn.text', ids, 6);
  const steps = durationsOf(network, prosody, speed);
  const path = steps.flatMap((count, phoneme) => Array.from({ length: count }, () => phoneme));
  const { energy, pitch } = contoursOf(network, spread(network, prosody, path, 1));
  const sounds = encodeText(network, 'm.text', ids, 4);
  const input = withContours(network, spread(network, sounds, path, FRAMES_PER_STEP), [
    pitch.map((hertz) => Math.log(1 + Math.max(0, hertz)) / 5),
    energy,
  ]);
  const x = network.convolve(input, 'm.dec_in', 7);
  for (let block = 0; block < 8; block += 1) network.convNext(x, `m.dec.${block}`);
  const frames = network.linear(network.normalize(x, 'm.dec_norm'), 'm.head');
  return { frames, pitch, durations: steps.map((count) => count * FRAMES_PER_STEP) };
}

function encodeText(
  network: Network,
  name: string,
  ids: readonly number[],
  layers: number,
): Matrix {
  const x = network.embed(`${name}.emb.weight`, ids);
  network.convNext(x, `${name}.convs.0`);
  network.convNext(x, `${name}.convs.1`);
  for (let layer = 0; layer < layers; layer += 1) network.transformer(x, `${name}.attn`, HEADS);
  return network.normalize(x, `${name}.norm`);
}

function durationsOf(network: Network, text: Matrix, speed: number): number[] {
  const hidden = network.gelu(network.convolve(text, 'pn.dur.0', 3));
  const logarithms = network.linear(hidden, 'pn.dur.2');
  const values = network.values(logarithms);
  return Array.from({ length: text.rows }, (_, row) => {
    const steps = (Math.exp(values[row * logarithms.columns] ?? 0) - 1) / speed;
    return Math.max(1, roundHalfToEven(steps));
  });
}

function roundHalfToEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

const DILATIONS = [1, 2, 4, 8, 1, 2];

/** Returns the pitch in hertz and the energy of each frame of sound. */
function contoursOf(
  network: Network,
  steps: Matrix,
): { readonly pitch: Float32Array; readonly energy: Float32Array } {
  const x = network.linear(steps, 'pn.pro_in');
  for (const [block, dilation] of DILATIONS.entries()) {
    network.convNext(x, `pn.pro.${block}`, dilation);
  }
  const values = network.values(network.linear(x, 'pn.pro_out'));
  const column = (first: number, scale: number): Float32Array =>
    Float32Array.from({ length: steps.rows * FRAMES_PER_STEP }, (_, frame) => {
      const step = Math.floor(frame / FRAMES_PER_STEP);
      return (values[step * 4 + first + (frame % FRAMES_PER_STEP)] ?? 0) * scale;
    });
  return { pitch: column(0, 100), energy: column(2, 1) };
}

/** Repeats the rows of `x` as `path` names them, `times` times each. */
function spread(network: Network, x: Matrix, path: readonly number[], times: number): Matrix {
  const result = network.matrix(path.length * times, x.columns);
  const from = network.values(x);
  const to = network.values(result);
  for (let row = 0; row < result.rows; row += 1) {
    const source = path[Math.floor(row / times)] ?? 0;
    to.set(from.subarray(source * x.columns, (source + 1) * x.columns), row * x.columns);
  }
  return result;
}

/** Adds two columns, and columns of zeros up to a multiple of 4. */
function withContours(network: Network, x: Matrix, added: readonly Float32Array[]): Matrix {
  const result = network.matrix(x.rows, x.columns + 4);
  const from = network.values(x);
  const to = network.values(result);
  to.fill(0);
  for (let row = 0; row < x.rows; row += 1) {
    const at = row * result.columns;
    to.set(from.subarray(row * x.columns, (row + 1) * x.columns), at);
    for (const [index, column] of added.entries()) to[at + x.columns + index] = column[row] ?? 0;
  }
  return result;
}
