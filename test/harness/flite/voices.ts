import type { EngineRequest, EngineVoice } from '../../../src/service/engine/speech-engine.ts';

const COMMON_LOUDNESS = -20;
const SAMPLE_RATE = 16_000;

/** A flite voice, with settings that make all voices equally fast and loud. */
export interface FliteVoice extends EngineVoice {
  readonly stretch: number;
  /** Median and standard deviation (`spread`) of the pitch in hertz; undefined if flite cannot change the pitch. */
  readonly tone: { readonly median: number; readonly spread: number } | undefined;
  readonly loudness: MeasuredLoudness;
}

interface MeasuredLoudness {
  /** Loudness in LUFS at speed 1, measured at every second semitone of pitch from `lowestPitch` up. */
  readonly byPitch: readonly number[];
  /** Pitch of the first entry of `byPitch`, in semitones relative to the median pitch of the voice. */
  readonly lowestPitch: number;
  /** Change of the loudness, in loudness units (LU), when the speed doubles. */
  readonly bySpeed: number;
}

const PITCH_STEP = 2;

/** The voices of flite. Pitch and loudness were measured in one minute of speech per voice. */
export const FLITE_VOICES: readonly FliteVoice[] = [
  voice('slt', 'en-US', {
    tone: { median: 172, spread: 27 },
    loudness: {
      lowestPitch: -18,
      byPitch: [
        -17, -17, -17.1, -16.9, -16.6, -16.9, -17.9, -18.5, -17.5, -15.7, -14.6, -14.6, -15.8,
        -18.2, -21, -22.3, -22.3,
      ],
      bySpeed: -0.4,
    },
  }),
  voice('rms', 'en-US', {
    tone: undefined,
    loudness: { lowestPitch: 0, byPitch: [-21.2], bySpeed: -0.7 },
  }),
  voice('awb', 'en-GB', {
    tone: { median: 132, spread: 24 },
    loudness: {
      lowestPitch: -14,
      byPitch: [
        -19.7, -19.7, -19.7, -19.6, -19.5, -19.7, -20.1, -20.3, -19.8, -19, -18.3, -18.2, -19,
        -20.6, -22.4, -23.2, -22.5, -21.9,
      ],
      bySpeed: -0.85,
    },
  }),
  voice('kal16', 'en-US', {
    stretch: 1.1,
    tone: { median: 95, spread: 11 },
    loudness: {
      lowestPitch: -8,
      byPitch: [
        -30.9, -30.3, -29.7, -29.2, -28.5, -28.1, -27.5, -27.1, -26.7, -26.3, -26, -25, -23.7,
        -23.1, -22.4, -21.4, -20.3,
      ],
      bySpeed: -0.25,
    },
  }),
];

/**
 * Id of the voice for reference speech. foley compares a recording with reference speech of the same text to find the
 * times of the words. flite synthesizes this voice fastest.
 */
export const REFERENCE_VOICE = 'kal16';

function voice(
  id: string,
  language: string,
  { stretch = 1, tone, loudness }: Pick<FliteVoice, 'loudness' | 'tone'> & { stretch?: number },
): FliteVoice {
  const pitch = tone !== undefined;
  return {
    id,
    language,
    sampleRate: SAMPLE_RATE,
    pitch,
    words: true,
    reads: true,
    stretch,
    tone,
    loudness,
  };
}

type Delivery = Pick<EngineRequest, 'speed' | 'pitch'>;

/** Returns the decibels to add to flite's samples, so that every voice is equally loud at every speed and pitch. */
export function fliteGainDb({ loudness, tone }: FliteVoice, { speed, pitch }: Delivery): number {
  const { byPitch, bySpeed, lowestPitch } = loudness;
  const semitones = tone === undefined ? 0 : 12 * Math.log2(medianOf(tone, pitch) / tone.median);
  const last = byPitch.length - 1;
  const at = clamp((semitones - lowestPitch) / PITCH_STEP, 0, last);
  const below = byPitch[Math.floor(at)] ?? 0;
  const above = byPitch[Math.ceil(at)] ?? 0;
  const measured = below + (above - below) * (at % 1) + bySpeed * Math.log2(clampSpeed(speed));
  return COMMON_LOUDNESS - measured;
}

/**
 * Returns flite's command-line arguments for a voice. Limits the speed to 0.25 to 4 and the median pitch to 60 to 400
 * Hz, because the voices sound broken outside these ranges.
 */
export function fliteArguments(
  { id, stretch, tone }: FliteVoice,
  { speed, pitch }: Delivery,
): string[] {
  const args = ['-voice', id, ...setting('duration_stretch', stretch / clampSpeed(speed))];
  if (tone === undefined || pitch === 0) return args;
  const median = medianOf(tone, pitch);
  const spread = (tone.spread * median) / tone.median;
  return [
    ...args,
    ...setting('int_f0_target_mean', median),
    ...setting('int_f0_target_stddev', spread),
  ];
}

function medianOf({ median }: { readonly median: number }, pitch: number): number {
  return clamp(median * 2 ** (pitch / 12), 60, 400);
}

function clampSpeed(speed: number): number {
  return clamp(speed, 0.25, 4);
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, value));
}

function setting(name: string, value: number): string[] {
  return ['--setf', `${name}=${value.toFixed(4)}`];
}
