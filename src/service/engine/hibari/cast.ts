import { IPA_SIGNS } from '../../../phonemes/ipa.ts';
import type { EngineVoice } from '../speech-engine.ts';
import { VARIED_VOICE } from '../speech-engine.ts';

/** How a voice differs from the model's own: the cast, designed voices and cloned voices are variations. */
export interface Variation {
  /** Factor of the model's pitch. */
  readonly pitch: number;
  /** Timbre: factor of the frequencies of the spectral envelope; above 1 for a shorter vocal tract. */
  readonly stretch: number;
  /** Factor of the model's speaking rate. */
  readonly pace: number;
  /** Decibels by which the spectrum rises in each octave. */
  readonly brightness: number;
}

/** A voice of the cast. The pitch was measured in a minute of speech per voice. */
export interface HibariVoice extends EngineVoice {
  readonly variation: Variation;
  /** Age, gender and sound: `adult woman; warm, clear`. */
  readonly description: string;
}

export const SAMPLE_RATE = 24_000;

/**
 * Id of the voice for reference speech. foley compares a recording with reference speech of the same text to find the
 * times of the words.
 */
export const REFERENCE_VOICE = 'clara';

/** The voice of the model without changes. */
export const OWN_VOICE: Variation = { pitch: 1, stretch: 1, pace: 1, brightness: 0 };

/**
 * What is known about the voices that `foley engine add hibari` downloads, by their names. All are copies of voices of
 * Kokoro.
 */
export const ADDED_VOICES: Readonly<Record<string, string>> = {
  fenrir: 'adult man; a small copy of am_fenrir of Kokoro; natural; American English',
  emma: 'adult woman; a small copy of bf_emma of Kokoro; natural; British English',
  fable: 'adult man; a small copy of bm_fable of Kokoro; natural; British English',
  kore: 'adult woman; a small copy of af_kore of Kokoro; natural; American English',
};

export const HIBARI_VOICES: readonly HibariVoice[] = [
  voice('clara', 'adult woman; warm, clear', {}),
  voice('martin', 'adult man; calm, even', { pitch: 0.58, stretch: 0.84, pace: 1 }),
  voice('ewan', 'young man; clear, quick', { pitch: 0.66, stretch: 0.9, pace: 1.06 }),
  voice('nora', 'young woman; bright', { pitch: 1.1, stretch: 1.06, pace: 1.06 }),
  voice('jonas', 'adult man; deep, dry', { pitch: 0.52, stretch: 0.8, pace: 0.97 }),
  voice('iris', 'adult woman; soft, low', { pitch: 0.87, stretch: 0.97, pace: 0.94 }),
  voice('callum', 'young man; bright, fast', { pitch: 0.73, stretch: 0.94, pace: 1.12 }),
  voice('paul', 'adult man; full, unhurried', { pitch: 0.56, stretch: 0.89, pace: 0.88 }),
  voice('maya', 'girl; high, lively', { pitch: 1.28, stretch: 1.16, pace: 1.05 }),
  voice('greta', 'old woman; low, slow', { pitch: 0.8, stretch: 0.93, pace: 0.86 }),
  voice('angus', 'old man; low, slow', { pitch: 0.5, stretch: 0.86, pace: 0.84 }),
  voice('leo', 'boy; clear, eager', { pitch: 1.2, stretch: 1.1, pace: 1.08 }),
  voice('tess', 'young woman; light, fast', { pitch: 1.18, stretch: 1.02, pace: 1.18 }),
  voice('rose', 'adult woman; gentle, high', { pitch: 1.1, stretch: 0.97, pace: 0.93 }),
  voice('hugo', 'adult man; very deep, slow', { pitch: 0.46, stretch: 0.78, pace: 0.92 }),
];

function voice(id: string, description: string, variation: Partial<Variation>): HibariVoice {
  return {
    id,
    description,
    language: 'en-US',
    sampleRate: SAMPLE_RATE,
    pitch: true,
    words: true,
    reads: true,
    phonemes: IPA_SIGNS,
    variation: { ...OWN_VOICE, ...variation },
  };
}

/** Returns the id of the engine voice that speaks with a variation. */
export function variedVoice({ brightness, pace, pitch, stretch }: Variation): string {
  return (
    VARIED_VOICE + [pitch, stretch, pace, brightness].map((one) => Number(one.toFixed(3))).join('/')
  );
}

/** Returns the variation of a voice of the cast, or of an id from {@link variedVoice}; undefined for other ids. */
export function findVariation(id: string): Variation | undefined {
  if (!id.startsWith(VARIED_VOICE)) return HIBARI_VOICES.find((one) => one.id === id)?.variation;
  const [pitch = NaN, stretch = NaN, pace = NaN, brightness = NaN] = id
    .slice(VARIED_VOICE.length)
    .split('/')
    .map(Number);
  const isWhole = [pitch, stretch, pace, brightness].every(Number.isFinite);
  return isWhole ? { pitch, stretch, pace, brightness } : undefined;
}

/**
 * Returns the decibels to add for a loudness of -20 LUFS. Fitted to the loudness of 160 variations.
 * The model's own envelopes are used as they are, and are a little louder than those of other voices.
 */
export function gainDbOf({ brightness: b, pitch, stretch }: Variation): number {
  if (pitch === 1 && stretch === 1 && b === 0) return 6.8;
  const p = Math.log2(pitch);
  const byPitch = 7 + 3.35 * p + 0.2 * p ** 2 - 4.2 * Math.log2(stretch);
  return byPitch + (0.83 - 0.65 * p - 0.1 * p ** 2) * b - 0.3 * b ** 2 - 0.03 * b ** 3;
}
