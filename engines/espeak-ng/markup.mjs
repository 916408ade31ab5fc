// A text as espeak-ng is to be given it: data, never commands.

/** What espeak-ng would obey: SSML, and characters that begin its own embedded commands. */
const ESCAPES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/** Control characters but for tab and line feed, and halves of surrogate pairs. */
const UNSPOKEN = /^(?:[^\P{Cc}\t\n]|\p{Cs})$/u;

/** espeak-ng says "Chinese letter" for each of these, in every language but their own. */
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u;

/**
 * Characters that a language has no sound for are left out.
 * @param {readonly string[]} characters code points of the text
 * @param {string} language
 */
export function speakable(characters, language) {
  const isEastAsian = /^(?:zh|ja)\b/.test(language);
  return characters.map((character) =>
    UNSPOKEN.test(character) || (!isEastAsian && EAST_ASIAN.test(character)) ? ' ' : character,
  );
}

/**
 * A stretch of the text, escaped, and for each code point of the result the index of the character
 * that it comes from.
 * @param {readonly string[]} characters
 * @returns {{ text: string, sources: number[] }}
 */
export function escape(characters, start, end) {
  const sources = [];
  let text = '';
  for (let at = start; at < end; at += 1) {
    const escaped = escapeAt(characters, at);
    for (const _ of escaped) sources.push(at);
    text += escaped;
  }
  return { text, sources };
}

/** `[[` would begin phonemes. */
function escapeAt(characters, at) {
  const character = characters[at];
  if (character === '[' && characters[at + 1] === '[') return '[ ';
  return ESCAPES.get(character) ?? character;
}
