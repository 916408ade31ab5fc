import type { KnownSpeech } from './dtw.ts';
import { findPath, frameDistance, sampleDistances, sampleOf } from './dtw.ts';
import type { BandEnergies, Frames } from './features.ts';
import { CEPSTRA, comparableFrames, FIRST_FRAME_MS, HOP_MS } from './features.ts';
import { likelySpeech } from './find-speech.ts';

/** The time during which a word is spoken, in milliseconds from the start of the audio. */
export interface WordSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** A word that was found in a recording. */
export interface PlacedWord extends WordSpan {
  /** How well the recording matches the word and the words next to it: from 0 (not at all) to 1. */
  readonly confidence: number;
}

/** The time of each word in the recording, in text order; undefined for a word that was not found. */
export type PlacedWords = readonly (PlacedWord | undefined)[];

/**
 * Finds the words of a text in a recording. Compares the recording with reference speech: speech from an engine for the
 * same text, with known word times. A coarse pass compares the whole recording; a fine pass then refines the result.
 * The start times never decrease, and words never overlap.
 * @param reference `words`: the times of the words in the reference speech, in order
 * @param leastConfidence words with a lower confidence count as not found
 * @throws the signal's abort reason
 */
export async function alignWords(
  recording: BandEnergies,
  reference: { readonly energies: BandEnergies; readonly words: readonly WordSpan[] },
  signal: AbortSignal,
  leastConfidence = LEAST_CONFIDENCE,
): Promise<PlacedWords> {
  const { energies, words } = reference;
  const spans = frameSpans(words, energies.frames);
  const isWord = new Uint8Array(energies.frames);
  for (const { from, to } of spans) isWord.fill(1, from, to);
  const place = (isSpeech: Uint8Array): Promise<PlacedWords> => {
    const frames = comparableFrames(recording, energies, { isSpeech, isWord });
    // Frames of other sound are silent, and infinitely far from the reference.
    for (const [frame, one] of isSpeech.entries()) {
      if (one === 1) continue;
      frames.recording.loudness[frame] = 0;
      frames.recording.values.fill(Infinity, frame * CEPSTRA, (frame + 1) * CEPSTRA);
    }
    return placeWords(frames, spans, signal);
  };
  let best: PlacedWords | undefined;
  for await (const isSpeech of likelySpeech(recording, { energies, isWord }, signal)) {
    const placed = await place(isSpeech);
    if (best === undefined || sureness(placed) > sureness(best)) best = placed;
    if (best.every((word) => (word?.confidence ?? 0) >= SURE)) break;
  }
  return atLeast(best ?? [], leastConfidence);
}

// Words found in music or in noise have a lower confidence than words found in speech.
const SURE = 0.5;

function sureness(placed: PlacedWords): number {
  const found = atLeast(placed, LEAST_CONFIDENCE);
  return found.reduce((sum, place) => sum + (place?.confidence ?? 0), 0);
}

function atLeast(placed: PlacedWords, confidence: number): PlacedWords {
  return placed.map((place) => ((place?.confidence ?? 0) >= confidence ? place : undefined));
}

async function placeWords(
  frames: { readonly recording: Frames; readonly reference: Frames },
  spans: readonly FrameSpan[],
  signal: AbortSignal,
): Promise<PlacedWords> {
  const placed: (PlacedWord | undefined)[] = spans.map(() => undefined);
  const heard = frames.recording;
  if (heard.count < COARSE || heard.loudness.every((loudness) => loudness === 0)) return placed;
  const coarse = joinWords(frames.reference, spans, COARSE);
  if (coarse.frames.count === 0) return placed;
  const width = coarseWidth(heard.count / COARSE);
  const rough = await findPath(shrink(heard), coarse, { width, costs: COSTS.coarse, signal });
  const chosen = chooseWords(rough, coarse, spans);
  const fine = joinWords(
    frames.reference,
    chosen.map((word) => spans[word] ?? NO_SPAN),
    1,
  );
  if (fine.frames.count === 0) return placed;
  const centers = finePositions({ rough, coarse, chosen, fine }, heard.count);
  const path = await findPath(heard, fine, {
    width: FINE_WIDTH,
    costs: COSTS.fine,
    centers,
    signal,
  });
  const found = new Matches(path, heard, fine);
  for (const [index, word] of chosen.entries()) {
    const span = found.span(index);
    if (span !== undefined) placed[word] = { ...span, confidence: found.confidence(index) };
  }
  return placed;
}

/** The coarse pass averages this number of frames into one. */
const COARSE = 4;
// In the fine pass, each frame is compared with 0.6 s of the reference before and after the coarse path.
const FINE_WIDTH = 120;

