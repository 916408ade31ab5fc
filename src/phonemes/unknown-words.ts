import type { Dictionary } from './dictionary.ts';
import { addS } from './endings.ts';

/** Returns the phonemes of a word that no dictionary has, or an empty text for a word that it cannot read. */
export type ReadUnknown = (word: string) => string;

/**
 * Reads a word that no dictionary has. Digits and signs are named, and a possessive gets its ending by rule. Very long words are
 * read in pieces, so that the time is proportional to their length.
 */
export function readUnknownWord(
  word: string,
  readUnknown: ReadUnknown,
  dictionary: Dictionary,
): string {
  const owner = /^(.+)'s$/su.exec(word)?.[1];
  if (owner !== undefined) {
    const phonemes = readUnknownWord(owner, readUnknown, dictionary);
    return phonemes === '' ? '' : addS(phonemes);
  }
  const sign = SIGNS.get(word);
  if (sign !== undefined) return dictionary(sign)?.phonemes ?? '';
  if (/^\p{N}/u.test(word)) return nameDigits(word, dictionary);
  return (word.match(LETTERS_AT_ONCE) ?? []).map(readUnknown).join('');
}

/**
 * Reads a word with accents as the dictionary reads it without them, such as `naïve`. A last `é` is spoken: `café` is
 * `cafe`, but `rosé` is not `rose`.
 */
export function readWithoutAccents(word: string, dictionary: Dictionary): string | undefined {
  const plain = word.normalize('NFD').replaceAll(/\p{M}/gu, '');
  if (plain === word.normalize('NFD')) return undefined;
  if (/^r[ée]sum[ée]s?$/i.test(word)) return /s$/i.test(word) ? addS(RESUME) : RESUME;
  const ending = /(?:'s|s)$/.exec(plain)?.[0] ?? '';
  const whole = dictionary(plain)?.phonemes;
  const stem = dictionary(plain.slice(0, plain.length - ending.length))?.phonemes;
  const phonemes = whole ?? (stem === undefined ? undefined : addS(stem));
  const isSpoken = /A(?:z|)$/.test(phonemes ?? '');
  return isSpoken || !/éé?(?:'?s)?$/i.test(word.normalize('NFC')) ? phonemes : undefined;
}

const RESUME = 'ɹˈɛzəmˌA';

// The network was trained with words of at most 24 letters.
const LETTERS_AT_ONCE = /.{1,24}/gsu;
const SIGNS = new Map([
  ['&', 'and'],
  ['+', 'plus'],
  ['%', 'percent'],
  ['@', 'at'],
]);
const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

function nameDigits(digits: string, dictionary: Dictionary): string {
  const names = digits
    .split('')
    .map((digit) => dictionary(DIGITS[Number(digit)] ?? '')?.phonemes ?? '');
  return names.filter((name) => name !== '').join(' ');
}
