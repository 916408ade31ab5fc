// Speaks a text with the Kokoro model, chunk by chunk.

import { COMMON_LUFS } from '../parts/level.mjs';
import { requireFinite, soundIn, toPcm } from '../parts/audio.mjs';
import { BREAK, chunkEnd } from '../parts/chunks.mjs';
import { Unspeakable } from '../parts/protocol.mjs';
import { floatsOf, numbersOf } from '../parts/model.mjs';
import { shareTime } from '../parts/word-times.mjs';
import { fitToPauses, pauseBetween, pausesIn, withSilences } from './pauses.mjs';
import { unitsOf } from './units.mjs';
import { MAX_SOUNDS } from './voices.mjs';

export const SAMPLE_RATE = 24_000;

/** Sizes of chunks in sounds: the model speaks shorter ones unevenly, and longer ones too fast. */
const SIZES = { first: 12, min: 40, max: 110 };

/** One unit of the model's durations. */
const FRAME_SAMPLES = 600;

/** Frames by which words are heard before the times of their durations, as measured with an aligner. */
const EARLY = { start: 3, end: 1.5 };

/** Silence that is kept around the sound of a chunk. */
const MARGIN_MS = 30;

/** Silence after a chunk at the speed 1, by the break after it. */
const PAUSE_MS = {
  [BREAK.word]: 0,
  [BREAK.comma]: 100,
  [BREAK.clause]: 150,
  [BREAK.sentence]: 250,
};

const PARAGRAPH_PAUSE_MS = 600;

/** Silence between two sentences of a chunk: as long as between two chunks, with their margins. */
const SENTENCE_PAUSE_MS = PAUSE_MS[BREAK.sentence] + 2 * MARGIN_MS;

/** A chunk inside a clause may end at a pause of this length. */
const CUT_PAUSE_MS = 100;

const SPEED = { lowest: 0.5, highest: 2 };

/**
 * @typedef {import('../parts/model.mjs').Model} Model
 * @typedef {import('../parts/protocol.mjs').Pronunciation} Pronunciation
 * @typedef {import('./pauses.mjs').Run} Run
 * @typedef {import('./units.mjs').Unit} Unit
 * @typedef {import('./pauses.mjs').PlacedWord & { unit: number }} UnitWord a word, and the index of its unit
 * @typedef {{ words: readonly [UnitWord, UnitWord], isSentenceEnd: boolean, size: number, spoken: number }} Gap
 * The place between two units; `size` and `spoken`: numbers of ids and of units before it.
 * @typedef {{ at: number, length: number }} Silence in samples
 * @typedef {(sounds: number) => Float32Array} StyleFor
 */

/**
 * Yields the speech of a text.
 * @param {{ model: Model, read: import('./units.mjs').Read }} parts
 * @param {{ text: string, voice: import('./voices.mjs').KokoroVoice, speed: number, pronunciations: readonly Pronunciation[],
 *   styleFor: StyleFor, level: number }} request `level`: loudness of the voice in LUFS
 * @returns {AsyncGenerator<{ samples: Int16Array, words: import('../parts/protocol.mjs').Word[] }>}
 * @throws {Unspeakable}
 */
export async function* speech(
  { model, read },
  { text, voice, speed, pronunciations, styleFor, level },
) {
  const units = unitsOf(text, voice, read, pronunciations);
  if (units.length === 0) {
    throw new Unspeakable(`The text has no word that the voice ${voice.id} can speak.`);
  }
  const rate = Math.min(SPEED.highest, Math.max(SPEED.lowest, speed));
  let offset = 0;
  for (let from = 0; from < units.length;) {
    const chunk = units.slice(from, chunkEnd(units, from, SIZES));
    const isLast = from + chunk.length === units.length;
    const { samples, words, spoken } = await speakChunk(model, chunk, { isLast, rate, styleFor });
    const pcm = toPcm(samples, COMMON_LUFS - level);
    yield { samples: pcm, words: words.map((word) => timed(word, offset)) };
    offset += samples.length;
    from += spoken;
  }
}

