import type { PlacedWords } from '../../src/alignment/align-words.ts';
import { alignWords } from '../../src/alignment/align-words.ts';
import { type BandEnergies, BandMeter } from '../../src/alignment/features.ts';
import type { WordMark } from '../../src/service/engine/speech-engine.ts';
import { FLITE_RATE, REFERENCE_VOICE, speakTimed } from '../harness/flite.ts';

/** Sentences of everyday words, with numbers. */
export const TEXT =
  'The weather is good today, and the old bridge over the river is open again. ' +
  'We bought bread, cheese and a bottle of water in the small shop. ' +
  'Did you hear the train leave at seven? Nobody knows why the garden gate was painted blue. ' +
  'On March 15, the company sold 1,250 tickets for $12.50 each.';

/** Other sentences of the same length. */
export const OTHER_TEXT =
  'Farmers along the southern coast had complained for decades that the reservoirs were mismanaged. ' +
  'A young reporter named Helen spent three summers interviewing families who had left their orchards. ' +
  'Her notebooks describe cracked soil, empty barns and school buses with only four pupils.';

/** Speech, and the true time of each word. */
export interface Spoken {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words: readonly WordMark[];
}

const spokenBefore = new Map<string, Spoken>();

/** Speaks with flite in this thread, the same text once. */
export function speakWords(text: string, voice: string = REFERENCE_VOICE, speed = 1): Spoken {
  const key = JSON.stringify([text, voice, speed]);
  const spoken = spokenBefore.get(key) ?? {
    ...speakTimed(text, { voice, speed }),
    sampleRate: FLITE_RATE,
  };
  spokenBefore.set(key, spoken);
  return spoken;
}

/** White noise with peaks at `level`, the same in each run. */
export function noise(seconds: number, level: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: seconds * FLITE_RATE }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return level * (state / 2 ** 30 - 1);
  });
}

/** Measures the energies of samples. */
export function energiesOf({
  sampleRate,
  samples,
}: Pick<Spoken, 'sampleRate' | 'samples'>): BandEnergies {
  const meter = new BandMeter(sampleRate);
  for (let at = 0; at < samples.length; at += 10_000) {
    meter.push(samples.subarray(at, at + 10_000));
  }
  return meter.finish();
}

/** Aligns a recording with a text, as `foley align` does. */
export function alignTo(
  text: string,
  recording: Pick<Spoken, 'sampleRate' | 'samples'>,
): Promise<PlacedWords> {
  const reference = speakWords(text);
  return alignWords(
    energiesOf(recording),
    { energies: energiesOf(reference), words: reference.words },
    new AbortController().signal,
  );
}

/** Returns the mean difference of the starts of the words that were found, in milliseconds. */
export function meanError(
  placed: PlacedWords,
  words: readonly Pick<WordMark, 'startMs'>[],
  offsetMs = 0,
): number {
  const errors = placed.flatMap((place, index) => {
    const truth = words[index];
    if (place === undefined || truth === undefined) return [];
    return [Math.abs(place.startMs - truth.startMs - offsetMs)];
  });
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

/** Returns the number of words that were found. */
export function countPlaced(placed: PlacedWords): number {
  return placed.filter((place) => place !== undefined).length;
}
