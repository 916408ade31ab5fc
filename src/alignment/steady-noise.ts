import type { BandEnergies } from './features.ts';
import { BANDS } from './features.ts';

// Averaging over blocks of 5 frames makes noise steadier, but hardly changes speech.
const BLOCK_FRAMES = 5;
/** Number of blocks in a second. */
const WINDOW = 20;
const WINDOW_STEP = 5;
// Blocks beside steady noise belong to it if they differ from it by at most `EDGE` times the largest deviation.
const EDGE = 2;
// Shorter noise does not disturb the alignment.
const LEAST_BLOCKS = 2 * WINDOW;

/**
 * Finds long steady noise in a recording, such as hiss, hum or applause: for 2 seconds or more, the energies of its
 * bands hardly change. The energies of speech always change.
 * @param mostDeviation the largest standard deviation of steady noise within a second, averaged over the bands
 * @returns for each frame of the recording: 0 for steady noise, otherwise 1
 */
export function findChangingSound(recording: BandEnergies, mostDeviation: number): Uint8Array {
  const blocks = new Blocks(recording);
  const isSteady = new Uint8Array(blocks.count);
  for (let from = 0; from + WINDOW <= blocks.count; from += WINDOW_STEP) {
    if (blocks.deviation(from) <= mostDeviation) isSteady.fill(1, from, from + WINDOW);
  }
  const isChanging = new Uint8Array(recording.frames).fill(1);
  for (let from = isSteady.indexOf(1); from !== -1;) {
    const end = isSteady.indexOf(0, from);
    const to = end === -1 ? blocks.count : end;
    if (to - from >= LEAST_BLOCKS) {
      // The first and the last window may contain the edge of a word.
      const first = blocks.farFrom(from + WINDOW_STEP, EDGE * mostDeviation, -1) + 1;
      const last = blocks.farFrom(to - WINDOW_STEP - WINDOW, EDGE * mostDeviation, 1);
      const isEnd = last === blocks.count;
      isChanging.fill(0, first * BLOCK_FRAMES, isEnd ? recording.frames : last * BLOCK_FRAMES);
    }
    from = isSteady.indexOf(1, to);
  }
  return isChanging;
}

/** The mean energies of blocks of frames, as logarithms. */
class Blocks {
  readonly count: number;
  readonly #bands: number;
  readonly #logs: Float32Array;

  constructor({ bands, frames, logs }: BandEnergies) {
    this.count = Math.floor(frames / BLOCK_FRAMES);
    this.#bands = bands;
    this.#logs = new Float32Array(this.count * bands);
    for (let at = 0; at < this.#logs.length; at += 1) {
      const first = Math.floor(at / bands) * BLOCK_FRAMES * BANDS + (at % bands);
      let sum = 0;
      for (let frame = 0; frame < BLOCK_FRAMES; frame += 1) sum += logs[first + frame * BANDS] ?? 0;
      this.#logs[at] = sum / BLOCK_FRAMES;
    }
  }

  /** Returns the standard deviation of a band within the window that starts at a block, averaged over the bands. */
  deviation(from: number): number {
    const means = this.#means(from);
    const deviations = means.map((mean, band) => {
      let squares = 0;
      for (let block = from; block < from + WINDOW; block += 1) {
        squares += ((this.#logs[block * this.#bands + band] ?? 0) - mean) ** 2;
      }
      return Math.sqrt(squares / WINDOW);
    });
    return average(deviations);
  }

  /**
   * Returns the first block outside the window at `from`, in the direction `step`, whose energies differ from the
   * window by more than `difference`. Searches at most a second, and up to the first or the last block.
   */
  farFrom(from: number, difference: number, step: -1 | 1): number {
    const means = this.#means(from);
    let block = step === 1 ? from + WINDOW : from - 1;
    const end = Math.min(this.count, Math.max(-1, block + step * WINDOW));
    for (; block !== end; block += step) {
      const differences = means.map((mean, band) =>
        Math.abs((this.#logs[block * this.#bands + band] ?? 0) - mean),
      );
      if (average(differences) > difference) break;
    }
    return block;
  }

  #means(from: number): Float64Array {
    const means = new Float64Array(this.#bands);
    for (let at = 0; at < WINDOW * this.#bands; at += 1) {
      const band = at % this.#bands;
      means[band] = (means[band] ?? 0) + (this.#logs[from * this.#bands + at] ?? 0) / WINDOW;
    }
    return means;
  }
}

function average(values: Float64Array): number {
  return values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
}
