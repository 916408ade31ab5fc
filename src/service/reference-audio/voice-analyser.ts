import { PitchDetector } from 'pitchy';
import { SpectralEnvelope } from './spectral-envelope.ts';
import type { VoiceProfile } from './voice-profile.ts';

/** The rate at which voices are measured. */
export const ANALYSIS_RATE = 16_000;

/** Samples that are looked at together (40 ms: two periods of the deepest voice), and from one look to the next. */
const FRAME = 640;
const HOP = 256;
/** Sound that is louder than this counts as sound: -60 dB of full scale. */
export const AUDIBLE = 0.001;
/** Frames that are looked at; two minutes of sound tell what there is to know. */
const MOST_FRAMES = (120 * ANALYSIS_RATE) / HOP;
/** Voices are between these. */
const PITCHES = { lowest: 50, highest: 600 } as const;
/** The least that a pitch can be told from: a fifth of a second. */
const FEWEST_FRAMES = 12;
/** How sure the pitch of a frame has to be; less where too few are. */
const CLARITIES = [0.85, 0.75, 0.65] as const;
/** A frame that is this much lower than the loudest says little: -34 dB. */
const QUIET = 0.02;
/** Frames that are an octave off are taken for mistakes. */
const FURTHEST_SEMITONES = 10;

interface PitchFrame {
  readonly hz: number;
  readonly clarity: number;
  readonly level: number;
}

/** Measures a voice while its sound comes; keeps no more of that than one frame. */
export class VoiceAnalyser {
  readonly #detector = PitchDetector.forFloat32Array(FRAME);
  readonly #envelope = new SpectralEnvelope(FRAME);
  readonly #frames: PitchFrame[] = [];
  readonly #frame = new Float32Array(FRAME);
  #held = 0;

  /** Takes in mono samples at `ANALYSIS_RATE`. */
  add(samples: Float32Array): void {
    for (let taken = 0; taken < samples.length;) {
      const part = samples.subarray(taken, taken + FRAME - this.#held);
      this.#frame.set(part, this.#held);
      this.#held += part.length;
      taken += part.length;
      if (this.#held < FRAME) return;
      this.#look();
      this.#frame.copyWithin(0, HOP);
      this.#held -= HOP;
    }
  }

  /** What the voice is like; `undefined` where none is heard. */
  profile(): VoiceProfile | undefined {
    const loudest = this.#frames.reduce((most, { level }) => Math.max(most, level), 0);
    const loud = this.#frames.filter(({ level }) => level >= loudest * QUIET);
    const clear = CLARITIES.map((least) => loud.filter(({ clarity }) => clarity >= least)).find(
      ({ length }) => length >= FEWEST_FRAMES,
    );
    if (clear === undefined) return undefined;
    const pitches = withoutOctaves(clear.map(({ hz }) => hz).sort((one, two) => one - two));
    if (pitches.length < FEWEST_FRAMES) return undefined;
    return {
      medianHz: quantile(pitches, 0.5),
      rangeSemitones: semitones(quantile(pitches, 0.9), quantile(pitches, 0.1)),
      envelope: this.#envelope.levels(ANALYSIS_RATE),
      clearShare: clear.length / loud.length,
    };
  }

  #look(): void {
    const level = rootMeanSquare(this.#frame);
    if (level < AUDIBLE || this.#frames.length >= MOST_FRAMES) return;
    const [hz, clarity] = this.#detector.findPitch(this.#frame, ANALYSIS_RATE);
    const isVoice = hz >= PITCHES.lowest && hz <= PITCHES.highest;
    this.#frames.push({ hz, clarity: isVoice ? clarity : 0, level });
    if (isVoice && clarity >= CLARITIES[0]) this.#envelope.add(this.#frame);
  }
}

/** How many semitones one frequency lies above another. */
export function semitones(hz: number, from: number): number {
  return 12 * Math.log2(hz / from);
}

function withoutOctaves(sorted: readonly number[]): readonly number[] {
  const median = quantile(sorted, 0.5);
  return sorted.filter((hz) => Math.abs(semitones(hz, median)) <= FURTHEST_SEMITONES);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

function rootMeanSquare(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}
