// Converts text to phonemes with espeak-ng (GPL-3.0-or-later), in the process of the engine only.

import { loadEspeak, MAX_MARKUP_BYTES } from './espeak.mjs';

const VARIANT = 'language variant\nname foley\n';

/** Characters that espeak-ng would read as markup, as a command or as a part of a character. */
const UNREAD = /^[<>&[\]\p{Cc}\p{Cs}]$/u;

/** Characters between words, not spoken. */
const OUTER = '[\\s;:,.!?¡¿।…—–"\'«»“”‘’(){}\\[\\]-]';
const WORD = new RegExp(`(?!${OUTER})\\S+?(?=${OUTER}*(?:\\s|$))`, 'gu');

/**
 * @typedef {import('../../src/contract/unspoken.ts').CodePointRange} Range
 * @typedef {{ ranges: Range[], phonemes: string[], gap: string }} Spoken
 * One word, or several that are spoken as one ("of the"). `phonemes`: IPA with stress marks, one entry
 * for each sound; `gap`: the text between this word and the previous one.
 * @typedef {(text: string, voice: string) => { spoken: Spoken[], gap: string }} Phonemize
 * `voice` is a language of espeak-ng, such as `en-us`; `gap` is the text after the last word.
 */

/**
 * Loads espeak-ng. The same text always gives the same phonemes.
 * @returns {Promise<Phonemize>}
 */
export async function loadPhonemes() {
  const espeak = await loadEspeak();
  return (text, voice) => {
    const characters = Array.from(text);
    const spoken = characters.map((one) => (UNREAD.test(one) ? ' ' : one)).join('');
    if (Buffer.byteLength(spoken) > MAX_MARKUP_BYTES) throw new Error('The sentence is too long');
    const { events } = espeak.speak({ text: spoken, voice, variant: VARIANT, speed: 1 });
    return spokenWords(events, characters);
  };
}

/**
 * @param {readonly import('./espeak.mjs').EspeakEvent[]} events
 * @param {string[]} characters
 */
function spokenWords(events, characters) {
  const words = wordsIn(characters);
  const phonemes = words.map(() => /** @type {string[]} */ ([]));
  let current = 0;
  for (const { type, text_position: position, id } of events) {
    if (type === 'word') {
      // espeak-ng sometimes gives the position of the space before the word.
      const found = words.findIndex(({ end }) => end > position - 1);
      current = Math.max(current, found);
    } else if (type === 'phoneme' && id !== '') phonemes[current]?.push(id);
  }
  /** @type {Spoken[]} */
  const spoken = [];
  let last = 0;
  for (const [index, range] of words.entries()) {
    const own = phonemes[index] ?? [];
    if (own.length > 0) {
      const gap = characters.slice(last, range.start).join('');
      spoken.push({ ranges: [range], phonemes: own, gap });
    } else spoken.at(-1)?.ranges.push(range);
    if (spoken.length > 0) last = range.end;
  }
  return { spoken, gap: characters.slice(last).join('') };
}

/**
 * Returns the ranges of the words in a text.
 * @param {string[]} characters the code points of the text
 * @returns {Range[]}
 */
export function wordsIn(characters) {
  // Surrogate pairs become one character, so that the indexes of the match count code points.
  const flat = characters.map((one) => (one.length > 1 ? 'x' : one)).join('');
  return Array.from(flat.matchAll(WORD), ({ index, 0: word }) => ({
    start: index,
    end: index + word.length,
  }));
}
