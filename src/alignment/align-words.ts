import { findPath, frameDistance, type Reference, sampleDistances, sampleOf } from './dtw.ts';
import type { BandEnergies, Frames } from './features.ts';
import { CEPSTRA, comparableFrames, FIRST_FRAME_MS, HOP_MS } from './features.ts';

/** The time of a word in milliseconds. */
export interface WordSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** A word that was found in a recording. */
export interface PlacedWord extends WordSpan {
  /** How well the recording matches the word and its neighbours, from 0 to 1. */
  readonly confidence: number;
}

/** The place of each word of a reference; undefined for a word that was not found. */
export type PlacedWords = readonly (PlacedWord | undefined)[];

/**
 * Finds the words of a reference in a recording of the same text. Works in two passes: a coarse one over the whole
 * recording, and a fine one near the path of the first. The starts never decrease, and words never overlap.
 * @param words the times of the words in the reference, in order
 * @throws the abort reason of the signal
 */
export async function alignWords(
  recording: BandEnergies,
  reference: { readonly energies: BandEnergies; readonly words: readonly WordSpan[] },
  signal: AbortSignal,
): Promise<PlacedWords> {
  const { energies, words } = reference;
  const placed: (PlacedWord | undefined)[] = words.map(() => undefined);
  const spans = frameSpans(words, energies.frames);
  const isWord = new Uint8Array(energies.frames);
  for (const { from, to } of spans) isWord.fill(1, from, to);
  const frames = comparableFrames(recording, energies, isWord);
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
    const confidence = found.confidence(index);
    const span = found.span(index);
    if (span !== undefined && confidence >= LEAST_CONFIDENCE)
      placed[word] = { ...span, confidence };
  }
  return placed;
}

/** Number of frames that are one frame of the coarse pass. */
const COARSE = 4;
/** Number of reference frames that the fine pass compares with each frame: 0.6 s before and after the coarse path. */
const FINE_WIDTH = 120;

/** The coarse pass finds the parts that only the recording or only the text has, and the fine pass the other words. */
const COSTS = {
  coarse: { otherSound: 1.8, skipped: 0.3 },
  fine: { otherSound: 2, skipped: 1 },
} as const;

/** The coarse pass compares each frame with 2 minutes of the reference, and with more if the recording is short. */
const LEAST_COARSE_WIDTH = 3_000;
const MOST_COMPARISONS = 60_000_000;

function coarseWidth(rows: number): number {
  return Math.max(LEAST_COARSE_WIDTH, Math.floor(MOST_COMPARISONS / rows));
}

/** Words with a lower confidence count as not found. */
const LEAST_CONFIDENCE = 0.2;

/** Frames of the reference, from `from` up to but not including `to`. */
interface FrameSpan {
  readonly from: number;
  readonly to: number;
}

const NO_SPAN: FrameSpan = { from: 0, to: 0 };

/** Returns the frames of each word. A word has at least one frame, and words have no frame in common. */
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

/** Joins the frames of words to a reference; the mean of up to `step` frames of a word becomes one frame. */
function joinWords(frames: Frames, spans: readonly FrameSpan[], step: number): Reference {
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

/** Shorter parts of the text that the coarse pass skipped may be found by the fine pass. */
const SHORT_SKIP = FINE_WIDTH / 3;

/** Returns the indices of the words that the fine pass looks for. */
function chooseWords(
  rough: Int32Array,
  { wordStarts }: Reference,
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

/** Returns the frame of the fine reference at which each frame of the recording is expected. */
function finePositions(
  {
    rough,
    coarse,
    chosen,
    fine,
  }: {
    readonly rough: Int32Array;
    readonly coarse: Reference;
    readonly chosen: readonly number[];
    readonly fine: Reference;
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

/** The words that the fine path passes, and how well they match. */
class Matches {
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  /** Number of frames of the recording in each word. */
  readonly #heard: Float64Array;
  /** Sum of the ranks of these frames: the share of other reference frames that would match better. */
  readonly #ranks: Float64Array;
  /** Sum of the loudness of the frames before each word that are in no word. */
  readonly #other: Float64Array;
  /** Logarithm of the word's length in the recording relative to the reference. */
  readonly #tempos: Float64Array;
  readonly #usualTempo: number;

  constructor(path: Int32Array, recording: Frames, { frames, wordStarts }: Reference) {
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

  /** Returns the time of a word; undefined if the path skips the word. */
  span(word: number): WordSpan | undefined {
    const [first = -1, last = -1] = [this.#first[word], this.#last[word]];
    if (first === -1) return undefined;
    const startMs = Math.max(0, first * HOP_MS + FIRST_FRAME_MS - HOP_MS / 2);
    return { startMs, endMs: last * HOP_MS + FIRST_FRAME_MS + HOP_MS / 2 };
  }

  /** Returns the confidence of a word from its own match and, with less weight, that of its neighbours. */
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

/** Number of words before and after a word that count for its confidence. */
const NEIGHBOURS = 4;

/**
 * Values between those of right and of wrong texts, measured with five voices, noise and telephone sound: the median
 * rank is 0.05 if the text is right and 0.12 if it is wrong, the median deviation of the tempo 0.22 and 0.37.
 */
const RANK = { middle: 0.085, spread: 0.02 } as const;
const TEMPO = { middle: 0.33, spread: 0.17 } as const;
/** A third of other sound between the words of a wrong text is usual. */
const OTHER_SPREAD = 0.17;