// The coarse pass finds parts that are missing in the recording or in the text; the fine pass finds the words.
const COSTS = {
  coarse: { otherSound: 1.8, skipped: 0.3 },
  fine: { otherSound: 2, skipped: 1 },
} as const;

// The coarse pass compares each frame with 2 minutes of the reference, and with more if the recording is short.
const LEAST_COARSE_WIDTH = 3_000;
const MOST_COMPARISONS = 60_000_000;

function coarseWidth(rows: number): number {
  return Math.max(LEAST_COARSE_WIDTH, Math.floor(MOST_COMPARISONS / rows));
}

/** Minimum confidence of a word. A word with a lower confidence is probably not in the recording. */
export const LEAST_CONFIDENCE = 0.2;

interface FrameSpan {
  readonly from: number;
  readonly to: number;
}

const NO_SPAN: FrameSpan = { from: 0, to: 0 };

function frameSpans(words: readonly WordSpan[], count: number): readonly FrameSpan[] {
  let next = 0;
  return words.map(({ startMs, endMs }) => {
    const from = Math.min(count, Math.max(next, frameAt(startMs)));
    next = Math.min(count, Math.max(from + 1, frameAt(endMs)));
    return { from, to: next };
  });
}

function frameAt(ms: number): number {
  return Math.round((ms - FIRST_FRAME_MS + HOP_MS / 2) / HOP_MS);
}

function joinWords(frames: Frames, spans: readonly FrameSpan[], step: number): KnownSpeech {
  const lengths = spans.map(({ from, to }) => Math.max(1, Math.round((to - from) / step)));
  const wordStarts = new Int32Array(spans.length + 1);
  for (const [word, length] of lengths.entries()) {
    wordStarts[word + 1] = (wordStarts[word] ?? 0) + length;
  }
  const count = wordStarts.at(-1) ?? 0;
  const values = new Float32Array(count * CEPSTRA);
  for (const [word, { from, to }] of spans.entries()) {
    const length = lengths[word] ?? 1;
    for (let index = 0; index < length; index += 1) {
      const first = from + Math.floor((index * (to - from)) / length);
      const last = from + Math.floor(((index + 1) * (to - from)) / length);
      addMean(values, (wordStarts[word] ?? 0) + index, frames, first, last);
    }
  }
  return { frames: { values, count, loudness: new Float32Array(count).fill(1) }, wordStarts };
}

function shrink(frames: Frames): Frames {
  const count = Math.ceil(frames.count / COARSE);
  const values = new Float32Array(count * CEPSTRA);
  const loudness = new Float32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const first = frame * COARSE;
    const last = Math.min(frames.count, first + COARSE);
    addMean(values, frame, frames, first, last);
    const sum = frames.loudness.subarray(first, last).reduce((total, one) => total + one, 0);
    loudness[frame] = sum / (last - first);
  }
  return { values, count, loudness };
}

function addMean(values: Float32Array, at: number, frames: Frames, from: number, to: number): void {
  for (let frame = from; frame < to; frame += 1) {
    for (let index = 0; index < CEPSTRA; index += 1) {
      const place = at * CEPSTRA + index;
      values[place] =
        (values[place] ?? 0) + (frames.values[frame * CEPSTRA + index] ?? 0) / (to - from);
    }
  }
}

// Words that the coarse pass skipped are still searched for in the fine pass, if they are together at most this long,
// in frames.
const SHORT_SKIP = FINE_WIDTH / 3;

function chooseWords(
  rough: Int32Array,
  { wordStarts }: KnownSpeech,
  spans: readonly FrameSpan[],
): readonly number[] {
  const isFound = new Uint8Array(spans.length);
  let word = 0;
  for (const column of rough) {
    if (column < 0) continue;
    while ((wordStarts[word + 1] ?? Infinity) <= column) word += 1;
    isFound[word] = 1;
  }
  const chosen: number[] = [];
  let skipped: number[] = [];
  let skippedFrames = 0;
  for (const [index, { from, to }] of spans.entries()) {
    if (isFound[index] === 0) {
      skipped.push(index);
      skippedFrames += to - from;
      continue;
    }
    if (skippedFrames <= SHORT_SKIP) chosen.push(...skipped);
    chosen.push(index);
    skipped = [];
    skippedFrames = 0;
  }
  return chosen;
}

