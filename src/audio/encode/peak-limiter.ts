import { concatSamples } from '../resample.ts';

/** Maximum true peak in decibels relative to full scale. Applies to the decoded audio of every format. */
export const MAX_TRUE_PEAK_DB = -1;
/**
 * How encoding in each format changes the levels, in decibels. True peaks may rise by up to `riseDb`; the level falls
 * by `lossDb`.
 */
export const CODEC_LEVELS = {
  wav: { riseDb: 0.4, lossDb: 0 },
  pcm: { riseDb: 0.7, lossDb: 0 },
  mp3: { riseDb: 1, lossDb: 0.45 },
  ogg: { riseDb: 2.6, lossDb: 0 },
  flac: { riseDb: 0.4, lossDb: 0 },
  m4a: { riseDb: 1, lossDb: 0 },
  m4b: { riseDb: 1, lossDb: 0 },
  opus: { riseDb: 2.9, lossDb: 0 },
} as const;

const ATTACK_SECONDS = 0.005;
const RELEASE_SECONDS = 0.06;
const OVERSAMPLING = 4;
// Samples on each side of a position from which the level at that position is interpolated.
const REACH = 8;
const BLOCK = 64;
const FULL_GAIN = 0.9999;

/**
 * Limits the true peaks of a stream of samples: lowers the gain before a loud passage and raises it slowly
 * afterwards. Quiet passages remain unchanged. The result does not depend on how the caller divides the stream into
 * chunks.
 */
export class PeakLimiter {
  readonly #ceiling: number;
  readonly #harmless: number;
  readonly #attack: number;
  readonly #release: number;
  readonly #samples: Float32Array;
  readonly #allowed: Float64Array;
  readonly #gains: Float64Array;
  readonly #window = new Float64Array(2 * REACH);
  #received = 0;
  #emitted = 0;
  #lastLoud = -Infinity;
  #lastPeak = -Infinity;
  #lastReduced = -Infinity;
  #allowedBefore = 1;
  #lowest = 1;
  #gain = 1;
  #sum = 0;

  /** @param ceiling maximum true peak, where full scale is 1 */
  constructor(sampleRate: number, ceiling: number) {
    this.#ceiling = ceiling;
    this.#harmless = ceiling / LARGEST_SUM;
    this.#attack = Math.max(1, Math.round(sampleRate * ATTACK_SECONDS));
    this.#release = 1 - Math.exp(-1 / (sampleRate * RELEASE_SECONDS));
    this.#samples = new Float32Array(this.#attack + 2 * REACH);
    this.#allowed = new Float64Array(this.#attack).fill(1);
    this.#gains = new Float64Array(this.#attack).fill(1);
    this.#sum = this.#attack;
  }

  /** Adds samples and returns limited samples, which lag the input by 5 ms. */
  push(samples: Float32Array): Float32Array {
    const limited = new Float32Array(samples.length);
    let length = 0;
    for (let at = 0; at < samples.length; at += BLOCK) {
      const block = samples.subarray(at, at + BLOCK);
      if (this.#isIdle() && isBelow(this.#harmless, block)) {
        this.#pass(block, limited.subarray(length));
        length += block.length;
        continue;
      }
      for (let index = 0; index < block.length; index += 1) {
        const known = this.#add(block[index] ?? 0);
        if (known < 0) continue;
        limited[length] = this.#limited(known);
        length += 1;
      }
    }
    this.#emitted += length;
    return limited.subarray(0, length);
  }

