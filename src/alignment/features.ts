import FFT from 'fft.js';

/** Time between the starts of two consecutive audio frames, in milliseconds. */
export const HOP_MS = 10;
const WINDOW_SECONDS = 0.025;
/** Time from the start of the audio to the middle of the first frame, in milliseconds. */
export const FIRST_FRAME_MS = (WINDOW_SECONDS * 1000) / 2;

/** Number of bands that are measured. */
export const BANDS = 32;
const LOWEST_HZ = 100;
const HIGHEST_HZ = 7_600;
/** The lowest and the highest sample rate, in hertz, that `BandMeter` accepts. */
export const SAMPLE_RATES = { lowest: 4_000, highest: 384_000 } as const;
// Added to energies, because digital silence would have the logarithm of 0.
const LEAST_ENERGY = 1e-12;

/** The energy of a sound in bands of the mel scale, measured every 10 ms. */
export interface BandEnergies {
  /** Natural logarithms of the energies: `BANDS` values for each frame. */
  readonly logs: Float32Array<ArrayBuffer>;
  readonly frames: number;
  /** Number of bands that lie below half of the sample rate. In `logs`, the values of all higher bands are 0. */
  readonly bands: number;
}

/** Measures the energy of streamed audio in bands of the mel scale. Each second of audio needs 13 kB of memory. */
export class BandMeter {
  readonly #rate: number;
  readonly #window: Float64Array;
  readonly #fft: FFT;
  readonly #input: number[];
  readonly #spectrum: number[];
  readonly #filters: readonly MelFilter[];
  #samples = new Float32Array(0);
  // Number of samples that were measured and dropped.
  #passed = 0;
  readonly #blocks: Float32Array[] = [];
  #frames = 0;

