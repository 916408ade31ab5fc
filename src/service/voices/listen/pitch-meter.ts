import { PitchDetector } from 'pitchy';
import { createResampler } from '../../engine/resample.ts';
import type { Resampler } from '../../engine/resample.ts';

/** Sound that is louder than this counts as sound: -60 dB of full scale. */
export const AUDIBLE = 0.001;

const RATE = 16_000;
/** Samples of one measurement (40 ms: two periods of the deepest voice), and from one to the next. */
const FRAME = 640;
const HOP = 256;
/** Two minutes of sound are enough. */
const MOST_FRAMES = (120 * RATE) / HOP;
/** The minimum for a pitch: a fifth of a second. */
const FEWEST_FRAMES = 12;
const VOICE_HZ = { lowest: 50, highest: 600 } as const;
/** How clear the pitch of a frame has to be. */
const CLARITY = 0.65;
/** A frame that is this much lower than the loudest is noise: -34 dB. */
const QUIET = 0.02;

/** Measures the median pitch of a voice while its sound arrives. */
export class PitchMeter {
  readonly #detector = PitchDetector.forFloat32Array(FRAME);
  readonly #frames: { readonly hz: number; readonly level: number }[] = [];
  readonly #frame = new Float32Array(FRAME);
  #held = 0;
  #resampler: Resampler | undefined;
  #rate = 0;

  /** Adds mono sound. */
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

  /** Returns the median pitch in hertz; `undefined` where no voice is heard. */
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