function finePositions(
  {
    rough,
    coarse,
    chosen,
    fine,
  }: {
    readonly rough: Int32Array;
    readonly coarse: KnownSpeech;
    readonly chosen: readonly number[];
    readonly fine: KnownSpeech;
  },
  count: number,
): Int32Array<ArrayBuffer> {
  const positions = new Int32Array(count);
  let word = 0;
  for (const [row, state] of rough.entries()) {
    const column = state < 0 ? (coarse.wordStarts[-1 - state] ?? 0) : state;
    // Both lists are in order, so the word only advances.
    while (word + 1 < chosen.length && (coarse.wordStarts[chosen[word + 1] ?? 0] ?? 0) <= column) {
      word += 1;
    }
    const start = coarse.wordStarts[chosen[word] ?? 0] ?? 0;
    const inWord = Math.max(0, column - start) * COARSE;
    const end = fine.wordStarts[word + 1] ?? 0;
    const position = Math.min(end, (fine.wordStarts[word] ?? 0) + inWord);
    positions.fill(position, row * COARSE, (row + 1) * COARSE);
  }
  return positions;
}

class Matches {
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #heard: Float64Array;
  // The rank of a frame is the share of other reference frames that would match better. This is the sum for each word.
  readonly #ranks: Float64Array;
  // Sum of the loudness of the frames between the previous word and this word.
  readonly #other: Float64Array;
  readonly #tempos: Float64Array;
  readonly #usualTempo: number;

  constructor(path: Int32Array, recording: Frames, { frames, wordStarts }: KnownSpeech) {
    const words = wordStarts.length - 1;
    this.#first = new Int32Array(words).fill(-1);
    this.#last = new Int32Array(words).fill(-1);
    this.#heard = new Float64Array(words);
    this.#ranks = new Float64Array(words);
    this.#other = new Float64Array(words + 1);
    const sample = sampleOf(frames.count);
    let word = 0;
    for (const [row, state] of path.entries()) {
      if (state < 0) {
        const before = -1 - state;
        // Sound before the first word and after the last word says nothing about the text.
        if (before === 0 || before === words) continue;
        this.#other[before] = (this.#other[before] ?? 0) + (recording.loudness[row] ?? 0);
        continue;
      }
      while ((wordStarts[word + 1] ?? Infinity) <= state) word += 1;
      if (this.#first[word] === -1) this.#first[word] = row;
      this.#last[word] = row;
      const distance = frameDistance(recording, row, frames, state);
      const distances = sampleDistances(recording, row, frames, sample);
      const better = distances.filter((one) => one < distance).length / sample.length;
      this.#heard[word] = (this.#heard[word] ?? 0) + 1;
      this.#ranks[word] = (this.#ranks[word] ?? 0) + better;
    }
    this.#tempos = Float64Array.from(this.#heard, (heard, index) =>
      Math.log(heard / ((wordStarts[index + 1] ?? 0) - (wordStarts[index] ?? 0))),
    );
    const tempos = this.#tempos.filter((tempo) => tempo !== -Infinity).sort();
    this.#usualTempo = tempos[tempos.length >> 1] ?? 0;
  }

  span(word: number): WordSpan | undefined {
    const [first = -1, last = -1] = [this.#first[word], this.#last[word]];
    if (first === -1) return undefined;
    const startMs = Math.max(0, first * HOP_MS + FIRST_FRAME_MS - HOP_MS / 2);
    return { startMs, endMs: last * HOP_MS + FIRST_FRAME_MS + HOP_MS / 2 };
  }

  confidence(word: number): number {
    let [ranks, heard, other, tempos, words] = [0, 0, 0, 0, 0];
    for (let offset = -NEIGHBOURS; offset <= NEIGHBOURS; offset += 1) {
      const index = word + offset;
      const frames = this.#heard[index] ?? 0;
      const weight = NEIGHBOURS + 1 - Math.abs(offset);
      if (offset > -NEIGHBOURS) other += weight * (this.#other[index] ?? 0);
      if (frames === 0) continue;
      ranks += weight * (this.#ranks[index] ?? 0);
      heard += weight * frames;
      tempos += weight * Math.abs((this.#tempos[index] ?? 0) - this.#usualTempo);
      words += weight;
    }
    if (heard === 0) return 0;
    const doubt =
      (ranks / heard - RANK.middle) / RANK.spread +
      (tempos / words - TEMPO.middle) / TEMPO.spread +
      other / (heard + other) / OTHER_SPREAD;
    return 1 / (1 + Math.exp(doubt));
  }
}

const NEIGHBOURS = 4;

// Each `middle` is halfway between the median for right texts and the median for wrong texts: 0.05 and 0.12 for the
// rank, 0.22 and 0.37 for the deviation of the tempo. Measured with five voices, noise and telephone sound.
const RANK = { middle: 0.085, spread: 0.02 } as const;
const TEMPO = { middle: 0.33, spread: 0.17 } as const;
// In a wrong text, a third of the time between words is usually other sound.
const OTHER_SPREAD = 0.17;
