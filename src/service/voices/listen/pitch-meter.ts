import { PitchDetector } from 'pitchy';
import { createResampler } from '../../../audio/resample.ts';
import type { Resampler } from '../../../audio/resample.ts';

/** Sample level below which sound counts as silence: -60 dB relative to full scale. */
export const AUDIBLE = 0.001;

const RATE = 16_000;
const FRAME = 640;
const HOP = 256;
const MOST_FRAMES = (120 * RATE) / HOP;
const FEWEST_FRAMES = 12;
const VOICE_HZ = { lowest: 50, highest: 600 } as const;
// From 0 (noise) to 1 (a periodic sound).
const CLARITY = 0.65;
const QUIET = 0.02;

const LEAST_CHANGE = 0.18;
const LEAST_COMPLEXITY = 1.2;

interface Frame {
  readonly level: number;
  readonly hz: number;
  readonly meanHz: number;
  readonly timbre: number;
  readonly complexity: number;
}

/** How a voice sounds. */
export interface HeardVoice {
  /** Median pitch in hertz. */
  readonly medianHz: number;
  /** Median of the mean frequency of the spectrum in hertz: how bright the voice is. */
  readonly meanHz: number;
}

/** Measures the pitch and the brightness of a voice in a stream of samples, and detects whether the sound is speech. */
export class PitchMeter {
  readonly #detector = PitchDetector.forFloat32Array(FRAME);
  readonly #frames: Frame[] = [];
  readonly #frame = new Float32Array(FRAME);
  #held = 0;
  #resampler: Resampler | undefined;
  #rate = 0;

  async add(samples: Float32Array, sampleRate: number): Promise<void> {
    if (sampleRate !== this.#rate) {
      this.close();
      this.#resampler = await createResampler(sampleRate, RATE);
      this.#rate = sampleRate;
    }
    const sound = this.#resampler?.push(samples) ?? samples;
    for (let taken = 0; taken < sound.length;) {
      const part = sound.subarray(taken, taken + FRAME - this.#held);
      this.#frame.set(part, this.#held);
      this.#held += part.length;
      taken += part.length;
      if (this.#held < FRAME) return;
      this.#measure();
      this.#frame.copyWithin(0, HOP);
      this.#held -= HOP;
    }
  }

  #measure(): void {
    const level = Math.sqrt(this.#frame.reduce((sum, one) => sum + one * one, 0) / FRAME);
    if (level < AUDIBLE || this.#frames.length >= MOST_FRAMES) return;
    const [hz, clarity] = this.#detector.findPitch(this.#frame, RATE);
    const isVoice = hz >= VOICE_HZ.lowest && hz <= VOICE_HZ.highest && clarity >= CLARITY;
    const other = { level, hz: 0, meanHz: 0, timbre: 0, complexity: 0 };
    this.#frames.push(isVoice ? { level, hz, ...shapeOf(this.#frame, hz) } : other);
  }

  /** Returns undefined if no voice can be heard. */
  voice(): HeardVoice | undefined {
    const voiced = this.#voiced();
    if (voiced.length < FEWEST_FRAMES) return undefined;
    return { medianHz: quantile(voiced, 'hz', 0.5), meanHz: quantile(voiced, 'meanHz', 0.5) };
  }

  /** Returns true if the sound is speech. The timbre of speech changes; the timbre of tones and noise does not. */
  isSpeech(): boolean {
    const voiced = this.#voiced();
    if (voiced.length < FEWEST_FRAMES) return false;
    // Measured change of the timbre (in octaves): at least 0.3 for speech, 0.2 with loud noise, at most 0.16 for a
    // melody. Measured complexity (Hjorth): 1 for a sine wave, about 1.1 for two, at least 1.5 for speech.
    const change = quantile(voiced, 'timbre', 0.75) - quantile(voiced, 'timbre', 0.25);
    return change >= LEAST_CHANGE && quantile(voiced, 'complexity', 0.5) >= LEAST_COMPLEXITY;
  }

  #voiced(): readonly Frame[] {
    const loudest = this.#frames.reduce((most, { level }) => Math.max(most, level), 0);
    return this.#frames.filter(({ hz, level }) => hz > 0 && level >= loudest * QUIET);
  }

  /** Frees the resampler's memory. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
    this.#rate = 0;
  }
}

function quantile(frames: readonly Frame[], field: keyof Frame, share: number): number {
  const values = frames.map((frame) => frame[field]).sort((one, other) => one - other);
  return values[Math.floor(values.length * share)] ?? 0;
}

function shapeOf(samples: Float32Array, hz: number) {
  let [own, first, second] = [0, 0, 0];
  let [before = 0, last = 0] = samples;
  for (let index = 2; index < samples.length; index += 1) {
    const sample = samples[index] ?? 0;
    own += sample ** 2;
    first += (sample - last) ** 2;
    second += (sample - 2 * last + before) ** 2;
    before = last;
    last = sample;
  }
  const mobility = Math.sqrt(first / own);
  const meanHz = (mobility * RATE) / (2 * Math.PI);
  const complexity = Math.sqrt(second / first) / mobility;
  return { meanHz, timbre: Math.log2(meanHz / hz), complexity };
}
