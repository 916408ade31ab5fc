// Speaks a text in stretches, because espeak-ng cannot pause while it speaks.
//
// espeak-ng finds the ends of sentences. So every stretch but the last is too long on purpose: the
// speech after its last sentence (or else clause) is dropped, and the next stretch begins there.

import { SAMPLE_RATE } from '../parts/espeak.mjs';
import { amplify } from '../parts/level.mjs';
import { escape, speakable } from './markup.mjs';
import { readAloud } from './reading.mjs';
import { tokenize } from './tokens.mjs';
import { gainOf, variantOf } from './voices.mjs';
import { timeWords, tokenAt } from './words.mjs';

/** Code points of a stretch; the first is short, so that the speech starts early. */
const STRETCH = { first: 120, other: 400 };

/** The voice cannot speak any part of the text. */
export class Unspeakable extends Error {}

/**
 * Yields the speech of a text; positions and times of words count from the start of the text.
 * @typedef {{ start: number, end: number, startMs: number, endMs: number }} Word
 * @typedef {{ text: string, speed: number, pitch: number }} Request
 *
 * @param {import('./voices.mjs').Voice} voice
 * @param {Request} request
 * @returns {Generator<{ samples: Int16Array, words: Word[] }>} chunks in order
 * @throws {Unspeakable}
 */
export function* speech(espeak, voice, { text, speed, pitch }) {
  const characters = speakable([...text], voice.language);
  const tokens = tokenize(characters, voice.language);
  const spoken = readAloud(characters, voice.language);
  refuseUnspeakable(characters, tokens, voice);
  const variant = variantOf(voice, pitch, (name) => espeak.variantLines(name));
  const gain = gainOf(voice, pitch);
  let spokenSamples = 0;
  let wasHeard = false;
  for (let next = 0; next < tokens.length;) {
    const size = next === 0 ? STRETCH.first : STRETCH.other;
    const stretch = stretchOf(tokens, next, size, characters.length);
    const part = speakStretch(espeak, spoken, stretch, {
      voice: voice.espeak,
      variant,
      speed,
    });
    next += part.tokens;
    wasHeard ||= part.isHeard;
    if (!wasHeard) continue;
    const offsetMs = (spokenSamples * 1000) / SAMPLE_RATE;
    spokenSamples += part.samples.length;
    yield { samples: amplify(part.samples, gain), words: placed(part.words, offsetMs) };
  }
  if (!wasHeard) throw new Unspeakable(`The voice ${voice.id} cannot speak this text.`);
}

function refuseUnspeakable(characters, tokens, voice) {
  if (tokens.length === 0) {
    throw new Unspeakable(`The text has no word that the voice ${voice.id} can speak.`);
  }
  if (
    voice.language === 'ja' &&
    characters.some((character) => /\p{Script=Han}/u.test(character))
  ) {
    throw new Unspeakable(`The voice ${voice.id} cannot speak kanji: use hiragana or katakana.`);
  }
}

/**
 * Returns the words from `first` on that fit into `size` code points, at least one, and their range
 * in the text with up to `size` signs on each side.
 */
function stretchOf(tokens, first, size, textEnd) {
  const from = Math.max(first === 0 ? 0 : tokens[first].from, tokens[first].start - size);
  let next = first + 1;
  while (next < tokens.length && tokens[next].end - tokens[first].start <= size) next += 1;
  const to = Math.min(tokens[next]?.from ?? textEnd, tokens[next - 1].end + size);
  return { tokens: tokens.slice(first, next), from, to, isLast: next === tokens.length };
}

function speakStretch(espeak, spoken, stretch, how) {
  const { text, sources } = escape(spoken, stretch.from, stretch.to);
  const { samples, events } = espeak.speak({ ...how, text });
  const reported = events.map(({ type, text_position: position, audio_position: ms, id }) => ({
    type,
    ms,
    at: sources[position - 1] ?? stretch.from,
    isSilent: id === '',
  }));
  const sounds = reported.filter(({ type }) => type === 'phoneme');
  const begun = reported.filter(({ type }) => type === 'word');
  const wholeMs = (samples.length * 1000) / SAMPLE_RATE;
  const times = timeWords(stretch.tokens, begun, sounds, wholeMs);
  const cut = stretch.isLast ? undefined : lastBreak(reported, stretch.tokens);
  const count = cut?.tokens ?? stretch.tokens.length;
  return {
    samples: cut === undefined ? samples : samples.subarray(0, (cut.ms * SAMPLE_RATE) / 1000),
    words: stretch.tokens.slice(0, count).map(({ start, end }, index) => ({
      start,
      end,
      startMs: times[index].startMs,
      endMs: times[index].endMs,
    })),
    tokens: count,
    isHeard: sounds.some(({ isSilent }) => !isSilent),
  };
}

/** Returns the time at which the last sentence or else clause begins, and the number of words before. */
function lastBreak(events, tokens) {
  const begins = (isBreak) =>
    events
      .filter(({ type, ms }, index) => type === 'word' && isBreak(ms, index))
      .map(({ ms, at }) => ({ ms, tokens: tokenAt(tokens, at) }))
      .findLast((found) => found.tokens > 0 && found.ms > 0);
  const timesOf = (wanted) =>
    new Set(events.filter(({ type }) => type === wanted).map(({ ms }) => ms));
  const sentences = timesOf('sentence');
  const clauses = timesOf('end');
  return begins((ms) => sentences.has(ms)) ?? begins((ms) => clauses.has(ms));
}

function placed(words, offsetMs) {
  return words.map(({ start, end, startMs, endMs }) => ({
    start,
    end,
    startMs: Math.round(offsetMs + startMs),
    endMs: Math.round(offsetMs + endMs),
  }));
}