  /** @throws RangeError for a sample rate below 4,000 Hz or above 384,000 Hz */
  constructor(sampleRate: number) {
    if (sampleRate < SAMPLE_RATES.lowest || sampleRate > SAMPLE_RATES.highest) {
      throw new RangeError(`Cannot measure sound at ${sampleRate} Hz.`);
    }
    const length = Math.round(WINDOW_SECONDS * sampleRate);
    const size = 2 ** Math.ceil(Math.log2(length));
    this.#rate = sampleRate;
    this.#window = Float64Array.from(
      { length },
      (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (index + 0.5)) / length),
    );
    this.#fft = new FFT(size);
    this.#input = Array.from({ length: size }, () => 0);
    this.#spectrum = this.#fft.createComplexArray();
    this.#filters = melFilters(size, sampleRate);
  }

  /** Adds mono samples with values from -1 to 1. */
  push(samples: Float32Array): void {
    const joined = new Float32Array(this.#samples.length + samples.length);
    joined.set(this.#samples);
    joined.set(samples, this.#samples.length);
    for (;;) {
      const start = Math.round((this.#frames * this.#rate * HOP_MS) / 1000) - this.#passed;
      if (start + this.#window.length > joined.length) {
        const used = Math.min(start, joined.length);
        this.#samples = joined.slice(used);
        this.#passed += used;
        return;
      }
      this.#measure(joined, start);
    }
  }

  /** Returns the energies of all frames. Samples at the end that do not fill a frame are ignored. */
  finish(): BandEnergies {
    const logs = new Float32Array(this.#frames * BANDS);
    for (const [index, block] of this.#blocks.entries()) {
      const at = index * block.length;
      logs.set(block.subarray(0, logs.length - at), at);
    }
    return { logs, frames: this.#frames, bands: this.#filters.length };
  }

  #measure(samples: Float32Array, start: number): void {
    const [window, input, spectrum] = [this.#window, this.#input, this.#spectrum];
    for (let index = 0; index < window.length; index += 1) {
      input[index] = (samples[start + index] ?? 0) * (window[index] ?? 0);
    }
    this.#fft.realTransform(spectrum, input);
    const inBlock = this.#frames % BLOCK_FRAMES;
    if (inBlock === 0) this.#blocks.push(new Float32Array(BLOCK_FRAMES * BANDS));
    const block = this.#blocks.at(-1);
    for (const [band, { first, weights }] of this.#filters.entries()) {
      let energy = 0;
      for (let bin = 0; bin < weights.length; bin += 1) {
        const real = spectrum[2 * (first + bin)] ?? 0;
        const imaginary = spectrum[2 * (first + bin) + 1] ?? 0;
        energy += (weights[bin] ?? 0) * (real * real + imaginary * imaginary);
      }
      if (block !== undefined) {
        block[inBlock * BANDS + band] = Math.log(energy / this.#rate + LEAST_ENERGY);
      }
    }
    this.#frames += 1;
  }
}

const BLOCK_FRAMES = 1_000;

interface MelFilter {
  readonly first: number;
  readonly weights: Float64Array;
}

// Triangular filters, equally spaced on the mel scale.
function melFilters(size: number, sampleRate: number): readonly MelFilter[] {
  const bottom = mel(LOWEST_HZ);
  const step = (mel(HIGHEST_HZ) - bottom) / (BANDS + 1);
  const edge = (band: number): number => hertz(bottom + band * step);
  return Array.from({ length: BANDS }, (_, band) => band)
    .filter((band) => edge(band + 2) <= sampleRate / 2)
    .map((band) => {
      const [low, middle, high] = [edge(band), edge(band + 1), edge(band + 2)];
      const first = Math.ceil((low * size) / sampleRate);
      const last = Math.floor((high * size) / sampleRate);
      const weights = Float64Array.from({ length: last - first + 1 }, (_, bin) => {
        const frequency = ((first + bin) * sampleRate) / size;
        const rise = (frequency - low) / (middle - low);
        const fall = (high - frequency) / (high - middle);
        return (Math.min(rise, fall) * 2) / (high - low);
      });
      return { first, weights };
    });
}

function mel(frequency: number): number {
  return 2595 * Math.log10(1 + frequency / 700);
}

function hertz(mels: number): number {
  return 700 * (10 ** (mels / 2595) - 1);
}

/** The frames of a recording or of reference speech, 10 ms apart. Frames that sound alike have similar cepstra. */
export interface Frames {
  /** The cepstra: `CEPSTRA` values for each frame, one frame after the other. */
  readonly values: Float32Array;
  readonly count: number;
  /** Loudness of each frame: 0 for silence, 1 for loud speech. */
  readonly loudness: Float32Array;
}

/** Number of cepstral values for each frame in {@link Frames}. */
export const CEPSTRA = 13;

/**
 * Computes the cepstra of a recording and of reference speech, so that the two can be compared. Uses only the frequency
 * bands that both contain, and removes the effect of loudness, microphone, room and noise.
 * @param isSpeech for each frame of the recording: 0 if the frame is certainly not speech, otherwise 1
 * @param isWord for each frame of the reference: 1 if the frame is part of a word, otherwise 0
 */
export function comparableFrames(
  recording: BandEnergies,
  reference: BandEnergies,
  { isSpeech, isWord }: { readonly isSpeech: Uint8Array; readonly isWord: Uint8Array },
): { readonly recording: Frames; readonly reference: Frames } {
  const bands = Math.min(recording.bands, reference.bands);
  const heardLevels = frameLevels(recording, bands);
  const spokenLevels = frameLevels(reference, bands);
  const speechLevels = heardLevels.filter((_, frame) => isSpeech[frame] === 1).sort();
  const isHeard = loudFrames(heardLevels, speechLevels, isSpeech);
  const isSpoken = loudFrames(spokenLevels, spokenLevels.toSorted(), isWord);
  const heard = bandLevels(recording, bands, { isLoud: isHeard, isSpeech });
  const all = new Uint8Array(reference.frames).fill(1);
  const spoken = bandLevels(reference, bands, { isLoud: isSpoken, isSpeech: all });
  const floor = heard.noise.map((noise, band) =>
    Math.max(-RANGE, noise - (heard.speech[band] ?? 0) + ABOVE_NOISE),
  );
  return {
    recording: {
      values: cepstra(recording, heard.speech, floor, isHeard),
      count: recording.frames,
      loudness: loudnessOf(heardLevels, speechLevels),
    },
    reference: {
      values: cepstra(reference, spoken.speech, floor, isSpoken),
      count: reference.frames,
      loudness: new Float32Array(reference.frames).fill(1),
    },
  };
}

/** Natural logarithm of the energy ratio that is one decibel. */
export const DECIBEL = Math.LN10 / 10;
// Energies that are further below the level of speech than this count as equal.
const RANGE = 30 * DECIBEL;
const ABOVE_NOISE = 3 * DECIBEL;

// The limit of silence is `usual` below loud speech. In noise it is higher, `SILENCE_ABOVE_NOISE` above the noise, but
// at most `least` below loud speech.
const SILENCE_BELOW = { usual: 35 * DECIBEL, least: 12 * DECIBEL } as const;
const SILENCE_ABOVE_NOISE = 6 * DECIBEL;

function frameLevels({ frames, logs }: BandEnergies, bands: number): Float32Array {
  const levels = new Float32Array(frames);
  for (let frame = 0; frame < frames; frame += 1) {
    let energy = LEAST_ENERGY;
    for (let band = 0; band < bands; band += 1) {
      energy += Math.exp(logs[frame * BANDS + band] ?? 0);
    }
    levels[frame] = Math.log(energy);
  }
  return levels;
}

// Frames that are at most this much quieter than loud speech are certainly speech, and not noise in a pause.
const LOUD = 27 * DECIBEL;

function loudFrames(levels: Float32Array, sorted: Float32Array, isSpeech: Uint8Array): Uint8Array {
  const limit = quantile(sorted, 0.95) - LOUD;
  return Uint8Array.from(levels, (level, at) => (level > limit && isSpeech[at] === 1 ? 1 : 0));
}

/**
 * Returns the range of a recording without the silence at its beginning and end. `from` is the first frame that is not
 * silent, and `to` is the frame after the last one that is not silent. If all frames are silent, both are 0.
 */
export function soundFrames(recording: BandEnergies): {
  readonly from: number;
  readonly to: number;
} {
  const levels = frameLevels(recording, recording.bands);
  const loudness = loudnessOf(levels, levels.toSorted());
  const from = loudness.findIndex((one) => one > 0);
  return { from: Math.max(0, from), to: loudness.findLastIndex((one) => one > 0) + 1 };
}

function loudnessOf(levels: Float32Array, sorted: Float32Array): Float32Array {
  const loud = quantile(sorted, 0.95);
  const quiet = Math.max(loud - SILENCE_BELOW.usual, quantile(sorted, 0.02) + SILENCE_ABOVE_NOISE);
  const silent = Math.min(quiet, loud - SILENCE_BELOW.least);
  const range = Math.max(DECIBEL, loud - LOUD_BELOW - silent);
  return levels.map((level) =>
    level < SILENCE ? 0 : Math.min(1, Math.max(0, (level - silent) / range)),
  );
}

// Frames that are at most this much quieter than loud speech have the loudness 1.
const LOUD_BELOW = 25 * DECIBEL;

// 100 dB below full scale is silence in every recording.
const SILENCE = -100 * DECIBEL;

// Levels are computed from a sample of the frames, so that the time does not grow with the recording.
const LEVEL_FRAMES = 5_000;

function bandLevels(
  { frames, logs }: BandEnergies,
  bands: number,
  { isLoud, isSpeech }: { readonly isLoud: Uint8Array; readonly isSpeech: Uint8Array },
): { readonly speech: Float32Array; readonly noise: Float32Array } {
  const step = Math.ceil(frames / LEVEL_FRAMES);
  const all = Array.from(
    { length: Math.ceil(frames / step) || 0 },
    (_, index) => index * step,
  ).filter((frame) => isSpeech[frame] === 1);
  const speech = all.filter((frame) => isLoud[frame] === 1);
  const level = (chosen: readonly number[], band: number, share: number): number => {
    const values = Float32Array.from(chosen, (frame) => logs[frame * BANDS + band] ?? 0);
    return quantile(values.sort(), share);
  };
  return {
    speech: Float32Array.from({ length: bands }, (_, band) => level(speech, band, 0.9)),
    noise: Float32Array.from({ length: bands }, (_, band) => level(all, band, 0.1)),
  };
}

function quantile(sorted: Float32Array, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

// The first cepstral value, the level of the frame, counts half, because speakers stress words differently.
const LEVEL_WEIGHT = 0.5;

function cepstra(
  { frames, logs }: BandEnergies,
  top: Float32Array,
  floor: Float32Array,
  isSpeech: Uint8Array,
): Float32Array {
  const bands = top.length;
  const cosines = Float64Array.from({ length: CEPSTRA * bands }, (_, index) => {
    const order = Math.floor(index / bands);
    const weight = (order === 0 ? LEVEL_WEIGHT : 1) * Math.sqrt(2 / bands);
    return weight * Math.cos((Math.PI * order * ((index % bands) + 0.5)) / bands);
  });
  const values = new Float32Array(frames * CEPSTRA);
  const mean = new Float64Array(CEPSTRA);
  const levels = new Float64Array(bands);
  let count = 0;
  for (let frame = 0; frame < frames; frame += 1) {
    for (let band = 0; band < bands; band += 1) {
      const level = (logs[frame * BANDS + band] ?? 0) - (top[band] ?? 0);
      levels[band] = Math.max(floor[band] ?? 0, level);
    }
    const counts = isSpeech[frame] === 1;
    if (counts) count += 1;
    for (let order = 0; order < CEPSTRA; order += 1) {
      let sum = 0;
      for (let band = 0; band < bands; band += 1) {
        sum += (cosines[order * bands + band] ?? 0) * (levels[band] ?? 0);
      }
      values[frame * CEPSTRA + order] = sum;
      if (counts) mean[order] = (mean[order] ?? 0) + sum;
    }
  }
  for (let index = 0; index < values.length; index += 1) {
    values[index] = (values[index] ?? 0) - (mean[index % CEPSTRA] ?? 0) / Math.max(1, count);
  }
  return values;
}
