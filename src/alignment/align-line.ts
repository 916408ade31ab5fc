import type { PlacedWord, WordSpan } from './align-words.ts';
import { alignWords, LEAST_CONFIDENCE } from './align-words.ts';
import type { BandEnergies } from './features.ts';
import { FIRST_FRAME_MS, HOP_MS, soundFrames } from './features.ts';
import type { MeasuredRecording, MeasuredReference } from './measure-sound.ts';

/**
 * Finds the time of every word of a line in a recording that contains exactly this line. If some words cannot be found,
 * they share the time between the found words equally, with confidence 0.
 * @param reference speech from an engine for the same text, with known word times
 * @returns the times of all words; undefined if the recording is probably in another language
 * @throws the signal's abort reason
 */
export async function alignLine(
  { durationMs, energies }: MeasuredRecording,
  reference: MeasuredReference,
  signal: AbortSignal,
): Promise<readonly PlacedWord[] | undefined> {
  const placed = await alignWords(energies, reference, signal, 0);
  const sure = placed.filter((place) => (place?.confidence ?? 0) >= LEAST_CONFIDENCE);
  if (placed.length > MOST_UNSURE && sure.length * 2 < placed.length) return undefined;
  const { endMs, startMs } = soundOf(energies, durationMs);
  const spans = placed.map((place) => {
    if (place === undefined) return undefined;
    const { confidence } = place;
    const first = Math.min(endMs, Math.max(startMs, place.startMs));
    return { startMs: first, endMs: Math.max(first, Math.min(endMs, place.endMs)), confidence };
  });
  return spans.map((span, index) => span ?? sharedTime(spans, index, { startMs, endMs }));
}

// Confidence shows a wrong language only if the line has more than three words.
const MOST_UNSURE = 3;

function soundOf(energies: BandEnergies, durationMs: number): WordSpan {
  const { from, to } = soundFrames(energies);
  const [startMs, endMs] = [from, to].map((frame) => FIRST_FRAME_MS + (frame - 0.5) * HOP_MS);
  return { startMs: Math.max(0, startMs ?? 0), endMs: Math.min(durationMs, endMs ?? durationMs) };
}

function sharedTime(
  spans: readonly (WordSpan | undefined)[],
  index: number,
  sound: WordSpan,
): PlacedWord {
  const before = spans.findLastIndex((span, at) => at < index && span !== undefined);
  const next = spans.findIndex((span, at) => at > index && span !== undefined);
  const last = next === -1 ? spans.length : next;
  const startMs = spans[before]?.endMs ?? sound.startMs;
  const length = Math.max(0, (spans[last]?.startMs ?? sound.endMs) - startMs);
  const share = length / (last - before - 1);
  const first = startMs + share * (index - before - 1);
  return { startMs: first, endMs: first + share, confidence: 0 };
}
