import { TracedText } from './traced-text.ts';

/**
 * A text in the characters that flite says: plain ASCII. Accents are taken off, typographic signs
 * become plain ones, common symbols become words; what is left of other scripts, emoji and control
 * characters becomes space. Markup has no meaning to flite and none here: its words are said. A
 * run of the same sign is said once, and words too long for anyone are cut, as flite takes time
 * quadratic in their length.
 *
 * @returns an empty string where flite would say nothing
 */
export function speakableText(text: string): string {
  return traceSpeakable(text).text;
}

/** The same, with where each of its characters comes from. */
export function traceSpeakable(text: string): TracedText {
  const plain = TracedText.of(text)
    .replace(REPEATED_SIGN, (_run, sign = '') => sign)
    .replace(AMOUNT, (_match, sign = '', amount = '') => `${amount} ${SYMBOLS.get(sign)} `)
    .replace(SYMBOL, (sign = '') => ` ${SYMBOLS.get(sign)} `)
    .replace(INVISIBLE, () => '')
    .replace(QUOTE, () => "'")
    .replace(DOUBLE_QUOTE, () => '"')
    .replace(RANGE_DASH, () => ' to ')
    .replace(DASH, () => ', ')
    .replace(HYPHEN, () => '-')
    .replace(LETTER, (letter = '') => LETTERS.get(letter) ?? letter)
    .replace(NOT_ASCII, (character = '') => character.normalize('NFKD'))
    .replace(MARK, () => '')
    .replace(FRACTION_SLASH, () => '/')
    .replace(NOT_ASCII, () => ' ')
    .replace(SPACE_BEFORE_MARK, (_match, mark = '') => mark)
    .replace(LONG_WORD, (part = '') => `${part} `)
    .replace(WHITE_SPACE, () => ' ')
    .replace(SPACE_AROUND, () => '');
  return isSaid(plain.text) ? plain : TracedText.of('');
}

/** Whether flite makes a sound for a text that is in its characters. */
export function isSaid(text: string): boolean {
  return SAID.test(text);
}

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['€', 'euros'],
  ['£', 'pounds'],
  ['¥', 'yen'],
  ['₹', 'rupees'],
  ['¢', 'cents'],
  ['°', 'degrees'],
  ['×', 'times'],
  ['÷', 'divided by'],
  ['±', 'plus or minus'],
  ['≈', 'about'],
  ['≤', 'at most'],
  ['≥', 'at least'],
  ['§', 'section'],
  ['©', 'copyright'],
  ['®', 'registered'],
  ['™', 'trademark'],
  ['µ', 'micro'],
]);
const REPEATED_SIGN = /([^\p{L}\p{N}\s])\1{3,}/gu;
const SYMBOL = /[€£¥₹¢°×÷±≈≤≥§©®™µ]/g;
const AMOUNT = /([€£¥₹])\s?(\d{1,15}(?:[.,]\d{1,15}){0,5})/g;

/** Letters that have no accent to take off. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['Æ', 'Ae'],
  ['œ', 'oe'],
  ['Œ', 'Oe'],
  ['ø', 'o'],
  ['Ø', 'O'],
  ['ł', 'l'],
  ['Ł', 'L'],
  ['đ', 'd'],
  ['Đ', 'D'],
  ['ð', 'th'],
  ['Ð', 'Th'],
  ['þ', 'th'],
  ['Þ', 'Th'],
  ['ı', 'i'],
  ['ŋ', 'ng'],
  ['ħ', 'h'],
  ['Ħ', 'H'],
]);
const LETTER = /[ßæÆœŒøØłŁđĐðÐþÞıŋħĦ]/g;

/** Signs that hold words together or steer their display; zero-width space is one that parts them. */
const INVISIBLE = /(?!\u200B)\p{Cf}/gu;
const QUOTE = /[‘’‚‛ʼ′`]/g;
const DOUBLE_QUOTE = /[“”„‟«»″]/g;
const RANGE_DASH = /(?<=\d)[–—](?=\d)/g;
const DASH = /\s?(?:[–—―]|--)\s?|\s-\s/g;
const HYPHEN = /[‐‑‒−]/g;
const MARK = /\p{M}/gu;
const NOT_ASCII = /[^ -~]/gu;
const FRACTION_SLASH = /\u2044/g;
const SPACE_BEFORE_MARK = / +([,;:!?])/g;
const LONG_WORD = /[^ ]{60}(?=[^ ])/g;
const WHITE_SPACE = / +/g;
const SPACE_AROUND = /^ +| +$/g;

/** The characters that flite makes a sound for. */
const SAID = /[A-Za-z0-9#$%&*+/=@\\^_|~]/;
