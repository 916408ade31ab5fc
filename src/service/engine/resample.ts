import type { SpeexResampler } from '@echogarden/speex-resampler-wasm/simd';

/** Brings a stream of samples to another rate, without delay at its beginning. */
export interface Resampler {
  /** What can be said after these samples; less than their share, as the filter looks ahead. */
  push(samples: Float32Array): Float32Array;
  /** The rest: afterwards exactly `inputs * outputRate / inputRate` samples, rounded, have come. */
  finish(): Float32Array;
  /** Gives its memory back; to be called in any case. */
  close(): void;
}

/** @throws Error when the rates are none that can be converted */
export async function createResampler(inputRate: number, outputRate: number): Promise<Resampler> {
  if (inputRate === outputRate) return UNCHANGED;
  return new SpeexStream(await loadSpeex(), inputRate, outputRate);
}

/**
 * Compiles what `createResampler` needs; all resamplers share it. Safe to call early and often.
 */
export function loadSpeex(): Promise<SpeexResampler> {
  speex ??= import('@echogarden/speex-resampler-wasm/simd').then((loaded) => loaded.default());
  return speex;
}

let speex: Promise<SpeexResampler> | undefined;

const UNCHANGED: Resampler = {
  push: (samples) => samples,
  finish: () => new Float32Array(0),
  close: () => {},
};

/** 0 to 10; at 5 what is lost is far below what mp3 loses. */
const QUALITY = 5;

/** Samples that are put in at once. */
const INPUT_ROOM = 4_096;
const FLOAT_BYTES = 4;

class SpeexStream implements Resampler {
  readonly #speex: SpeexResampler;
  readonly #state: number;
  readonly #input: number;
  readonly #output: number;
  /** Where the two lengths are: what is put in, then what comes out. */
  readonly #lengths: number;
  readonly #outputRoom: number;
  readonly #ratio: number;
  #taken = 0;
  #given = 0;

  constructor(library: SpeexResampler, inputRate: number, outputRate: number) {
    this.#speex = library;
    this.#ratio = outputRate / inputRate;
    this.#outputRoom = Math.ceil(INPUT_ROOM * this.#ratio) + 1;
    this.#state = library._speex_resampler_init(1, inputRate, outputRate, QUALITY, 0);
    if (this.#state === 0) throw new Error(`Cannot resample ${inputRate} to ${outputRate} Hz.`);
    library._speex_resampler_skip_zeros(this.#state);
    this.#input = library._malloc(INPUT_ROOM * FLOAT_BYTES);
    this.#output = library._malloc(this.#outputRoom * FLOAT_BYTES);
    this.#lengths = library._malloc(2 * FLOAT_BYTES);
  }

  push(samples: Float32Array): Float32Array {
    this.#taken += samples.length;
    return this.#convert(samples);
  }

  finish(): Float32Array {
    const missing = Math.round(this.#taken * this.#ratio) - this.#given;
    const parts: Float32Array[] = [];
    for (let length = 0; length < missing; length += parts.at(-1)?.length ?? 0) {
      parts.push(this.#convert(new Float32Array(INPUT_ROOM)));
    }
    return joined(parts).subarray(0, missing);
  }

  close(): void {
    this.#speex._speex_resampler_destroy(this.#state);
    for (const pointer of [this.#input, this.#output, this.#lengths]) this.#speex._free(pointer);
  }

  #convert(samples: Float32Array): Float32Array {
    const parts: Float32Array[] = [];
    for (let taken = 0; taken < samples.length;) {
      const input = samples.subarray(taken, taken + INPUT_ROOM);
      const step = this.#step(input);
      taken += step.taken;
      parts.push(step.output);
    }
    const output = joined(parts);
    this.#given += output.length;
    return output;
  }

  #step(input: Float32Array): { taken: number; output: Float32Array } {
    const lengths = this.#lengths / FLOAT_BYTES;
    this.#speex.HEAPF32.set(input, this.#input / FLOAT_BYTES);
    this.#speex.HEAPU32.set([input.length, this.#outputRoom], lengths);
    this.#speex._speex_resampler_process_float(
      this.#state,
      0,
      this.#input,
      this.#lengths,
      this.#output,
      this.#lengths + FLOAT_BYTES,
    );
    const [taken = 0, given = 0] = this.#speex.HEAPU32.subarray(lengths, lengths + 2);
    const output = this.#output / FLOAT_BYTES;
    return { taken, output: this.#speex.HEAPF32.slice(output, output + given) };
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The largest level that leaves this file: a little below full scale, as mp3 and ogg overshoot. */
export const CEILING = 0.98;

/** Below this level samples pass unchanged; from here up to the ceiling they are bent, never cut. */
const KNEE = 0.8;

/** The factor on samples that changes their level by `decibels`; 6 is about twice, -6 about half. */
export function gainOf(decibels: number): number {
  return 10 ** (decibels / 20);
}

/** Multiplies samples by `gain`; what would go above the knee is bent under `CEILING`. */
export function amplify(samples: Float32Array, gain: number): Float32Array<ArrayBuffer> {
  const louder = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) {
    louder[index] = limit((samples[index] ?? 0) * gain);
  }
  return louder;
}

function limit(sample: number): number {
  const level = Math.abs(sample);
  if (level <= KNEE) return sample;
  const room = CEILING - KNEE;
  return Math.sign(sample) * (KNEE + room * Math.tanh((level - KNEE) / room));
}
