import type { TracedText } from '../traced-text.ts';

/**
 * Joins the letters that a reading spells, so that engines speak their names: `A P I` → `A.P.I`, `I Ds` → `I-D's`.
 * espeak-ng, which Piper and British voices of Kokoro use too, says a separate `A` as the article, and the plural `Os` as `O S`.
 */
export function joinLetters(spoken: string): string {
  return spoken
    .replaceAll(SPELLED, (_match, spelled: string, ending: string | undefined) => {
      const letters = spelled.split(' ');
      if (ending === undefined) return letters.join('.');
      // With dots, espeak-ng says `dot` in two letters that have an ending.
      return `${letters.join(letters.length === 2 ? '-' : '.')}'s`;
    })
    .replaceAll(PLURAL, "$1's")
    .replaceAll(LETTER_A, 'A-');
}

/**
 * Marks the letter A and plurals of letters that are written as such, so that espeak-ng does not say the article or two
 * letters: `vitamin A is` → `vitamin A- is`, `three Bs` → `three B's`.
 */
export function markLetters(text: TracedText): TracedText {
  return text
    .replace(NAME_OF_A, () => 'A-')
    .replace(PLURALS, (_match, letter = '', a = '') => `${letter}${a}'s`);
}

// The article has a capital only at the beginning of a sentence and in titles. Before a pause, espeak-ng says the letter.
const NAME_OF_A = new RegExp(
  [
    String.raw`(?<![\w'\u2019.-])A(?= (?:and|or|to|is|was|has|as|in)(?![\p{L}-]))`,
    String.raw`(?<=(?<!\p{L})\p{Ll}[\p{L}'\u2019]{0,30} )A(?= (?!\p{Lu}\p{Ll}))`,
    String.raw`(?<=(?<!\p{L})\p{Lu}[\p{L}'\u2019]{0,30} )A(?= [^\p{Lu}\s])`,
  ].join('|'),
  'gu',
);
// Not `As`, `Is` and `Us`, which are words, except after a number.
const PLURALS =
  /(?<![\w'’.-])(?:([B-HJ-TV-Z])s|(?<=(?:two|three|four|five|six|seven|eight|nine|ten|straight) )(A)s)(?![\w'’-])/g;

const SPELLED = /(?<![\w'’.-])([A-Z](?: [A-Z])+)(['’]?s)?(?![\w'’])/g;
// One letter, as in the reading of `MP3s and Cs`.
const PLURAL = /(?<![\w'’.-])([A-Z])s(?![\w'’])/g;
// A letter before a number or a word, as in the reading of `A4`.
const LETTER_A = /(?<![\w'’.-])A (?=[a-z])/g;
