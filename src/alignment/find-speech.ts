import { frameDistance } from './dtw.ts';
import type { BandEnergies, Frames } from './features.ts';
import { BANDS, comparableFrames, DECIBEL } from './features.ts';
import { findChangingSound } from './steady-noise.ts';

/** Speech from an engine. `isWord` is 1 for each frame that is part of a word. */
interface ReferenceSpeech {
  readonly energies: BandEnergies;
  readonly isWord: Uint8Array;
}

/**
 * Yields guesses of which frames of a recording may be speech: all but steady noise, all, and all but sound that is
 * unlike the reference, such as music. Each guess has 1 for a frame that may be speech, otherwise 0.
 * @throws the signal's abort reason
 */
export async function* likelySpeech(
  recording: BandEnergies,
  reference: ReferenceSpeech,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const whole = all(recording.frames);
  const changing = NOISE_DEVIATIONS.map((deviation) => findChangingSound(recording, deviation));
  const withoutNoise = changing.filter((guess) => guess.includes(0));
  yield* withoutNoise;
  yield whole;
  const [isChanging = whole] = withoutNoise;
  const isSpeech = await findSpeech(recording, reference, { isChanging, signal });
  if (isSpeech !== undefined) yield isSpeech;
}

// Within a second, the bands of hiss deviate by 1.2 dB, those of a hall's applause by 2.5 dB, those of a small room's
// applause by 4.5 dB, and those of clear speech by more than 8 dB. Speech that is as loud as white noise under it
// deviates by 2.5 dB.
const NOISE_DEVIATIONS = [2.6 * DECIBEL, 4.5 * DECIBEL];

/**
 * Finds the frames of a recording that may be speech, and those that are certainly other sound, such as music. First
 * chooses the windows of the recording that sound most like the reference, in any order; then compares every frame with
 * the reference, as it sounds beside these windows.
 * @param isChanging for each frame of the recording: 0 if it is steady noise, otherwise 1
 * @returns for each frame of the recording: 0 for steady noise and other sound, otherwise 1; undefined without other
 * sound
 * @throws the signal's abort reason
 */
