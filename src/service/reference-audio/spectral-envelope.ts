import { Autocorrelator } from 'pitchy';
import { ENVELOPE_HZ } from './voice-profile.ts';

/** Poles of the model: two for each resonance that a voice has below 8 kHz, and a few for the rest. */
const ORDER = 18;
/** Lifts high frequencies, which a voice has little of, by about 6 dB an octave. */
const PRE_EMPHASIS = 0.95;
/** Keeps the model stable, as if there were a little noise. */
const NOISE_FLOOR = 1e-4;

/** The resonances of a voice: the smooth shape of its spectrum, by linear prediction. */
export class SpectralEnvelope {
  readonly #autocorrelator: Autocorrelator<Float32Array>;
  readonly #window: Float32Array;
  readonly #framed: Float32Array;
  readonly #correlation: Float32Array;
  readonly #sum = new Float64Array(ORDER + 1);

  /** @param frameLength samples that come at a time */
  constructor(frameLength: number) {
    this.#autocorrelator = Autocorrelator.forFloat32Array(frameLength);
    this.#window = hann(frameLength);
    this.#framed = new Float32Array(frameLength);
    this.#correlation = new Float32Array(frameLength);
  }

  /** Takes in a frame of voiced sound; each counts the same, however loud it is. */
  add(frame: Float32Array): void {
    for (let index = 0; index < frame.length; index += 1) {
      const before = index === 0 ? 0 : (frame[index - 1] ?? 0);
      const lifted = (frame[index] ?? 0) - PRE_EMPHASIS * before;
      this.#framed[index] = lifted * (this.#window[index] ?? 0);
    }
    this.#autocorrelator.autocorrelate(this.#framed, this.#correlation);
    const energy = this.#correlation[0] ?? 0;
    if (energy <= 0) return;
    for (let lag = 0; lag <= ORDER; lag += 1) {
      this.#sum[lag] = (this.#sum[lag] ?? 0) + (this.#correlation[lag] ?? 0) / energy;
    }
  }

  /** Levels in decibels at `ENVELOPE_HZ`, with a mean of 0. */
  levels(sampleRate: number): readonly number[] {
    const filter = predictor(this.#sum);
    const levels = ENVELOPE_HZ.map((hz) => -decibels(filter, (2 * Math.PI * hz) / sampleRate));
    const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
    return levels.map((level) => level - mean);
  }
}

/** The filter that takes the resonances out of the sound (the Levinson-Durbin recursion). */
function predictor(correlation: Float64Array): readonly number[] {
  const zeroth = (correlation[0] ?? 0) * (1 + NOISE_FLOOR);
  let filter = [1];
  let error = zeroth;
  for (let order = 1; order <= ORDER && error > 0; order += 1) {
    const sum = filter.reduce(
      (all, weight, index) => all + weight * at(correlation, order - index),
      0,
    );
    const reflection = -sum / error;
    const longer = [...filter, 0];
    filter = longer.map((weight, index) => weight + reflection * (longer[order - index] ?? 0));
    error *= 1 - reflection * reflection;
  }
  return filter;
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}

/** How much of a frequency (in radians a sample) a filter lets through. */
function decibels(filter: readonly number[], frequency: number): number {
  let real = 0;
  let imaginary = 0;
  for (const [index, weight] of filter.entries()) {
    real += weight * Math.cos(frequency * index);
    imaginary -= weight * Math.sin(frequency * index);
  }
  return 10 * Math.log10(real * real + imaginary * imaginary + Number.MIN_VALUE);
}

function hann(length: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (length - 1)),
  );
}
