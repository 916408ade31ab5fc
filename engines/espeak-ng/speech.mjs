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
 * @typedef {import('../parts/protocol.mjs').Word} Word
 * @typedef {import('../parts/espeak.mjs').Espeak} Espeak
 * @typedef {import('../parts/espeak.mjs').EspeakEvent} EspeakEvent
 * @typedef {import('./tokens.mjs').Token} Token
 * @typedef {import('./voices.mjs').Voice} Voice
 * @typedef {{ tokens: readonly Token[], from: number, to: number, isLast: boolean }} Stretch
 * @typedef {{ type: EspeakEvent['type'], ms: number, at: number, isSilent: boolean }} Event
 * `at`: index of a code point of the text
 */

/**
 * Yields the speech of a text; positions and times of words count from the start of the text.
 * @param {Espeak} espeak
 * @param {Voice} voice
 * @param {{ text: string, speed: number, pitch: number }} request
 * @returns {Generator<{ samples: Int16Array, words: Word[] }>} chunks in order
 * @throws {Unspeakable}
 */
export function* speech(espeak, voice, { text, speed, pitch }) {
  const characters = speakable(Array.from(text), voice.language);
  const tokens = tokenize(characters, voice.language);
  const spoken = readAloud(characters, voice.language);
  refuseUnspeakable(characters, tokens, voice);
  const variant = variantOf(voice, pitch, (name) => espeak.variantLines(name));
  const gain = gainOf(voice, pitch);
  let spokenSamples = 0;
  let wasHeard = false;
  let next = 0;
  for (let first = tokens[0]; first !== undefined; first = tokens[next]) {
    const size = next === 0 ? STRETCH.first : STRETCH.other;
    const stretch = stretchOf(tokens, { first, index: next, size, textEnd: characters.length });
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

/**
 * @param {readonly string[]} characters
 * @param {readonly Token[]} tokens
 * @param {Voice} voice
 */
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
 * @param {readonly Token[]} tokens
 * @param {{ first: Token, index: number, size: number, textEnd: number }} limits `index` of the first word
 * @returns {Stretch}
 */
function stretchOf(tokens, { first, index, size, textEnd }) {
  let last = first;
  let next = index + 1;
  let following = tokens[next];
  while (following !== undefined && following.end - first.start <= size) {
    last = following;
    next += 1;
    following = tokens[next];
  }
  return {
    tokens: tokens.slice(index, next),
    from: Math.max(index === 0 ? 0 : first.from, first.start - size),
    to: Math.min(following?.from ?? textEnd, last.end + size),
    isLast: following === undefined,
  };
}

/**
 * @param {Espeak} espeak
 * @param {readonly string[]} spoken
 * @param {Stretch} stretch
 * @param {Omit<import('../parts/espeak.mjs').Utterance, 'text'>} how
 */
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
  const words = timeWords(stretch.tokens, begun, sounds, wholeMs);
  const cut = stretch.isLast ? undefined : lastBreak(reported, stretch.tokens);
  const count = cut?.tokens ?? stretch.tokens.length;
  return {
    samples: cut === undefined ? samples : samples.subarray(0, (cut.ms * SAMPLE_RATE) / 1000),
    words: words.slice(0, count),
    tokens: count,
    isHeard: sounds.some(({ isSilent }) => !isSilent),
  };
}

/**
 * Returns the time at which the last sentence or else clause begins, and the number of words before.
 * @param {readonly Event[]} events
 * @param {readonly Token[]} tokens
 */
function lastBreak(events, tokens) {
  /** @param {(ms: number) => boolean} isBreak */
  const begins = (isBreak) =>
    events
      .filter(({ type, ms }) => type === 'word' && isBreak(ms))
      .map(({ ms, at }) => ({ ms, tokens: tokenAt(tokens, at) }))
      .findLast((found) => found.tokens > 0 && found.ms > 0);
  /** @param {EspeakEvent['type']} wanted */
  const timesOf = (wanted) =>
    new Set(events.filter(({ type }) => type === wanted).map(({ ms }) => ms));
  const sentences = timesOf('sentence');
  const clauses = timesOf('end');
  return begins((ms) => sentences.has(ms)) ?? begins((ms) => clauses.has(ms));
}

/**
 * @param {readonly Word[]} words
 * @param {number} offsetMs
 */
function placed(words, offsetMs) {
  return words.map(({ start, end, startMs, endMs }) => ({
    start,
    end,
    startMs: Math.round(offsetMs + startMs),
    endMs: Math.round(offsetMs + endMs),
  }));
}