  /** Returns the remaining samples. */
  finish(): Float32Array {
    const missing = this.#received - this.#emitted;
    return this.push(new Float32Array(this.#samples.length)).subarray(0, missing);
  }

  #isIdle(): boolean {
    const last = Math.max(0, this.#lastLoud, this.#lastPeak, this.#lastReduced);
    return this.#gain === 1 && this.#received - last > this.#samples.length;
  }

  #pass(block: Float32Array, output: Float32Array): void {
    const ring = this.#samples;
    const { length } = ring;
    let newest = this.#received % length;
    let known = (this.#received - REACH - this.#attack + 1) % length;
    for (let index = 0; index < block.length; index += 1) {
      ring[newest] = block[index] ?? 0;
      output[index] = ring[known] ?? 0;
      newest = newest + 1 === length ? 0 : newest + 1;
      known = known + 1 === length ? 0 : known + 1;
    }
    this.#received += block.length;
  }

  #add(sample: number): number {
    const newest = this.#received;
    this.#received += 1;
    this.#samples[newest % this.#samples.length] = sample;
    if (Math.abs(sample) > this.#harmless) this.#lastLoud = newest;
    const isHarmless = newest - this.#lastLoud >= 2 * REACH;
    const allowed = isHarmless ? 1 : this.#allowedGain(newest - REACH);
    // A peak between two samples limits the gain of both samples.
    const least = Math.min(allowed, this.#allowedBefore);
    this.#allowedBefore = allowed;
    if (least < 1) this.#lastPeak = newest;
    const slot = newest % this.#attack;
    const oldest = this.#allowed[slot] ?? 1;
    this.#allowed[slot] = least;
    if (least <= this.#lowest) this.#lowest = least;
    else if (oldest === this.#lowest) this.#lowest = lowest(this.#allowed);
    const risen = this.#gain + (1 - this.#gain) * this.#release;
    if (newest - this.#lastPeak < this.#attack) this.#gain = Math.min(risen, this.#lowest);
    else this.#gain = risen > FULL_GAIN ? 1 : risen;
    if (this.#gain < 1) this.#lastReduced = newest;
    this.#sum += this.#gain - (this.#gains[slot] ?? 1);
    this.#gains[slot] = this.#gain;
    return newest - REACH - this.#attack + 1;
  }

  #limited(index: number): number {
    const sample = this.#samples[index % this.#samples.length] ?? 0;
    if (this.#received - 1 - this.#lastReduced < this.#attack)
      return (sample * this.#sum) / this.#attack;
    // Removes the rounding errors of the sum.
    this.#sum = this.#attack;
    return sample;
  }

  #allowedGain(index: number): number {
    const ring = this.#samples;
    const { length } = ring;
    const window = this.#window;
    let at = (index - REACH + 1 + length) % length;
    for (let tap = 0; tap < window.length; tap += 1) {
      window[tap] = ring[at] ?? 0;
      at = at + 1 === length ? 0 : at + 1;
    }
    const peak = largestLevel(window, 0);
    return peak > this.#ceiling ? this.#ceiling / peak : 1;
  }
}

/** Measures the true peak of a stream of samples (ITU-R BS.1770). */
export class TruePeakMeter {
  #peak = 0;
  #tail = new Float32Array(2 * REACH - 1);

  write(samples: Float32Array): void {
    const all = concatSamples([this.#tail, samples]);
    for (let from = 0; from < samples.length; from += BLOCK) {
      const to = Math.min(from + BLOCK, samples.length);
      if (isBelow(this.#peak / LARGEST_SUM, all.subarray(from, to + 2 * REACH - 1))) continue;
      for (let at = from; at < to; at += 1)
        this.#peak = Math.max(this.#peak, largestLevel(all, at));
    }
    this.#tail = all.slice(samples.length);
  }

  /** Returns the true peak of all samples, where full scale is 1. */
  finish(): number {
    this.write(new Float32Array(2 * REACH));
    return this.#peak;
  }
}

function largestLevel(samples: Float32Array | Float64Array, from: number): number {
  // From the sample in the middle of the window up to the next one.
  let peak = Math.abs(samples[from + REACH - 1] ?? 0);
  for (const filter of FILTERS) {
    let level = 0;
    for (let tap = 0; tap < filter.length; tap += 1) {
      level += (filter[tap] ?? 0) * (samples[from + tap] ?? 0);
    }
    peak = Math.max(peak, Math.abs(level));
  }
  return peak;
}

const FILTERS = Array.from({ length: OVERSAMPLING - 1 }, (_, position) => {
  const filter = Float64Array.from({ length: 2 * REACH }, (_tap, tap) => {
    const distance = tap - (REACH - 1) - (position + 1) / OVERSAMPLING;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / REACH);
    return (window * Math.sin(Math.PI * distance)) / (Math.PI * distance);
  });
  const sum = filter.reduce((total, tap) => total + tap, 0);
  return filter.map((tap) => tap / sum);
});

const LARGEST_SUM = Math.max(
  ...FILTERS.map((filter) => filter.reduce((total, tap) => total + Math.abs(tap), 0)),
);

function isBelow(level: number, samples: Float32Array): boolean {
  for (let index = 0; index < samples.length; index += 1) {
    if (Math.abs(samples[index] ?? 0) > level) return false;
  }
  return true;
}

function lowest(values: Float64Array): number {
  let least = 1;
  for (const value of values) if (value < least) least = value;
  return least;
}
