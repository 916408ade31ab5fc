import type { EngineVoice } from '../speech-engine.ts';
import { gainOf } from '../resample.ts';

const COMMON_LEVEL = -20;
const SAMPLE_RATE = 16_000;

/** What flite has to be told, and what has to be done after it, for a voice to be like the others. */
export interface FliteVoice extends EngineVoice {
  /** `duration_stretch` at which the voice speaks at its own rate. */
  readonly stretch: number;
  /** Median and spread of its fundamental frequency in hertz; `undefined` where flite cannot set it. */
  readonly tone: { readonly median: number; readonly spread: number } | undefined;
  /** Factor that brings its average level to -20 dB of full scale. */
  readonly gain: number;
}

/** Measured over a minute of speech of each voice; the levels are those of flite's own samples. */
export const FLITE_VOICES: readonly FliteVoice[] = [
  voice('slt', 'en-US', { stretch: 1, tone: { median: 172, spread: 27 }, level: -15.5 }),
  voice('rms', 'en-US', { stretch: 1, tone: undefined, level: -21.1 }),
  voice('awb', 'en-GB', { stretch: 1, tone: { median: 132, spread: 24 }, level: -20.2 }),
  voice('kal16', 'en-US', { stretch: 1.1, tone: { median: 95, spread: 11 }, level: -28 }),
];

interface Measured extends Pick<FliteVoice, 'stretch' | 'tone'> {
  /** Average level in decibels of full scale. */
  readonly level: number;
}

function voice(id: string, language: string, { stretch, tone, level }: Measured): FliteVoice {
  return {
    id,
    language,
    sampleRate: SAMPLE_RATE,
    pitch: tone !== undefined,
    words: true,
    stretch,
    tone,
    gain: gainOf(COMMON_LEVEL - level),
  };
}
