// Speaks a text with a Piper model, sentence by sentence.

import { requireFinite, soundIn, toPcm } from '../parts/audio.mjs';
import { COMMON_LUFS, loudness } from '../parts/level.mjs';
import { floatsOf, numbersOf } from '../parts/model.mjs';
import { Unspeakable } from '../parts/protocol.mjs';
import { shareTime } from '../parts/word-times.mjs';
import { chunksOfText } from './symbols.mjs';

/** The node of the models that computes the durations of the symbols. */
export const DURATIONS = 'Ceil';

/** Without noise, the same text always gives the same samples. */
const NOISE = { sound: 0, duration: 0 };

const SPEED = { lowest: 0.25, highest: 4 };

/**
 * The models round the duration of each symbol up to whole frames, by half a frame on average. The
 * average of the unrounded durations at the normal speed was measured with 4 sentences.
 */
const FRAME = { samples: 256, roundedUp: 0.5 };
const SYMBOL_SECONDS = 0.018;
const MIN_SCALE = 0.1;

/** Silence that is kept around the sound of a sentence, and silence after it. */
const MARGIN_MS = 30;
const PAUSE_MS = { part: 100, sentence: 300, paragraph: 600 };

/**
 * @typedef {import('../parts/model.mjs').Model} Model
 * @typedef {import('./voices.mjs').PiperVoice} PiperVoice
 */

/**
 * Yields the speech of a text.
 * @param {{ model: Model, phonemize: import('../parts/phonemes.mjs').Phonemize }} parts
 * @param {{ text: string, voice: PiperVoice, speed: number }} request
 * @returns {AsyncGenerator<{ samples: Int16Array, words: import('../parts/protocol.mjs').Word[] }>}
 * @throws {Unspeakable}
 */
export async function* speech({ model, phonemize }, { text, voice, speed: wanted }) {
  const { id, sampleRate } = voice;
  const speed = Math.min(SPEED.highest, Math.max(SPEED.lowest, wanted));
  let spoken = 0;
  let pauseMs = 0;
  for (const chunk of chunksOfText(text, voice, phonemize)) {
    const { audio, frames } = await run(model, chunk.ids, voice, speed);
    requireFinite(audio);
    const gain = COMMON_LUFS - loudness(audio, sampleRate);
    if (!Number.isFinite(gain)) continue;
    const pcm = toPcm(audio, gain);
    const { from, to } = soundIn(
      Float32Array.from(pcm, (one) => one / 32_768),
      sampleRate,
      MARGIN_MS,
    );
    if (to === from) continue;
    const pause = Math.round((pauseMs * sampleRate) / 1000 / speed);
    const samples = new Int16Array(pause + to - from);
    samples.set(pcm.subarray(from, to), pause);
    /** @param {number} sample */
    const toMs = (sample) => {
      const within = Math.min(to, Math.max(from, sample)) - from;
      return Math.floor(((spoken + pause + within) * 1000) / sampleRate);
    };
    yield { samples, words: timesOf(chunk.words, frames, audio.length, toMs) };
    spoken += samples.length;
    pauseMs = PAUSE_MS[chunk.end];
  }
  if (spoken === 0) {
    throw new Unspeakable(`The text has no word that the voice ${id} can speak.`);
  }
}

/**
 * Returns the audio of a chunk, and the duration of each symbol in frames.
 * @param {Model} model
 * @param {readonly number[]} ids
 * @param {PiperVoice} voice
 * @param {number} speed
 */
async function run(model, ids, { lengthScale, sampleRate, speaker }, speed) {
  /** @type {Record<string, import('../parts/model.mjs').Input>} */
  const inputs = {
    input: { type: 'int64', data: ints(...ids), dims: [1, ids.length] },
    input_lengths: { type: 'int64', data: ints(ids.length), dims: [1] },
    scales: {
      type: 'float32',
      data: Float32Array.of(NOISE.sound, lengthScale * scaleFor(speed, sampleRate), NOISE.duration),
      dims: [3],
    },
  };
  if (speaker !== undefined) inputs['sid'] = { type: 'int64', data: ints(speaker), dims: [1] };
  const outputs = await model.run(inputs);
  return {
    audio: floatsOf(outputs, model.outputs[0]),
    frames: numbersOf(outputs, model.exposed[0]),
  };
}

/**
 * Returns the factor on the unrounded durations that makes the rounded ones as short as `speed` wants.
 * @param {number} speed
 * @param {number} sampleRate
 */
function scaleFor(speed, sampleRate) {
  const rounding = (FRAME.roundedUp * FRAME.samples) / sampleRate / SYMBOL_SECONDS;
  return Math.max(MIN_SCALE, 1 / speed + rounding * (1 / speed - 1));
}

/** @param {number[]} values */
function ints(...values) {
  return BigInt64Array.from(values, BigInt);
}

/**
 * Returns the times of the words of a chunk, from the durations of its symbols.
 * @param {readonly import('./symbols.mjs').PlacedWord[]} words
 * @param {readonly number[]} frames
 * @param {number} samples
 * @param {(sample: number) => number} toMs
 */
function timesOf(words, frames, samples, toMs) {
  const ends = [0];
  let whole = 0;
  for (const duration of frames) ends.push((whole += duration));
  /** @param {number} index */
  const startOf = (index) => ((ends[index] ?? whole) * samples) / whole;
  return words.flatMap(({ ranges, starts, end }) =>
    shareTime(ranges, starts.map(startOf), startOf(end)).map(({ from, to, ...range }) => ({
      ...range,
      startMs: toMs(from),
      endMs: toMs(to),
    })),
  );
}
