// Speaks a text with the Kokoro model, chunk by chunk.

import { COMMON_LUFS } from '../parts/level.mjs';
import { requireFinite, soundIn, toPcm } from '../parts/audio.mjs';
import { BREAK, breakIn, chunksOf, sentencesOf } from '../parts/chunks.mjs';
import { Unspeakable } from '../parts/protocol.mjs';
import { shareTime } from '../parts/word-times.mjs';
import { separated } from './english.mjs';
import { gapSymbols, idsOf, symbolsOf } from './symbols.mjs';
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

/** Silence after a chunk, by the break after it. */
const PAUSE_MS = {
  [BREAK.word]: 0,
  [BREAK.comma]: 100,
  [BREAK.clause]: 150,
  [BREAK.sentence]: 250,
};

const PARAGRAPH_PAUSE_MS = 600;

const SPEED = { lowest: 0.5, highest: 2 };

/**
 * Yields the speech of a text.
 * @param {{ model: import('../parts/model.mjs').Model, phonemize: import('../parts/phonemes.mjs').Phonemize }} parts
 * @param {{ text: string, voice: import('./voices.mjs').KokoroVoice, speed: number,
 *   styleFor: (sounds: number) => Float32Array, level: number }} request `level`: loudness of the voice in LUFS
 * @returns {AsyncGenerator<{ samples: Int16Array, words: import('../parts/protocol.mjs').Word[] }>}
 * @throws {Unspeakable}
 */
export async function* speech({ model, phonemize }, { text, voice, speed, styleFor, level }) {
  const units = unitsOf(text, voice, phonemize);
  if (units.length === 0) {
    throw new Unspeakable(`The text has no word that the voice ${voice.id} can speak.`);
  }
  let spoken = 0;
  for (const chunk of chunksOf(units, SIZES)) {
    const { audio, frames } = await run(model, chunk, styleFor, speed);
    requireFinite(audio);
    const { from, to } = soundIn(audio, SAMPLE_RATE, MARGIN_MS);
    const { break: kind, endsParagraph } = chunk.at(-1);
    const pauseMs = endsParagraph === true ? PARAGRAPH_PAUSE_MS : PAUSE_MS[kind];
    const pause = Math.round((pauseMs * SAMPLE_RATE) / 1000);
    const samples = new Int16Array(to - from + pause);
    samples.set(toPcm(audio.subarray(from, to), COMMON_LUFS - level));
    yield { samples, words: timesOf(chunk, frames, { from, to, offset: spoken }) };
    spoken += samples.length;
  }
}

/**
 * @typedef {{ before: number[], ids: number[], after: number[], size: number, break: number,
 *   endsParagraph?: boolean, ranges: import('../parts/phonemes.mjs').Range[] }} Unit
 * A word, or several that are spoken as one, as ids of the model; `before` and `after` are punctuation.
 */
function unitsOf(text, { language, espeak }, phonemize) {
  const units = [];
  for (const sentence of sentencesOf(text, language)) {
    const last = units.at(-1);
    // A blank line is a sentence without words.
    if (last !== undefined && /^\s*\n\s*$/u.test(sentence.text)) last.endsParagraph = true;
    const characters = Array.from(sentence.text);
    const textOf = ({ start, end }) => characters.slice(start, end).join('');
    const { spoken: joined, gap } = phonemize(sentence.text, espeak);
    const soundsAlone = (word) => phonemize(textOf(word), espeak).spoken[0]?.phonemes.length ?? 0;
    const spoken = language.startsWith('en') ? separated(joined, soundsAlone) : joined;
    for (const [index, { ranges, phonemes, gap: before }] of spoken.entries()) {
      const after = spoken[index + 1]?.gap ?? gap;
      units.push({
        before: idsOf(gapSymbols(before).replace(/^.* /su, '')),
        ids: idsOf(symbolsOf(phonemes, language, textOf(ranges[0]))),
        after: idsOf(gapSymbols(after).replace(/[^ ]*$/u, '')),
        break: breakIn(after),
        ranges: ranges.map(({ start, end }) => ({
          start: sentence.start + start,
          end: sentence.start + end,
        })),
      });
    }
  }
  return units
    .filter(({ ids }) => ids.length > 0)
    .map((unit) => ({ ...unit, size: unit.before.length + unit.ids.length + unit.after.length }));
}

/** Returns the audio of a chunk, and the duration of each id in frames, with those of the two pads. */
async function run(model, chunk, styleFor, speed) {
  const ids = idsIn(chunk);
  const padded = [0, ...ids, 0];
  const within = Math.min(SPEED.highest, Math.max(SPEED.lowest, speed));
  const [idsInput, speedInput] = [/^(?:input_ids|tokens)$/, /^speed$/].map((name) =>
    model.inputs.find((input) => name.test(input.name)),
  );
  const outputs = await model.run({
    [idsInput.name]: {
      type: 'int64',
      data: BigInt64Array.from(padded, BigInt),
      dims: [1, padded.length],
    },
    style: { type: 'float32', data: styleFor(ids.length), dims: [1, 256] },
    speed: {
      type: speedInput.type,
      data:
        speedInput.type === 'int32'
          ? Int32Array.of(Math.max(1, Math.round(within)))
          : Float32Array.of(within),
      dims: [1],
    },
  });
  return {
    audio: outputs[model.outputs[0]],
    frames: Array.from(outputs[model.exposed[0]], Number),
  };
}

function idsIn(chunk) {
  const ids = chunk.flatMap(({ before, ids: sounds, after }) => [...before, ...sounds, ...after]);
  return ids.slice(0, MAX_SOUNDS);
}

/** Returns the times of the words of a chunk, from the durations of its sounds. */
function timesOf(chunk, frames, { from, to, offset }) {
  const starts = [0];
  for (const count of frames) starts.push(starts.at(-1) + count);
  const msAt = (frame) => {
    const sample = Math.min(to, Math.max(from, frame * FRAME_SAMPLES)) - from + offset;
    return Math.round((sample * 1000) / SAMPLE_RATE);
  };
  // The first id is a pad.
  let at = 1;
  const words = chunk.flatMap(({ before, ids, after, ranges }) => {
    const first = at + before.length;
    const next = first + ids.length;
    at = next + after.length;
    return shareTime(ranges, starts.slice(first, next), starts[next] ?? starts.at(-1));
  });
  const times = words.map((word) => msAt(word.from - EARLY.start));
  return words.map(({ start, end, to: endFrame }, index) => {
    const endMs = Math.min(msAt(endFrame - EARLY.end), times[index + 1] ?? Infinity);
    return { start, end, startMs: times[index], endMs };
  });
}
