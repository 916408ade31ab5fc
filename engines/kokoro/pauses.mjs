// Finds the pauses in the sound of a chunk, fits the times of its words to them, and lengthens those between sentences.

/** Stretches over which the energy is measured. */
const STEP_MS = 5;

/** A step this many decibels below the loudest is quiet. */
const QUIET_DB = 40;

/** Shorter quiet runs are closures of consonants. */
const SHORTEST_PAUSE_MS = 60;

/** How far the start of a word may be from the end of the pause before it. */
const NEAR_MS = 150;

/** How far the quietest place between two words may be from their times. */
const REACH_MS = 40;

/** Duration of the fades at a place where sound is cut. */
const FADE_MS = 6;

/**
 * @typedef {{ from: number, to: number }} Run a range of samples
 * @typedef {{ start: number, end: number, from: number, to: number }} PlacedWord
 * A word with its range in the text in code points, and the samples at which its sound starts and ends.
 */

/**
 * Finds the quiet runs in the sound of a chunk, with those at its ends.
 * @param {Float32Array} samples
 * @param {number} sampleRate
 * @returns {Run[]}
 */
export function pausesIn(samples, sampleRate) {
  const step = Math.round((sampleRate * STEP_MS) / 1000);
  const powers = powersOf(samples, step);
  const quiet = powers.reduce((most, power) => Math.max(most, power), 0) / 10 ** (QUIET_DB / 10);
  const shortest = SHORTEST_PAUSE_MS / STEP_MS;
  const pauses = [];
  let from = 0;
  for (let at = 0; at <= powers.length; at += 1) {
    const power = powers[at];
    if (power !== undefined && power < quiet) continue;
    if (at - from >= shortest) pauses.push({ from: from * step, to: at * step });
    from = at + 1;
  }
  return pauses;
}

/**
 * @param {Float32Array} samples
 * @param {number} step
 */
function powersOf(samples, step) {
  return Array.from({ length: Math.floor(samples.length / step) }, (_, at) =>
    samples.subarray(at * step, (at + 1) * step).reduce((sum, sample) => sum + sample ** 2, 0),
  );
}

/**
 * Moves the times of words beside a pause to where their sound begins and ends. The durations of the model assign some
 * of the silence to the words.
 * @template {PlacedWord} Word
 * @param {readonly Word[]} words
 * @param {readonly Run[]} pauses
 * @param {number} sampleRate
 * @returns {Word[]}
 */
export function fitToPauses(words, pauses, sampleRate) {
  const fitted = words.map((word) => ({ ...word }));
  const near = (sampleRate * NEAR_MS) / 1000;
  const last = fitted.at(-1);
  if (last === undefined) return fitted;
  for (const { from, to } of pauses) {
    const distances = fitted.map((word) => Math.abs(word.from - to));
    const distance = Math.min(...distances);
    const index = distances.indexOf(distance);
    const [before, after = last] = [fitted[index - 1], fitted[index]];
    if (distance <= near && to < after.to && from > (before?.from ?? -1)) {
      after.from = to;
      if (before !== undefined) before.to = Math.min(before.to, from);
    } else if (from > last.from && to > last.to) last.to = Math.min(last.to, from);
  }
  return fitted;
}

/**
 * Returns the pause between two words, or the quietest place between them as an empty run.
 * @param {Float32Array} samples
 * @param {readonly Run[]} pauses
 * @param {readonly [PlacedWord, PlacedWord]} words
 * @param {number} sampleRate
 * @returns {Run}
 */
export function pauseBetween(samples, pauses, [before, after], sampleRate) {
  const [earliest, latest] = [(before.from + before.to) / 2, (after.from + after.to) / 2];
  const [pause] = pauses
    .filter(({ from, to }) => from > before.from && to > earliest && from < latest)
    .sort((one, other) => other.to - other.from - (one.to - one.from));
  if (pause !== undefined) return pause;
  const step = Math.round((sampleRate * STEP_MS) / 1000);
  const reach = Math.round((sampleRate * REACH_MS) / 1000);
  const from = Math.max(0, before.to - reach);
  const powers = powersOf(samples.subarray(from, after.from + reach), step);
  // The energy of one step changes with the phase of a low voice.
  const sums = powers.slice(1).map((power, at) => power + (powers[at] ?? 0));
  const at = from + (sums.indexOf(Math.min(...sums)) + 1) * step;
  return { from: at, to: at };
}

/**
 * Returns the samples of a range with silences added.
 * @param {Float32Array} samples
 * @param {Run} range
 * @param {readonly { at: number, length: number }[]} silences in order and within the range; in samples
 * @param {number} sampleRate
 * @returns {Float32Array}
 */
export function withSilences(samples, range, silences, sampleRate) {
  const added = silences.reduce((sum, { length }) => sum + length, 0);
  const longer = new Float32Array(range.to - range.from + added);
  const fade = Math.round((sampleRate * FADE_MS) / 1000);
  let { from } = range;
  let target = 0;
  for (const { at, length } of [...silences, { at: range.to, length: 0 }]) {
    const part = samples.slice(from, at);
    if (from > range.from) fadeEdge(part, fade, (index) => index);
    if (at < range.to) fadeEdge(part, fade, (index) => part.length - 1 - index);
    longer.set(part, target);
    target += part.length + length;
    from = at;
  }
  return longer;
}

/**
 * Fades the first samples from silence, in the order that `place` gives.
 * @param {Float32Array} samples
 * @param {number} length
 * @param {(index: number) => number} place
 */
function fadeEdge(samples, length, place) {
  for (let index = 0; index < Math.min(length, samples.length); index += 1) {
    const at = place(index);
    samples[at] = (samples[at] ?? 0) * (index / length);
  }
}
