import type { Dictionary, DictionaryEntry } from './dictionary.ts';
import { endingsOf } from './endings.ts';
import type { WordContext } from './function-words.ts';
import { readFunctionWord } from './function-words.ts';
import { hasMainStress, joinLetters, stressLightly, stressStrongly } from './stress.ts';

/**
 * Returns the phonemes of a word at its place in a sentence, or undefined if neither the dictionary nor the rules know it.
 * The rules add endings to known words, read abbreviations as letters, and choose between pronunciations.
 */
export function pronounce(
  word: string,
  place: WordContext,
  dictionary: Dictionary,
): string | undefined {
  if (isDotted(word)) return readLetters(word, dictionary);
  const functionWord = readFunctionWord(word, place);
  if (functionWord !== undefined) return functionWord;
  const plain = plainCase(word, dictionary);
  const phonemes = readWord(plain, place, dictionary);
  if (phonemes === undefined || word === word.toLowerCase()) return phonemes;
  if (word !== word.toUpperCase()) return stressLightly(phonemes);
  const isCommon = dictionary(plain)?.isChecked !== false && hasMainStress(phonemes);
  // Capitals are the letters of a name (`CIA`) or a word that is written in capitals (`GREAT`).
  const isName = plain !== word && !isCommon && place.tag() === 'NNP';
  return isName ? readLetters(word, dictionary) : stressStrongly(phonemes);
}

const LONGEST_INITIALS = 5;

/** Returns whether a word is an abbreviation of letters with full stops, such as `U.S.` or `Ph.D.`. */
function isDotted(word: string): boolean {
  return /^\p{L}{1,2}(?:\.\p{L}{1,2})+\.?$/u.test(word);
}

/** Writes a word that begins with a capital or is in capitals in lower case, if the dictionary has it only so. */
function plainCase(word: string, dictionary: Dictionary): string {
  const lower = word.toLowerCase();
  const isPlain = word === word.toUpperCase() || word.slice(1) === lower.slice(1);
  if (word.length < 2 || word === lower || !isPlain) return word;
  if (!/^[\p{L}']+$/u.test(word) || dictionary(word) !== undefined) return word;
  const isKnown =
    dictionary(lower) !== undefined ||
    endingsOf(lower).some(({ stem }) => dictionary(stem) !== undefined);
  return isKnown ? lower : word;
}

function readWord(word: string, place: WordContext, dictionary: Dictionary): string | undefined {
  const known = readKnown(word, place, dictionary);
  if (known !== undefined) return known;
  if (word.endsWith("'")) {
    const owner = word.endsWith("s'")
      ? readKnown(`${word.slice(0, -2)}'s`, place, dictionary)
      : undefined;
    const plural = owner ?? readKnown(word.slice(0, -1), place, dictionary);
    if (plural !== undefined) return plural;
  }
  for (const { stem, addSound } of endingsOf(word)) {
    const phonemes = readKnown(stem, place, dictionary);
    if (phonemes !== undefined) return addSound(phonemes);
  }
  return undefined;
}

/** Reads a word that the dictionary has, or the letters of an abbreviation in capitals. */
function readKnown(word: string, place: WordContext, dictionary: Dictionary): string | undefined {
  const entry = dictionary(word);
  if (entry !== undefined) return choose(entry, place) ?? readLetters(word, dictionary);
  return isInitials(word) ? readLetters(word, dictionary) : undefined;
}

function isInitials(word: string): boolean {
  if (!/^\p{Lu}+$/u.test(word)) return false;
  return word.length <= LONGEST_INITIALS || !/[AEIOUY]/.test(word);
}

function readLetters(word: string, dictionary: Dictionary): string | undefined {
  const letters = (word.match(/\p{L}/gu) ?? []).map((letter) => {
    return dictionary(letter.toUpperCase())?.phonemes;
  });
  const known = letters.filter((letter) => letter !== undefined);
  return known.length === letters.length ? joinLetters(known) : undefined;
}

/** Chooses the pronunciation of an entry. Undefined stands for the names of its letters. */
function choose(
  { phonemes, byTag }: DictionaryEntry,
  { following, tag }: WordContext,
): string | undefined {
  if (byTag.size === 0) return phonemes;
  if (following === 'pause' && byTag.has('PAUSE')) return byTag.get('PAUSE');
  if (byTag.size === 1 && byTag.has('PAUSE')) return phonemes;
  const found = tag();
  for (const name of [found, FAMILIES.find(([start]) => found.startsWith(start))?.[1] ?? '']) {
    if (byTag.has(name)) return byTag.get(name);
  }
  return phonemes;
}

/** How the tags of a family begin, and what the dictionary calls it. */
const FAMILIES: readonly (readonly [string, string])[] = [
  ['VB', 'VERB'],
  ['NN', 'NOUN'],
  ['RB', 'ADV'],
  ['JJ', 'ADJ'],
];
