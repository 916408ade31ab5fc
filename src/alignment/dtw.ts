import type { Frames } from './features.ts';
import { CEPSTRA } from './features.ts';

/** Reference speech: the text of the recording, spoken by an engine. Contains no pauses. */
export interface KnownSpeech {
  readonly frames: Frames;
  /** The index of the first frame of each word, followed by the total number of frames. */
  readonly wordStarts: Int32Array;
}

/**
 * Costs that `findPath` minimizes. For comparison: a recording frame that matches the reference costs about 1.4, and a
 * recording frame that does not match costs 2 to 3.
 */
export interface PathCosts {
  /** Cost of a loud frame of the recording that matches no frame of the reference. */
  readonly otherSound: number;
  /** Cost of a frame of the reference that the recording skips. */
  readonly skipped: number;
}

export interface PathOptions {
  /** Maximum number of reference frames that each frame of the recording is compared with. */
  readonly width: number;
  /**
   * For each frame of the recording, the index of the reference frame that probably matches. The recording frame is
   * compared only with reference frames near this index. Without `centers`, each recording frame is compared with the
   * reference frames near the end of the cheapest path so far.
   */
  readonly centers?: Int32Array;
  readonly costs: PathCosts;
  readonly signal: AbortSignal;
}

/**
 * Matches the frames of a recording with reference speech at the lowest total cost (dynamic time warping). Each frame
 * of the recording either matches a reference frame, or is part of a gap between two words (silence or other sound).
 * From one recording frame to the next, the position in the reference advances by 0 to 3 frames. During a gap,
 * this position may skip words. The memory for the search depends only on `width`. The event loop is never blocked for
 * more than a few milliseconds.
 * @returns for each frame of the recording, the index of its reference frame, or `-1 - w` for a gap before word `w`
 * @throws the signal's abort reason
 */
export async function findPath(
  recording: Frames,
  reference: KnownSpeech,
  options: PathOptions,
): Promise<Int32Array<ArrayBuffer>> {
  const search = new PathSearch(recording, reference, options);
  const rowsPerTurn = Math.ceil(COMPARISONS_PER_TURN / options.width);
  for (let row = 0; row < recording.count; row += 1) {
    search.advance(row);
    if (row % rowsPerTurn !== 0) continue;
    await new Promise(setImmediate);
    options.signal.throwIfAborted();
  }
  return search.path;
}

const COMPARISONS_PER_TURN = 200_000;

// A frame costs `RANDOM` if it is as far from the reference as a random frame, and 1 less for each standard deviation
// that it is closer.
const RANDOM = 3;
const SILENCE = 0.6;
// Advancing by 1 reference frame is free; these are the costs of advancing by 0, 2 and 3.
const STAY = 0.1;
const TWO = 0.06;
const THREE = 0.2;

const NEVER = 1e30;

// A stored step is `FROM_GAP`, or the number of reference frames since the previous row.
const FROM_GAP = 4;
// Where a gap comes from: the same gap in the previous row (0), the last frame of the previous word, or the gap before
// that word.
const FROM_WORD = 1;
const FROM_SKIPPED = 2;

// Each stored step takes one byte.
const MOST_STEPS = 64_000_000;
const ROWS = { fewest: 512, most: 4_096 } as const;

class PathSearch {
  readonly path: Int32Array<ArrayBuffer>;
  readonly #recording: Frames;
  readonly #reference: Frames;
  readonly #starts: Int32Array;
  readonly #columns: number;
  readonly #words: number;
  readonly #centers: Int32Array | undefined;
  readonly #width: number;
  readonly #costs: PathCosts;
  readonly #wordOf: Int32Array;
  readonly #sample: Int32Array;
  // Column `c` is at the index `c + 3`.
  #before: Float64Array;
  #now: Float64Array;
  #gapsBefore: Float64Array;
  #gaps: Float64Array;
  #from = 0;
  #oldFrom = 0;
  #best = 0;
  // Ring buffer with the steps of the latest rows.
  readonly #rows: number;
  readonly #steps: Uint8Array;
  readonly #gapSteps: Uint8Array;
  readonly #froms: Int32Array;
  #done = 0;

