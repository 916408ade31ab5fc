import type { Dictionary } from './dictionary.ts';
import { LONGEST_WORD } from './dictionary.ts';
import { addS } from './endings.ts';
import type { Following } from './function-words.ts';
import { isVerbBetween, senseOf } from './homographs.ts';
import type { LetterPlace } from './initials.ts';
import { isNameOfA } from './initials.ts';
import type { Piece } from './pieces.ts';
import { pronounce } from './pronounce.ts';
import { isVowel, joinLetters, stressCompound, weaken } from './stress.ts';
import type { TaggerToken } from './tokenize.ts';
import type { ReadUnknown } from './unknown-words.ts';
import { readUnknownWord, readWithoutAccents } from './unknown-words.ts';

/** What the words of a sentence are read with. */
export interface Sentence {
  readonly text: string;
  readonly tokens: readonly TaggerToken[];
  /** Returns the part of speech of a token. */
  readonly tagOf: (token: number) => string;
  readonly dictionary: Dictionary;
  readonly readUnknown: ReadUnknown;
  /** The tokens that are letters of an abbreviation. */
  readonly spelled: ReadonlyMap<number, LetterPlace>;
}

/** A range of the text, and its phonemes. */
export interface CompoundSound {
  readonly start: number;
  readonly end: number;
  readonly phonemes: string;
  /** Whether no space follows, as after the first letters of an abbreviation. */
  readonly joinsNext?: boolean;
}

/**
 * Reads pieces that no space separates, such as `don't`, `well-known` or `and/or`, from right to left: the longest end
 * that the dictionary knows, and then what is before it. The parts become one word if all of them are known.
 * @returns the words, with a space between two of them; none for pieces without letters, digits or signs
 */
export function readCompound(
  pieces: readonly Piece[],
  following: Following,
  sentence: Sentence,
): readonly CompoundSound[] {
  const [only, ...others] = pieces;
  const letter = only === undefined ? undefined : sentence.spelled.get(only.token);
  if (only !== undefined && letter !== undefined && others.length === 0) {
    return [readSpelled(only, letter, sentence.dictionary)];
  }
  const parts: Part[] = [];
  let next = following;
  let right = pieces.length;
  while (right > 0) {
    const part =
      longestKnown(pieces, right, next, sentence) ?? readPiece(pieces, right - 1, sentence);
    if (part !== undefined) parts.push(part);
    next = followingOf(part?.phonemes ?? '', next);
    right = part?.left ?? right - 1;
  }
  parts.reverse();
  const [first] = parts;
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return [];
  if (parts.length > 1 && (isMixed(pieces) || parts.some(({ isKnown }) => !isKnown))) return parts;
  // The range includes apostrophes around the word.
  const start = pieces[0]?.start ?? first.start;
  return [{ start, end: last.end, phonemes: stressCompound(parts).join('') }];
}

/** Reads a letter so that the whole abbreviation sounds as if it were written without spaces. */
function readSpelled(
  { start, end, text }: Piece,
  place: LetterPlace,
  dictionary: Dictionary,
): CompoundSound {
  const name = joinLetters([dictionary(text.slice(0, 1))?.phonemes ?? '']);
  const phonemes = place === 'last' ? name : weaken(name);
  const joinsNext = place === 'inside';
  return { start, end, phonemes: text.length > 1 ? addS(phonemes) : phonemes, joinsNext };
}

/** Returns what the word before these phonemes is followed by. */
export function followingOf(phonemes: string, otherwise: Following): Following {
  for (const sound of phonemes) {
    if (';:,.!?—…'.includes(sound)) return 'pause';
    if (isVowel(sound)) return 'vowel';
    if (CONSONANTS.includes(sound)) return 'consonant';
  }
  return otherwise;
}

const CONSONANTS = 'bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθT';
// No compound of the dictionary has more parts, the signs between them included.
const MOST_PIECES = 9;

interface Part extends CompoundSound {
  readonly text: string;
  /** Index of the first piece. */
  readonly left: number;
  readonly isKnown: boolean;
}

/** Returns the longest part that ends before the piece `right` and has a known pronunciation. */
function longestKnown(
  pieces: readonly Piece[],
  right: number,
  following: Following,
  { text, tokens, tagOf, dictionary }: Sentence,
): Part | undefined {
  const last = pieces[right - 1];
  if (last === undefined) return undefined;
  for (let left = Math.max(0, right - MOST_PIECES); left < right; left += 1) {
    const first = pieces[left];
    if (first === undefined || last.end - first.start > LONGEST_WORD) continue;
    if (left === right - 1 && first.kind === 'joiner') continue;
    const word = text.slice(first.start, last.end).replaceAll(/[’‘]/g, "'").normalize('NFKC');
    // No word of the dictionary has a digit.
    if (left < right - 1 && /\p{N}/u.test(word)) continue;
    const isBeforeTo = /^to$/i.test(tokens[last.token + 1]?.text ?? '');
    const token = heaviestToken(pieces.slice(left, right));
    const isToken = word.length === tokens[token]?.text.length;
    const sense = isToken ? senseOf(tokens, token) : undefined;
    const tag = () => sense?.tag ?? tagInSentence(tokens, token, tagOf);
    const place = { following, isBeforeTo, isNameOfA: isNameOfA(tokens, token), tag };
    const phonemes = sense?.phonemes ?? pronounce(word, place, dictionary);
    if (phonemes === undefined) continue;
    return { start: first.start, end: last.end, text: word, phonemes, left, isKnown: true };
  }
  return undefined;
}

/** Returns the part of speech by the tagger, corrected where it takes a verb for a noun. */
function tagInSentence(
  tokens: readonly TaggerToken[],
  token: number,
  tagOf: Sentence['tagOf'],
): string {
  const tag = tagOf(token);
  return /^NNP?$/.test(tag) && isVerbBetween(tokens, token, tagOf) ? 'VBP' : tag;
}

/** Reads a word that no dictionary has. Returns undefined for a sign inside of words. */
function readPiece(
  pieces: readonly Piece[],
  left: number,
  { readUnknown, dictionary }: Sentence,
): Part | undefined {
  const piece = pieces[left];
  if (piece === undefined || piece.kind !== 'word') return undefined;
  const { start, end, text } = piece;
  const phonemes =
    readWithoutAccents(text, dictionary) ?? readUnknownWord(text, readUnknown, dictionary);
  return { start, end, text, phonemes, left, isKnown: false };
}

/** Returns the token whose part of speech counts: the longest one, where a capital counts twice. */
function heaviestToken(pieces: readonly Piece[]): number {
  let [token, most] = [0, 0];
  for (const piece of pieces) {
    const weight = piece.text.length + piece.text.replaceAll(/[^\p{Lu}]/gu, '').length;
    if (weight > most) [token, most] = [piece.token, weight];
  }
  return token;
}

/** Returns whether the pieces mix letters, digits and signs, or have a slash: `R&D`, `MP3`, `and/or`. */
function isMixed(pieces: readonly Piece[]): boolean {
  const words = pieces.filter(({ kind }) => kind === 'word');
  const kinds = words.map(({ text }) => (/^\p{L}/u.test(text) ? 0 : /^\p{N}/u.test(text) ? 1 : 2));
  return new Set(kinds).size > 1 || pieces.some(({ text }) => text === '/');
}
