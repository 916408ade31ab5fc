import type { EngineVoice } from '../speech-engine.ts';

/**
 * A voice of the cast: the model's own voice with another pitch, vocal tract and pace. The pitch and the loudness were
 * measured in a minute of speech per voice.
 */
export interface HibariVoice extends EngineVoice {
  /** Age, gender and sound: `adult woman; warm, clear`. */
  readonly description: string;
  /** Factor of the model's pitch. */
  readonly pitchFactor: number;
  /** Factor of the frequencies of the spectral envelope; above 1 for a shorter vocal tract. */
  readonly stretch: number;
  /** Factor of the model's speaking rate. */
  readonly pace: number;
  /** Decibels to add for a loudness of -20 LUFS. */
  readonly gainDb: number;
}

const SAMPLE_RATE = 24_000;

/**
 * Id of the voice for reference speech. foley compares a recording with reference speech of the same text to find the
 * times of the words.
 */
export const REFERENCE_VOICE = 'clara';

export const HIBARI_VOICES: readonly HibariVoice[] = [
  voice('clara', 'adult woman; warm, clear', { pitchFactor: 1, stretch: 1, pace: 1, gainDb: 6.8 }),
  voice('martin', 'adult man; calm, even', {
    pitchFactor: 0.58,
    stretch: 0.84,
    pace: 1,
    gainDb: 5.5,
  }),
  voice('ewan', 'young man; clear, quick', {
    pitchFactor: 0.66,
    stretch: 0.9,
    pace: 1.06,
    gainDb: 5.9,
  }),
  voice('nora', 'young woman; bright', {
    pitchFactor: 1.1,
    stretch: 1.06,
    pace: 1.06,
    gainDb: 7.3,
  }),
  voice('jonas', 'adult man; deep, dry', {
    pitchFactor: 0.52,
    stretch: 0.8,
    pace: 0.97,
    gainDb: 5.4,
  }),
  voice('iris', 'adult woman; soft, low', {
    pitchFactor: 0.87,
    stretch: 0.97,
    pace: 0.94,
    gainDb: 6.8,
  }),
  voice('callum', 'young man; bright, fast', {
    pitchFactor: 0.73,
    stretch: 0.94,
    pace: 1.12,
    gainDb: 6.2,
  }),
  voice('paul', 'adult man; full, unhurried', {
    pitchFactor: 0.56,
    stretch: 0.89,
    pace: 0.88,
    gainDb: 5.0,
  }),
  voice('maya', 'girl; high, lively', {
    pitchFactor: 1.28,
    stretch: 1.16,
    pace: 1.05,
    gainDb: 7.8,
  }),
  voice('greta', 'old woman; low, slow', {
    pitchFactor: 0.8,
    stretch: 0.93,
    pace: 0.86,
    gainDb: 6.5,
  }),
  voice('angus', 'old man; low, slow', {
    pitchFactor: 0.5,
    stretch: 0.86,
    pace: 0.84,
    gainDb: 4.9,
  }),
  voice('leo', 'boy; clear, eager', { pitchFactor: 1.2, stretch: 1.1, pace: 1.08, gainDb: 7.8 }),
  voice('tess', 'young woman; light, fast', {
    pitchFactor: 1.18,
    stretch: 1.02,
    pace: 1.18,
    gainDb: 8.2,
  }),
  voice('rose', 'adult woman; gentle, high', {
    pitchFactor: 1.1,
    stretch: 0.97,
    pace: 0.93,
    gainDb: 8.0,
  }),
  voice('hugo', 'adult man; very deep, slow', {
    pitchFactor: 0.46,
    stretch: 0.78,
    pace: 0.92,
    gainDb: 5.0,
  }),
];

function voice(
  id: string,
  description: string,
  sound: Pick<HibariVoice, 'gainDb' | 'pace' | 'pitchFactor' | 'stretch'>,
): HibariVoice {
  return {
    id,
    description,
    language: 'en-US',
    sampleRate: SAMPLE_RATE,
    pitch: true,
    words: true,
    reads: true,
    ...sound,
  };
}
