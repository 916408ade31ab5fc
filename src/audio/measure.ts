import type { SoundFormat } from './decode.ts';
import { detectSound } from './decode.ts';
import type { DecodedSound, OpenFile } from './sound.ts';
import { UnusableAudioError } from './sound.ts';

export interface MeasuredSound extends SoundFormat, Measurement {}

interface Measurement {
  readonly sampleRate: number;
  readonly channels: number;
  /** Integrated loudness in LUFS (ITU-R BS.1770-4); undefined for silence and for sounds shorter than 0.4 s. */
  readonly loudness: number | undefined;
  readonly levels: LevelTrack;
}

/**
 * Decodes an audio file and measures the loudness and the levels, using a limited amount of memory.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded
 */
export async function measureSound(file: OpenFile, signal: AbortSignal): Promise<MeasuredSound> {
  const sound = await detectSound(file, signal);
  const measurement = new LoudnessMeasurement();
  for await (const piece of sound.decode(signal)) measurement.add(piece);
  const { codec, format, seconds } = sound;
  const measured = measurement.result();
  const { durationMs } = measured.levels;
  // The FLAC decoder skips damaged frames without reporting them, so the duration is compared.
  if (format === 'flac' && seconds !== undefined && durationMs <= seconds * 1_000 - 1) {
    const found = `only ${(durationMs / 1_000).toFixed(1)} of ${seconds.toFixed(1)} s can be decoded`;
    throw new UnusableAudioError(`is damaged or cut: ${found}`);
  }
  return { format, codec, ...measured };
}

class LoudnessMeasurement {
  #meters: { readonly levels: LevelTrack; readonly loudness: LoudnessMeter } | undefined;
  #channels = 0;
  #sampleRate = 0;

  add({ channels, sampleRate }: DecodedSound): void {
    if ((channels[0]?.length ?? 0) === 0 || sampleRate === 0) return;
    if (this.#sampleRate === 0) [this.#channels, this.#sampleRate] = [channels.length, sampleRate];
    this.#meters ??= {
      levels: new LevelTrack(sampleRate),
      loudness: new LoudnessMeter(channels.length, sampleRate),
    };
    if (channels.length !== this.#channels || sampleRate !== this.#sampleRate) {
      throw new UnusableAudioError('changes its sample rate or number of channels');
    }
    this.#meters.levels.write(channels);
    this.#meters.loudness.write(channels);
  }