/**
 * Speaks a chunk. Of a chunk that ends inside a clause, speaks only the words before the longest pause of the model,
 * which speaks the last word of a chunk like the last word of a sentence.
 * @param {Model} model
 * @param {readonly Unit[]} chunk
 * @param {{ isLast: boolean, rate: number, styleFor: StyleFor }} how
 * @returns {Promise<{ samples: Float32Array, words: UnitWord[], spoken: number }>}
 *   `spoken` counts units
 */
async function speakChunk(model, chunk, { isLast, rate, styleFor }) {
  const { audio, frames } = await run(model, chunk, styleFor, rate);
  requireFinite(audio);
  const pauses = pausesIn(audio, SAMPLE_RATE);
  const words = fitToPauses(wordsOf(chunk, frames), pauses, SAMPLE_RATE);
  const gaps = gapsOf(chunk, words).map((gap) => {
    return { ...gap, pause: pauseBetween(audio, pauses, gap.words, SAMPLE_RATE) };
  });
  const { break: kind = BREAK.sentence, endsParagraph } = chunk.at(-1) ?? {};
  const isInClause = !isLast && kind === BREAK.word && endsParagraph !== true;
  const cut = isInClause ? longestPause(gaps) : undefined;
  const spoken = cut?.spoken ?? chunk.length;
  const sound = soundIn(audio, SAMPLE_RATE, MARGIN_MS);
  // The next chunk begins with a margin.
  const to = cut === undefined ? sound.to : cut.pause.to - samplesIn(MARGIN_MS);
  const range = { from: sound.from, to };
  const silences = gaps
    .filter(({ isSentenceEnd, spoken: index }) => isSentenceEnd && index < spoken)
    .map((gap) => silenceIn(gap, samplesIn(SENTENCE_PAUSE_MS / rate)));
  if (cut === undefined) {
    const pauseMs = endsParagraph === true ? PARAGRAPH_PAUSE_MS : PAUSE_MS[kind];
    silences.push({ at: range.to, length: samplesIn(pauseMs / rate) });
  }
  return {
    samples: withSilences(audio, range, silences, SAMPLE_RATE),
    words: moved(
      words.filter(({ unit }) => unit < spoken),
      range,
      silences,
    ),
    spoken,
  };
}

/**
 * Returns the places between the units of a chunk.
 * @param {readonly Unit[]} chunk
 * @param {readonly UnitWord[]} words
 * @returns {Gap[]}
 */
function gapsOf(chunk, words) {
  let size = 0;
  return chunk.slice(0, -1).flatMap((unit, index) => {
    size += unit.size;
    const before = words.findLast((word) => word.unit === index);
    const after = words.find((word) => word.unit === index + 1);
    if (before === undefined || after === undefined) return [];
    const isSentenceEnd = unit.break === BREAK.sentence;
    return [{ words: [before, after], isSentenceEnd, size, spoken: index + 1 }];
  });
}

/**
 * Returns the gap with the longest pause, after a chunk of at least the least size; undefined without a long pause.
 * @param {readonly (Gap & { pause: Run })[]} gaps
 */
function longestPause(gaps) {
  const long = gaps.filter(
    ({ pause, size }) => size >= SIZES.min && pause.to - pause.from >= samplesIn(CUT_PAUSE_MS),
  );
  const lengths = long.map(({ pause }) => pause.to - pause.from);
  return long[lengths.indexOf(Math.max(...lengths))];
}

/**
 * Returns the silence that makes the pause between two words as long as `wanted`, in samples. Keeps the words out of it.
 * @param {Gap & { pause: Run }} gap
 * @param {number} wanted
 * @returns {Silence}
 */
