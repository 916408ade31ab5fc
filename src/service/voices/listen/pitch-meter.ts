import { PitchDetector } from 'pitchy';
import { createResampler } from '../../engine/resample.ts';
import type { Resampler } from '../../engine/resample.ts';

/** Level below which sound counts as silence: -60 dB of full scale. */
export const AUDIBLE = 0.001;

const RATE = 16_000;
/** Number of samples for one measurement: 40 ms, or two periods of the deepest voice. */
const FRAME = 640;
/** Number of samples from the start of a measurement to the start of the next. */
const HOP = 256;
/** Maximum number of measurements: two minutes. */
const MOST_FRAMES = (120 * RATE) / HOP;
/** Minimum number of measurements for a pitch: a fifth of a second. */
const FEWEST_FRAMES = 12;
const VOICE_HZ = { lowest: 50, highest: 600 } as const;
/** Minimum clarity of the pitch in a measurement, from 0 (noise) to 1 (a periodic sound). */
const CLARITY = 0.65;
/** A measurement below this share of the loudest level (-34 dB) counts as noise. */
const QUIET = 0.02;

/** Measures the median pitch of a voice in a stream of samples. */
export class PitchMeter {
  readonly #detector = PitchDetector.forFloat32Array(FRAME);
  readonly #frames: { readonly hz: number; readonly level: number }[] = [];
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
    this.#frames.push({ hz: isVoice ? hz : 0, level });
  }

  /** Returns the median pitch in hertz; undefined if the sound has no voice. */
  median(): number | undefined {
    const loudest = this.#frames.reduce((most, { level }) => Math.max(most, level), 0);
    const pitches = this.#frames
      .filter(({ hz, level }) => hz > 0 && level >= loudest * QUIET)
      .map(({ hz }) => hz)
      .sort((one, other) => one - other);
    return pitches.length < FEWEST_FRAMES ? undefined : pitches[Math.floor(pitches.length / 2)];
  }

  /** Frees the resampler's memory. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
    this.#rate = 0;
  }
}
