import { gainOf } from '../resample.ts';
import type { EngineRequest, EngineVoice } from '../speech-engine.ts';

const COMMON_LEVEL = -20;
const SAMPLE_RATE = 16_000;

/** A flite voice, with settings that make all voices equally fast and loud. */
export interface FliteVoice extends EngineVoice {
  /** Value of flite's setting `duration_stretch` at speed 1. */
  readonly stretch: number;
  /** Median and spread of the pitch in hertz; undefined if flite cannot change the pitch. */
  readonly tone: { readonly median: number; readonly spread: number } | undefined;
  /** Factor to multiply samples by, so that the average level is -20 dBFS. */
  readonly gain: number;
}

/** The voices of flite. Pitch and level were measured over a minute of speech by each voice. */
export const FLITE_VOICES: readonly FliteVoice[] = [
  voice('slt', 'en-US', 1, { median: 172, spread: 27 }, -15.5),
  voice('rms', 'en-US', 1, undefined, -21.1),
  voice('awb', 'en-GB', 1, { median: 132, spread: 24 }, -20.2),
  voice('kal16', 'en-US', 1.1, { median: 95, spread: 11 }, -28),
];

/** @param level average level of the samples from flite, in dBFS (decibels relative to full scale) */
function voice(
  id: string,
  language: string,
  stretch: number,
  tone: FliteVoice['tone'],
  level: number,
): FliteVoice {
  const pitch = tone !== undefined;
  const gain = gainOf(COMMON_LEVEL - level);
  return {
    id,
    language,
    sampleRate: SAMPLE_RATE,
    pitch,
    words: true,
    reads: true,
    stretch,
    tone,
    gain,
  };
}

/**
 * Returns flite's arguments for a voice. Clamps the speed to 0.25 to 4 and the median pitch to 60 to 400 Hz, beyond which
 * the voices break up. The spread of the pitch in semitones does not change.
 */
export function fliteArguments(
  { id, stretch, tone }: FliteVoice,
  { speed, pitch }: Pick<EngineRequest, 'speed' | 'pitch'>,
): string[] {
  const args = ['-voice', id, ...setting('duration_stretch', stretch / clamp(speed, 0.25, 4))];
  if (tone === undefined || pitch === 0) return args;
  const median = clamp(tone.median * 2 ** (pitch / 12), 60, 400);
  const spread = (tone.spread * median) / tone.median;
  return [
    ...args,
    ...setting('int_f0_target_mean', median),
    ...setting('int_f0_target_stddev', spread),
  ];
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, value));
}

function setting(name: string, value: number): string[] {
  return ['--setf', `${name}=${value.toFixed(4)}`];
}
