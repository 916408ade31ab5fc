import { PitchDetector, Autocorrelator } from 'pitchy';

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

/** Poles of the model: two for each resonance that a voice has below 8 kHz, and a few for the rest. */
const ORDER = 18;
/** Lifts high frequencies, which a voice has little of, by about 6 dB an octave. */
const PRE_EMPHASIS = 0.95;
/** Keeps the model stable, as if there were a little noise. */
const NOISE_FLOOR = 1e-4;

/** The resonances of a voice: the smooth shape of its spectrum, by linear prediction. */
class SpectralEnvelope {
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

/** What is measured of a voice: nothing by which anybody could be recognised. */
export interface VoiceProfile {
  /** Median of its fundamental frequency in hertz. */
  readonly medianHz: number;
  /** Semitones between the tenth and the ninetieth part of it: how far the melody goes. */
  readonly rangeSemitones: number;
  /**
   * Level in decibels of the resonances at `ENVELOPE_HZ`, over all voiced sound; their mean is 0, as how
   * loud it is does not count.
   */
  readonly envelope: readonly number[];
  /** How much of its sound has a pitch that is clear: a rough voice has little. */
  readonly clearShare: number;
}

/** How closely frequencies of an envelope lie: this many to a doubling. */
const STEPS_PER_OCTAVE = 24;
const LOWEST_HZ = 250;
const OCTAVES = 3.8;

/** Where an envelope is measured: from 250 to 3,480 Hz, the range that a telephone lets through too. */
const ENVELOPE_HZ: readonly number[] = Array.from(
  { length: Math.round(STEPS_PER_OCTAVE * OCTAVES) + 1 },
  (_, index) => LOWEST_HZ * 2 ** (index / STEPS_PER_OCTAVE),
);

/** Further than this a voice that is played faster or slower is no longer understood well. */
const LARGEST_SHIFT = 5;

/** How alike two envelopes are, at best. */
export interface Likeness {
  /** What to multiply the frequencies of the other with, to be like the one. */
  readonly formants: number;
  /** Mean difference in decibels that is left then. */
  readonly difference: number;
}

/** How the resonances of `other` are best moved to be like those of `one`, and how like they are then. */
export function likeness(one: readonly number[], other: readonly number[]): Likeness {
  const shifts = Array.from({ length: 2 * LARGEST_SHIFT + 1 }, (_, index) => index - LARGEST_SHIFT);
  const found = shifts.map((shift) => ({
    formants: 2 ** (shift / STEPS_PER_OCTAVE),
    difference: difference(one, other, shift),
  }));
  return found.reduce((best, next) => (next.difference < best.difference ? next : best));
}

/** The root of the mean square of the differences where both are known, their means made equal. */
function difference(one: readonly number[], other: readonly number[], shift: number): number {
  const pairs = one.flatMap((level, index) => {
    const moved = other[index - shift];
    return moved === undefined ? [] : [level - moved];
  });
  const mean = pairs.reduce((sum, value) => sum + value, 0) / pairs.length;
  const squares = pairs.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / pairs.length);
}
