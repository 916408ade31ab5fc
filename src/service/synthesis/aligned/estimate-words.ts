import { countCodePoints } from '../../../text/code-points.ts';
import { withoutSilentSigns } from '../../../text/silent-signs.ts';
import type { SpeechChunk, WordMark } from '../../engine/speech-engine.ts';

/** Samples below this are silence. */
const SILENCE = 0.01;

/**
 * About when the words of a stretch are said, from nothing but their lengths and where its sound
 * begins and ends: for the time until the engine knows better. Words are parted by white space.
 * @param piece the text that the samples say
 * @param first the code point of the whole text that it begins at
 * @param offsetMs when the samples begin
 */
export function estimateWords(
  piece: string,
  { samples, sampleRate }: Pick<SpeechChunk, 'samples' | 'sampleRate'>,
  { first, offsetMs }: { readonly first: number; readonly offsetMs: number },
): WordMark[] {
  const words = wordsOf(piece, first);
  const sound = soundOf(samples);
  const weights = words.map(({ start, end }) => end - start + 1);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const timeOf = (weight: number): number => {
    const sample = sound.start + ((sound.end - sound.start) * weight) / whole;
    return offsetMs + (sample * 1000) / sampleRate;
  };
  let before = 0;
  return words.map((word, index) => {
    const startMs = timeOf(before);
    before += weights[index] ?? 0;
    return { ...word, startMs, endMs: timeOf(before) };
  });
}

function wordsOf(piece: string, first: number): Pick<WordMark, 'start' | 'end'>[] {
  let units = 0;
  let points = first;
  return Array.from(piece.matchAll(/\S+/g)).flatMap(({ 0: written, index }) => {
    const { at, word } = withoutSilentSigns(written);
    if (word === '') return [];
    points += countCodePoints(piece.slice(units, index + at));
    units = index + at;
    return [{ start: points, end: points + countCodePoints(word) }];
  });
}

/** From the first to the last sample that is heard. */
function soundOf(samples: Float32Array): { readonly start: number; readonly end: number } {
  const start = samples.findIndex(isHeard);
  return start < 0
    ? { start: 0, end: samples.length }
    : { start, end: samples.findLastIndex(isHeard) + 1 };
}

function isHeard(sample: number): boolean {
  return Math.abs(sample) > SILENCE;
}
