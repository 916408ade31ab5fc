import type { EngineRequest } from '../speech-engine.ts';
import type { FliteVoice } from './voices.ts';

/** Slower or faster than this nobody understands. */
const SPEED_LIMITS = { lowest: 0.25, highest: 4 } as const;

/** Median pitch, in hertz, beyond which flite's voices break up or stay where they are. */
const TONE_LIMITS = { lowest: 60, highest: 400 } as const;

/**
 * flite's settings for a voice at a speed and a pitch. Rates outside of 0.25 to 4, and shifts that
 * would put the voice's median pitch outside of 60 to 400 Hz, are limited to those. The melody
 * keeps its range in semitones, times `melody`.
 *
 * @param delivery `pitch` in semitones; it and `melody` are ignored where the voice cannot change its pitch
 */
export function fliteArguments(voice: FliteVoice, delivery: FliteDelivery): string[] {
  const { speed, pitch, melody = 1 } = delivery;
  const stretch = voice.stretch / within(SPEED_LIMITS, speed);
  const settings = setting('duration_stretch', stretch);
  return ['-voice', voice.id, ...settings, ...tone(voice, pitch, melody)];
}

/** How a voice is to speak; speed and melody are factors. */
export type FliteDelivery = Pick<EngineRequest, 'speed' | 'pitch' | 'melody'>;

function tone(voice: FliteVoice, pitch: number, melody: number): string[] {
  if (voice.tone === undefined || (pitch === 0 && melody === 1)) return [];
  const median = within(TONE_LIMITS, voice.tone.median * 2 ** (pitch / 12));
  const spread = (voice.tone.spread * melody * median) / voice.tone.median;
  return [...setting('int_f0_target_mean', median), ...setting('int_f0_target_stddev', spread)];
}

function within(limits: { lowest: number; highest: number }, value: number): number {
  return Math.min(limits.highest, Math.max(limits.lowest, value));
}

function setting(name: string, value: number): string[] {
  return ['--setf', `${name}=${value.toFixed(4)}`];
}