  constructor(
    recording: Frames,
    { frames, wordStarts }: KnownSpeech,
    { centers, costs, width }: PathOptions,
  ) {
    this.path = new Int32Array(recording.count);
    this.#recording = recording;
    this.#reference = frames;
    this.#starts = wordStarts;
    this.#columns = frames.count;
    this.#words = wordStarts.length - 1;
    this.#centers = centers;
    this.#costs = costs;
    this.#width = Math.min(width, frames.count);
    this.#wordOf = new Int32Array(frames.count + 1).fill(this.#words);
    for (let word = 0; word < this.#words; word += 1) {
      this.#wordOf.fill(word, wordStarts[word], wordStarts[word + 1]);
    }
    this.#sample = sampleOf(frames.count);
    this.#before = new Float64Array(frames.count + 3).fill(NEVER);
    this.#now = this.#before.slice();
    this.#gapsBefore = new Float64Array(wordStarts.length).fill(NEVER);
    this.#gaps = this.#gapsBefore.slice();
    // The path begins in the gap before the first word.
    this.#gapsBefore[0] = 0;
    const fitting = Math.floor(MOST_STEPS / (this.#width + 1));
    this.#rows = Math.min(recording.count, Math.max(ROWS.fewest, Math.min(ROWS.most, fitting)));
    this.#steps = new Uint8Array(this.#rows * this.#width);
    this.#gapSteps = new Uint8Array(this.#rows * (this.#width + 1));
    this.#froms = new Int32Array(this.#rows);
  }

  advance(row: number): void {
    const expected = this.#centers?.[row] ?? this.#best;
    const latest = this.#columns - this.#width;
    const from = Math.min(latest, Math.max(this.#from, expected - (this.#width >> 1)));
    this.#froms[row % this.#rows] = from;
    this.#now.fill(NEVER, this.#oldFrom + 3, from + 3);
    const gap = this.#fillGaps(row, from);
    const frame = this.#fillFrames(row, from);
    this.#best = frame.cost < gap.cost ? frame.column : gap.column;
    [this.#before, this.#now] = [this.#now, this.#before];
    [this.#gapsBefore, this.#gaps] = [this.#gaps, this.#gapsBefore];
    this.#oldFrom = this.#from;
    this.#from = from;
    if (row === this.#recording.count - 1) this.#trace(row, row + 1, this.#costs.skipped);
    else if (row - this.#done + 1 === this.#rows) {
      this.#trace(row, this.#done + (this.#rows >> 1), 0);
    }
  }

  #wordsFrom(from: number): { readonly first: number; readonly last: number } {
    const word = this.#wordOf[from] ?? 0;
    const first = this.#starts[word] === from ? word : word + 1;
    return { first, last: this.#wordOf[from + this.#width] ?? this.#words };
  }

  #fillGaps(row: number, from: number): { readonly cost: number; readonly column: number } {
    const [gaps, before, starts] = [this.#gaps, this.#gapsBefore, this.#starts];
    const loudness = this.#recording.loudness[row] ?? 1;
    const frameCost = SILENCE + loudness * (this.#costs.otherSound - SILENCE);
    const { first, last } = this.#wordsFrom(from);
    const at = (row % this.#rows) * (this.#width + 1);
    const best = { cost: NEVER, column: from };
    // Gaps that are no longer in the compared range cannot be part of the path.
    gaps.fill(NEVER, Math.max(0, this.#wordsFrom(this.#oldFrom).first - 1), first);
    for (let word = first; word <= last; word += 1) {
      const start = starts[word] ?? 0;
      let cost = before[word] ?? NEVER;
      let step = 0;
      const ended = word === 0 ? NEVER : (this.#before[start + 2] ?? NEVER);
      if (ended < cost) {
        cost = ended;
        step = FROM_WORD;
      }
      cost += frameCost;
      if (word > first) {
        const skipped =
          (gaps[word - 1] ?? NEVER) + this.#costs.skipped * (start - (starts[word - 1] ?? 0));
        if (skipped < cost) {
          cost = skipped;
          step = FROM_SKIPPED;
        }
      }
      gaps[word] = Math.min(cost, NEVER);
      this.#gapSteps[at + word - first] = step;
      if (cost < best.cost) [best.cost, best.column] = [cost, start];
    }
    return best;
  }

  #fillFrames(row: number, from: number): { readonly cost: number; readonly column: number } {
    const { mean, deviation } = this.#scale(row);
    const at = (row % this.#rows) * this.#width;
    const steps = this.#steps.subarray(at, at + this.#width);
    const heard = this.#recording.values.subarray(row * CEPSTRA, (row + 1) * CEPSTRA);
    const said = this.#reference.values;
    // Index 0 is three columns before the band.
    const before = this.#before.subarray(from, from + this.#width + 3);
    const now = this.#now.subarray(from + 3, from + this.#width + 3);
    let { first: word } = this.#wordsFrom(from);
    let wordStart = (this.#starts[word] ?? -1) - from;
    const best = { cost: NEVER, column: from };
    for (let column = 0; column < steps.length; column += 1) {
      let step = 0;
      let cost = (before[column + 3] ?? NEVER) + STAY;
      const one = before[column + 2] ?? NEVER;
      if (one < cost) {
        cost = one;
        step = 1;
      }
      const two = (before[column + 1] ?? NEVER) + TWO;
      if (two < cost) {
        cost = two;
        step = 2;
      }
      const three = (before[column] ?? NEVER) + THREE;
      if (three < cost) {
        cost = three;
        step = 3;
      }
      if (column === wordStart) {
        const gap = this.#gapsBefore[word] ?? NEVER;
        if (gap < cost) {
          cost = gap;
          step = FROM_GAP;
        }
        word += 1;
        wordStart = (this.#starts[word] ?? -1) - from;
      }
      steps[column] = step;
      if (cost >= NEVER) {
        now[column] = NEVER;
        continue;
      }
      let squares = 0;
      let right = (from + column) * CEPSTRA;
      for (let index = 0; index < CEPSTRA; index += 1) {
        const difference = (heard[index] ?? 0) - (said[right] ?? 0);
        squares += difference * difference;
        right += 1;
      }
      const deviations = mean === Infinity ? 0 : (Math.sqrt(squares) - mean) / deviation;
      cost += Math.max(0, RANDOM + deviations);
      now[column] = cost;
      if (cost < best.cost) [best.cost, best.column] = [cost, from + column];
    }
    return best;
  }

  #scale(row: number): { readonly mean: number; readonly deviation: number } {
    const distances = sampleDistances(this.#recording, row, this.#reference, this.#sample);
    const mean = distances.reduce((sum, one) => sum + one, 0) / distances.length;
    const squares = distances.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    return { mean, deviation: Math.sqrt(squares / distances.length) + 1e-3 };
  }

  #trace(row: number, until: number, skipped: number): void {
    let state = this.#bestEnd(skipped);
    for (let at = row; at >= this.#done; at -= 1) {
      const ring = at % this.#rows;
      const from = this.#froms[ring] ?? 0;
      if (state >= 0) {
        if (at < until) this.path[at] = state;
        const step = this.#steps[ring * this.#width + state - from] ?? 0;
        state = step === FROM_GAP ? -1 - (this.#wordOf[state] ?? 0) : state - step;
        continue;
      }
      const offset = ring * (this.#width + 1) - this.#wordsFrom(from).first;
      let word = -1 - state;
      while (this.#gapSteps[offset + word] === FROM_SKIPPED) word -= 1;
      if (at < until) this.path[at] = -1 - word;
      const isAfterWord = this.#gapSteps[offset + word] === FROM_WORD;
      state = isAfterWord ? (this.#starts[word] ?? 0) - 1 : -1 - word;
    }
    this.#done = until;
  }

  #bestEnd(skipped: number): number {
    const { first, last } = this.#wordsFrom(this.#from);
    let best = NEVER;
    let state = -1 - first;
    for (let word = first; word <= last; word += 1) {
      const left = this.#columns - (this.#starts[word] ?? 0);
      const cost = (this.#gapsBefore[word] ?? NEVER) + skipped * left;
      if (cost < best) [best, state] = [cost, -1 - word];
    }
    for (let column = this.#from; column < this.#from + this.#width; column += 1) {
      const cost = (this.#before[column + 3] ?? NEVER) + skipped * (this.#columns - 1 - column);
      if (cost < best) [best, state] = [cost, column];
    }
    return state;
  }
}

const SAMPLE_FRAMES = 100;

/** Returns up to 100 evenly spaced frame indices from 0 to `count - 1`. */
export function sampleOf(count: number): Int32Array {
  const length = Math.min(SAMPLE_FRAMES, count);
  return Int32Array.from({ length }, (_, index) => Math.floor(((index + 0.5) * count) / length));
}

/** Returns the distance of one recording frame to each reference frame whose index is in `sample`. */
export function sampleDistances(
  recording: Frames,
  frame: number,
  reference: Frames,
  sample: Int32Array,
): Float64Array {
  const distances = new Float64Array(sample.length);
  for (let index = 0; index < sample.length; index += 1) {
    distances[index] = frameDistance(recording, frame, reference, sample[index] ?? 0);
  }
  return distances;
}

/** Returns how differently two frames sound: the Euclidean distance of their cepstra. */
export function frameDistance(one: Frames, frame: number, other: Frames, at: number): number {
  let squares = 0;
  for (let index = 0; index < CEPSTRA; index += 1) {
    const left = one.values[frame * CEPSTRA + index] ?? 0;
    squares += (left - (other.values[at * CEPSTRA + index] ?? 0)) ** 2;
  }
  return Math.sqrt(squares);
}
