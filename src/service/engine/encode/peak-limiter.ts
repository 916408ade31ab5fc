/** Time before a peak in which the gain falls, and by which the limiter delays the samples internally. */
const ATTACK_SECONDS = 0.005;
/** Time constant of the return to full gain after a peak. */
const RELEASE_SECONDS = 0.06;
/** Factor by which the level is oversampled, because peaks of the analog sound lie between samples (ITU-R BS.1770). */
const OVERSAMPLING = 4;
/** Samples on each side of a position from which its level is interpolated. */
const REACH = 8;
/** Number of samples that are checked together for loud ones. */
const BLOCK = 64;
/** Gains above this count as full gain. */
const FULL_GAIN = 0.9999;

/**
 * Limits the true peaks of a stream of samples: reduces the gain before a loud passage and raises it slowly afterwards.
 * Passes samples on unchanged where nothing is too loud. The number of samples and their times do not change. The result
 * does not depend on how the stream is cut.
 */
export class PeakLimiter {
  readonly #ceiling: number;
  /** If a range of samples does not exceed this level, no interpolated level exceeds the ceiling. */
  readonly #harmless: number;
  readonly #attack: number;
  readonly #release: number;
  /** Rings of the latest values: samples, gains that the peaks allow, and gains to be smoothed. */
  readonly #samples: Float32Array;
  readonly #allowed: Float64Array;
  readonly #gains: Float64Array;
  readonly #window = new Float64Array(2 * REACH);
  #received = 0;
  #emitted = 0;
  /** Indices of the last sample that was not harmless, of the last peak, and of the last reduced gain. */
  #lastLoud = -Infinity;
  #lastPeak = -Infinity;
  #lastReduced = -Infinity;
  #allowedBefore = 1;
  #gain = 1;
  /** Sum of `#gains`. */
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

  /** Adds samples. Returns limited samples; the last 5 ms follow with the next call. */
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

  /** Whether harmless samples would leave every gain at 1. */
  #isIdle(): boolean {
    const last = Math.max(0, this.#lastLoud, this.#lastPeak, this.#lastReduced);
    return this.#gain === 1 && this.#received - last > this.#samples.length;
  }

  /** Adds harmless samples while idle, faster than `#add`, and copies as many earlier samples to `output`. */
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

  /** Adds a sample. Returns the index of the sample whose gain is now known; negative at the beginning. */
  #add(sample: number): number {
    const newest = this.#received;
    this.#received += 1;
    this.#samples[newest % this.#samples.length] = sample;
    if (Math.abs(sample) > this.#harmless) this.#lastLoud = newest;
    const isHarmless = newest - this.#lastLoud >= 2 * REACH;
    const allowed = isHarmless ? 1 : this.#allowedGain(newest - REACH);
    // A peak between two samples limits both.
    const least = Math.min(allowed, this.#allowedBefore);
    this.#allowedBefore = allowed;
    if (least < 1) this.#lastPeak = newest;
    const slot = newest % this.#attack;
    this.#allowed[slot] = least;
    const risen = this.#gain + (1 - this.#gain) * this.#release;
    if (newest - this.#lastPeak < this.#attack) this.#gain = Math.min(risen, lowest(this.#allowed));
    else this.#gain = risen > FULL_GAIN ? 1 : risen;
    if (this.#gain < 1) this.#lastReduced = newest;
    this.#sum += this.#gain - (this.#gains[slot] ?? 1);
    this.#gains[slot] = this.#gain;
    return newest - REACH - this.#attack + 1;
  }

  /** Returns a sample multiplied by the mean gain of the attack time, which none of its peaks exceeds. */
  #limited(index: number): number {
    const sample = this.#samples[index % this.#samples.length] ?? 0;
    if (this.#received - 1 - this.#lastReduced < this.#attack)
      return (sample * this.#sum) / this.#attack;
    // Removes the rounding errors of the sum.
    this.#sum = this.#attack;
    return sample;
  }

  /** Returns the largest gain at which the sound from a sample up to the next one stays below the ceiling. */
  #allowedGain(index: number): number {
    const ring = this.#samples;
    const { length } = ring;
    const window = this.#window;
    let at = (index - REACH + 1 + length) % length;
    for (let tap = 0; tap < window.length; tap += 1) {
      window[tap] = ring[at] ?? 0;
      at = at + 1 === length ? 0 : at + 1;
    }
    let peak = Math.abs(window[REACH - 1] ?? 0);
    for (const filter of FILTERS) {
      let level = 0;
      for (let tap = 0; tap < filter.length; tap += 1) {
        level += (filter[tap] ?? 0) * (window[tap] ?? 0);
      }
      peak = Math.max(peak, Math.abs(level));
    }
    return peak > this.#ceiling ? this.#ceiling / peak : 1;
  }
}

/** Filters that interpolate the levels at positions between two samples: sines cardinal, windowed. */
const FILTERS = Array.from({ length: OVERSAMPLING - 1 }, (_, position) => {
  const filter = Float64Array.from({ length: 2 * REACH }, (_tap, tap) => {
    const distance = tap - (REACH - 1) - (position + 1) / OVERSAMPLING;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / REACH);
    return (window * Math.sin(Math.PI * distance)) / (Math.PI * distance);
  });
  const sum = filter.reduce((total, tap) => total + tap, 0);
  return filter.map((tap) => tap / sum);
});

/** The largest factor by which an interpolated level can exceed all samples around it. */
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