async function findSpeech(
  recording: BandEnergies,
  { energies, isWord }: ReferenceSpeech,
  { isChanging, signal }: { readonly isChanging: Uint8Array; readonly signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  const wordFrames = Array.from(isWord.keys()).filter((frame) => isWord[frame] === 1);
  const reference = pickFrames(energies, spread(wordFrames, REFERENCE_FRAMES));
  const length = Math.max(WINDOW.least, Math.min(WINDOW.most, wordFrames.length));
  const isLike = await findLikeWindows(recording, reference, { isChanging, length, signal });
  if (isLike === undefined) return undefined;
  const distances = await nearestDistances(recording, reference, { isLike, signal });
  const runs = farRuns(distances, isLike);
  if (runs.length === 0) return undefined;
  const isSpeech = isChanging.slice();
  for (const { from, to } of runs) isSpeech.fill(0, from * BLOCK, to * BLOCK);
  return isSpeech;
}

// Lengths of windows and numbers of compared frames, in frames.
const WINDOW = { least: 100, most: 400, frames: 100 } as const;
const WINDOWS_OVERLAP = 4;
const REFERENCE_FRAMES = 80;

// A window is like the reference if its distance is at most this much of the smallest distance. Windows of speech stay
// below 1.2, and windows of music above 1.3.
const MOST_LIKE = 1.25;
// Windows of which less than a quarter is loud are pauses.
const LEAST_LOUD = 0.25;
const LOUD = 0.3;

async function findLikeWindows(
  recording: BandEnergies,
  reference: BandEnergies,
  {
    isChanging,
    length,
    signal,
  }: { readonly isChanging: Uint8Array; readonly length: number; readonly signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  const chosen = { isSpeech: isChanging, isWord: all(reference.frames) };
  const loudness = comparableFrames(recording, reference, chosen).recording.loudness.map(
    (one, frame) => (isChanging[frame] === 1 ? one : 0),
  );
  const windows: { readonly from: number; readonly distance: number }[] = [];
  for (let from = 0; from + length <= recording.frames; from += length / WINDOWS_OVERLAP) {
    const first = Math.floor(from);
    const own = loudness.subarray(first, first + length);
    if (own.filter((one) => one > LOUD).length < LEAST_LOUD * length) {
      windows.push({ from: first, distance: Infinity });
      continue;
    }
    const frames = Array.from(own.keys(), (frame) => first + frame);
    const window = pickFrames(recording, spread(frames, WINDOW.frames));
    windows.push({ from: first, distance: windowDistance(window, reference) });
    await new Promise(setImmediate);
    signal.throwIfAborted();
  }
  const least = Math.min(...windows.map(({ distance }) => distance));
  const like = windows.filter(({ distance }) => distance <= MOST_LIKE * least);
  if (like.length === windows.length) return undefined;
  const isLike = new Uint8Array(recording.frames);
  for (const { from } of like) isLike.fill(1, from, from + length);
  return isLike;
}

/**
 * Returns how differently two sounds are composed: the mean distance from each frame of one sound to the nearest frame
 * of the other sound, in both directions. Music has frames that are unlike speech, and lacks most frames of speech.
 */
function windowDistance(window: BandEnergies, reference: BandEnergies): number {
  const sound = comparableFrames(window, reference, {
    isSpeech: all(window.frames),
    isWord: all(reference.frames),
  });
  const { loudness } = sound.recording;
  const heard = Array.from(loudness.keys()).filter((frame) => (loudness[frame] ?? 0) > LOUD);
  const said = Array.from({ length: sound.reference.count }, (_, frame) => frame);
  if (heard.length === 0) return Infinity;
  const toHeard = new Float64Array(said.length).fill(Infinity);
  let toSaid = 0;
  for (const frame of heard) {
    let nearest = Infinity;
    for (const other of said) {
      const distance = frameDistance(sound.recording, frame, sound.reference, other);
      nearest = Math.min(nearest, distance);
      toHeard[other] = Math.min(toHeard[other] ?? Infinity, distance);
    }
    toSaid += nearest;
  }
  return (toSaid / heard.length + mean(toHeard)) / meanDistance(sound.reference);
}

// Noise makes all distances smaller, so they are compared with the distances within the reference.
function meanDistance(frames: Frames): number {
  let sum = 0;
  for (let frame = 1; frame < frames.count; frame += 1) {
    sum += frameDistance(frames, frame, frames, Math.floor(frame / 2));
  }
  return sum / Math.max(1, frames.count - 1) + 1e-3;
}

// Distances are averaged over blocks of this number of frames, and over the blocks beside them.
const BLOCK = 25;
const FRAME_STEP = 2;

async function nearestDistances(
  recording: BandEnergies,
  reference: BandEnergies,
  { isLike, signal }: { readonly isLike: Uint8Array; readonly signal: AbortSignal },
): Promise<Float64Array> {
  const isWord = all(reference.frames);
  const near = comparableFrames(recording, reference, { isSpeech: isLike, isWord });
  const { loudness } = near.recording;
  const blocks = new Float64Array(Math.floor(recording.frames / BLOCK));
  for (const block of blocks.keys()) {
    let [sum, count] = [0, 0];
    for (let frame = block * BLOCK; frame < (block + 1) * BLOCK; frame += FRAME_STEP) {
      if ((loudness[frame] ?? 0) <= LOUD) continue;
      let nearest = Infinity;
      for (let other = 0; other < reference.frames; other += 1) {
        nearest = Math.min(nearest, frameDistance(near.recording, frame, near.reference, other));
      }
      [sum, count] = [sum + nearest, count + 1];
    }
    blocks[block] = count === 0 ? Number.NaN : sum / count;
    if (block % BLOCKS_PER_TURN !== 0) continue;
    await new Promise(setImmediate);
    signal.throwIfAborted();
  }
  return blocks.map((_, block) => {
    const known = blocks
      .slice(Math.max(0, block - 1), block + 2)
      .filter((one) => !Number.isNaN(one));
    return known.length === 0 ? Number.NaN : mean(known);
  });
}

const BLOCKS_PER_TURN = 50;

// Other sound is this much further from the reference than speech, within windows like the reference and elsewhere, for
// at least this number of blocks.
const FAR = { inLike: 1.6, elsewhere: 1.15 } as const;
const LEAST_BLOCKS = 4;

interface FrameRun {
  readonly from: number;
  readonly to: number;
}

function farRuns(distances: Float64Array, isLike: Uint8Array): readonly FrameRun[] {
  const like = distances.filter((one, block) => !Number.isNaN(one) && isLike[block * BLOCK] === 1);
  const usual = like.sort()[like.length >> 1] ?? Infinity;
  const runs: FrameRun[] = [];
  let from = -1;
  // A pause within other sound belongs to it.
  for (const [block, distance] of [...distances, 0].entries()) {
    const far = isLike[block * BLOCK] === 1 ? FAR.inLike : FAR.elsewhere;
    if (distance > far * usual && from === -1) from = block;
    if (distance > far * usual || Number.isNaN(distance) || from === -1) continue;
    if (block - from >= LEAST_BLOCKS) runs.push({ from, to: block });
    from = -1;
  }
  return runs;
}

function pickFrames({ bands, logs }: BandEnergies, chosen: readonly number[]): BandEnergies {
  const picked = new Float32Array(chosen.length * BANDS);
  for (const [index, frame] of chosen.entries()) {
    picked.set(logs.subarray(frame * BANDS, (frame + 1) * BANDS), index * BANDS);
  }
  return { bands, frames: chosen.length, logs: picked };
}

function spread(frames: readonly number[], count: number): readonly number[] {
  const length = Math.min(count, frames.length);
  return Array.from(
    { length },
    (_, index) => frames[Math.floor(((index + 0.5) * frames.length) / length)] ?? 0,
  );
}

function all(frames: number): Uint8Array {
  return new Uint8Array(frames).fill(1);
}

function mean(values: Float64Array): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}