function silenceIn({ pause: { from, to }, words: [before, after] }, wanted) {
  before.to = Math.min(before.to, from);
  after.from = Math.max(after.from, to + 1);
  return { at: Math.round((from + to) / 2), length: Math.max(0, wanted - (to - from)) };
}

/**
 * Moves words to their places in the samples of a range with additional silences.
 * @param {readonly UnitWord[]} words
 * @param {Run} range
 * @param {readonly Silence[]} silences
 */
function moved(words, range, silences) {
  /** @param {number} sample */
  const place = (sample) => {
    const within = Math.min(range.to, Math.max(range.from, sample));
    const before = silences.filter(({ at }) => at < within).map(({ length }) => length);
    return within - range.from + before.reduce((sum, length) => sum + length, 0);
  };
  return words.map((word) => ({ ...word, from: place(word.from), to: place(word.to) }));
}

/** @param {number} ms */
function samplesIn(ms) {
  return Math.round((ms * SAMPLE_RATE) / 1000);
}

/**
 * Returns the audio of a chunk, and the duration of each id in frames, with those of the two pads.
 * @param {Model} model
 * @param {readonly Unit[]} chunk
 * @param {StyleFor} styleFor
 * @param {number} rate
 */
async function run(model, chunk, styleFor, rate) {
  const ids = idsIn(chunk);
  const padded = [0, ...ids, 0];
  const [idsInput, speedInput] = [/^(?:input_ids|tokens)$/, /^speed$/].map((name) =>
    model.inputs.find((input) => name.test(input.name)),
  );
  if (idsInput === undefined || speedInput === undefined) {
    throw new Error('The model has no input for the sounds or for the speed');
  }
  const isWhole = speedInput.type === 'int32';
  const outputs = await model.run({
    [idsInput.name]: {
      type: 'int64',
      data: BigInt64Array.from(padded, BigInt),
      dims: [1, padded.length],
    },
    style: { type: 'float32', data: styleFor(ids.length), dims: [1, 256] },
    speed: {
      type: isWhole ? 'int32' : 'float32',
      data: isWhole ? Int32Array.of(Math.max(1, Math.round(rate))) : Float32Array.of(rate),
      dims: [1],
    },
  });
  return {
    audio: floatsOf(outputs, model.outputs[0]),
    frames: numbersOf(outputs, model.exposed[0]),
  };
}

/** @param {readonly Unit[]} chunk */
function idsIn(chunk) {
  const ids = chunk.flatMap(({ before, ids: sounds, after }) => [...before, ...sounds, ...after]);
  return ids.slice(0, MAX_SOUNDS);
}

/**
 * Returns the words of a chunk with their places in its sound, by the durations of its sounds.
 * @param {readonly Unit[]} chunk
 * @param {readonly number[]} frames
 * @returns {UnitWord[]}
 */
function wordsOf(chunk, frames) {
  const starts = [0];
  let whole = 0;
  for (const count of frames) starts.push((whole += count));
  // The first id is a pad.
  let at = 1;
  const words = chunk.flatMap(({ before, ids, after, ranges }, unit) => {
    const first = at + before.length;
    const next = first + ids.length;
    at = next + after.length;
    const times = shareTime(ranges, starts.slice(first, next), starts[next] ?? whole);
    return times.map((word) => ({ ...word, unit }));
  });
  const placed = words.map((word) => ({
    ...word,
    from: Math.max(0, word.from - EARLY.start) * FRAME_SAMPLES,
    to: (word.to - EARLY.end) * FRAME_SAMPLES,
  }));
  return placed.map((word, index) => {
    return { ...word, to: Math.min(word.to, placed[index + 1]?.from ?? Infinity) };
  });
}

/**
 * @param {UnitWord} word
 * @param {number} offset
 */
function timed({ start, end, from, to }, offset) {
  /** @param {number} sample */
  const msAt = (sample) => Math.round(((offset + sample) * 1000) / SAMPLE_RATE);
  return { start, end, startMs: msAt(from), endMs: msAt(to) };
}