  result(): Measurement {
    if (this.#meters === undefined) throw new UnusableAudioError('has no sound');
    const { levels, loudness } = this.#meters;
    levels.finish();
    const [sampleRate, channels] = [this.#sampleRate, this.#channels];
    return { sampleRate, channels, loudness: loudness.integrated, levels };
  }
}

interface BiquadFilter {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

const BLOCK_SECONDS = 0.4;
// Number of steps in a block. Blocks overlap: a new block begins at each step.
const STEPS_A_BLOCK = 4;
// Quieter blocks count as silence (ITU-R BS.1770-4).
const ABSOLUTE_GATE_LUFS = -70;
// Blocks that are this much quieter than the average count as pauses (ITU-R BS.1770-4).
const RELATIVE_GATE_LU = -10;
const OFFSET_LUFS = -0.691;
const SURROUND_WEIGHT = 1.41;
const FIRST_SURROUND = 3;

/** Measures integrated loudness (ITU-R BS.1770-4). */
export class LoudnessMeter {
  readonly #channels: ChannelMeter[];
  readonly #stepLength: number;
  readonly #steps: number[] = [];
  #inStep = 0;
  #energy = 0;

  constructor(channels: number, sampleRate: number) {
    const filters = [shelf(sampleRate), highPass(sampleRate)] as const;
    this.#channels = Array.from({ length: channels }, (_, index) => {
      const isSurround = channels > FIRST_SURROUND && index >= FIRST_SURROUND;
      return new ChannelMeter(filters, isSurround ? SURROUND_WEIGHT : 1);
    });
    this.#stepLength = Math.round((sampleRate * BLOCK_SECONDS) / STEPS_A_BLOCK);
  }

  /** Adds samples of each channel, from -1 to 1. All channels must have the same length. */
  write(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let from = 0; from < length;) {
      const to = Math.min(length, from + this.#stepLength - this.#inStep);
      for (const [index, samples] of channels.entries()) {
        this.#energy += this.#channels[index]?.energyOf(samples, from, to) ?? 0;
      }
      this.#inStep += to - from;
      from = to;
      if (this.#inStep < this.#stepLength) continue;
      this.#steps.push(this.#energy / this.#stepLength);
      this.#energy = 0;
      this.#inStep = 0;
    }
  }

  /** The loudness in LUFS; undefined for silence and for sounds shorter than 0.4 s. */
  get integrated(): number | undefined {
    const count = Math.max(0, this.#steps.length - STEPS_A_BLOCK + 1);
    const blocks = Array.from({ length: count }, (_, first) =>
      mean(this.#steps.slice(first, first + STEPS_A_BLOCK)),
    ).filter((energy) => lufs(energy) > ABSOLUTE_GATE_LUFS);
    if (blocks.length === 0) return undefined;
    const gate = lufs(mean(blocks)) + RELATIVE_GATE_LU;
    return lufs(mean(blocks.filter((energy) => lufs(energy) > gate)));
  }
}

// Added to each sample: in digital silence the filters would decay to subnormal numbers, which processors calculate with
// seven times as slowly.
const INAUDIBLE = 1e-30;

// The filters use the transposed direct form II.
class ChannelMeter {
  readonly #filters: readonly [BiquadFilter, BiquadFilter];
  readonly #weight: number;
  readonly #memory = new Float64Array(4);

  constructor(filters: readonly [BiquadFilter, BiquadFilter], weight: number) {
    this.#filters = filters;
    this.#weight = weight;
  }

  energyOf(samples: Float32Array, from: number, to: number): number {
    const [
      {
        b: [b0, b1, b2],
        a: [a1, a2],
      },
      {
        b: [c0, c1, c2],
        a: [d1, d2],
      },
    ] = this.#filters;
    const memory = this.#memory;
    let [p = 0, q = 0, r = 0, s = 0] = memory;
    let energy = 0;
    for (let index = from; index < to; index += 1) {
      const sample = samples[index] ?? 0;
      const x = (Number.isFinite(sample) ? sample : 0) + INAUDIBLE;
      const y = b0 * x + p;
      p = b1 * x - a1 * y + q;
      q = b2 * x - a2 * y;
      const z = c0 * y + r;
      r = c1 * y - d1 * z + s;
      s = c2 * y - d2 * z;
      energy += z * z;
    }
    memory.set([p, q, r, s]);
    return energy * this.#weight;
  }
}

// The first filter of K-weighting: a high shelf with a gain of 4 dB.
function shelf(sampleRate: number): BiquadFilter {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const quality = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const scale = 1 + k / quality + k * k;
  return {
    b: [
      (high + (band * k) / quality + k * k) / scale,
      (2 * (k * k - high)) / scale,
      (high - (band * k) / quality + k * k) / scale,
    ],
    a: [(2 * (k * k - 1)) / scale, (1 - k / quality + k * k) / scale],
  };
}

// The second filter of K-weighting: a high-pass filter at 38 Hz.
function highPass(sampleRate: number): BiquadFilter {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const quality = 0.5003270373238773;
  const scale = 1 + k / quality + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / scale, (1 - k / quality + k * k) / scale] };
}

function lufs(energy: number): number {
  return OFFSET_LUFS + 10 * Math.log10(energy);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export interface SilentPause {
  readonly startMs: number;
  readonly endMs: number;
}

const BUCKET_SECONDS = 0.01;
/** The amplitude below which a sample counts as silence: 50 dB below full scale. */
export const SILENCE_LEVEL = 10 ** (-50 / 20);

/** Records the peak level of each 10 ms, to compute pauses and a waveform. */
export class LevelTrack {
  readonly #bucketLength: number;
  readonly #sampleRate: number;
  readonly #levels: number[] = [];
  /** Number of samples that reach full scale. */
  clipped = 0;
  #samples = 0;
  #level = 0;
  #inBucket = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#bucketLength = Math.max(1, Math.round(sampleRate * BUCKET_SECONDS));
  }

  /** Adds samples of each channel. All channels must have the same length. */
  write(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let index = 0; index < length; index += 1) {
      for (const samples of channels) {
        const size = Math.abs(samples[index] ?? 0);
        if (size > this.#level) this.#level = size;
        if (size >= 1) this.clipped += 1;
      }
      this.#inBucket += 1;
      if (this.#inBucket === this.#bucketLength) this.#endBucket();
    }
    this.#samples += length;
  }

  finish(): void {
    if (this.#inBucket > 0) this.#endBucket();
  }

  get durationMs(): number {
    return (this.#samples / this.#sampleRate) * 1000;
  }

  get peak(): number {
    return highest(this.#levels);
  }

  /** Returns the pauses of at least `minimumMs` milliseconds, including those at the beginning and the end. */
  pauses(minimumMs: number): SilentPause[] {
    const bucketMs = (this.#bucketLength / this.#sampleRate) * 1000;
    const pauses: SilentPause[] = [];
    let begun: number | undefined;
    for (let index = 0; index <= this.#levels.length; index += 1) {
      const isSilent = index < this.#levels.length && (this.#levels[index] ?? 0) < SILENCE_LEVEL;
      if (isSilent) begun ??= index;
      else if (begun !== undefined) {
        const endMs = Math.min(index * bucketMs, this.durationMs);
        if (endMs - begun * bucketMs >= minimumMs)
          pauses.push({ startMs: begun * bucketMs, endMs });
        begun = undefined;
      }
    }
    return pauses;
  }

  /**
   * Divides the sound into `intervals` equal intervals, and returns the peak level of each, where full scale is 1. A
   * very short sound has fewer intervals.
   */
  waveform(intervals: number): number[] {
    const count = Math.min(intervals, this.#levels.length);
    return Array.from({ length: count }, (_, index) => {
      const from = Math.floor((index * this.#levels.length) / count);
      const to = Math.floor(((index + 1) * this.#levels.length) / count);
      return highest(this.#levels.slice(from, to));
    });
  }

  #endBucket(): void {
    this.#levels.push(this.#level);
    this.#level = 0;
    this.#inBucket = 0;
  }
}

function highest(levels: readonly number[]): number {
  return levels.reduce((most, level) => Math.max(most, level), 0);
}
