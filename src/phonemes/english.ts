import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sentence, CompoundSound } from './compounds.ts';
import { followingOf, readCompound } from './compounds.ts';
import { openDictionary } from './dictionary.ts';
import { addS } from './endings.ts';
import type { Following } from './function-words.ts';
import { spelledLetters } from './initials.ts';
import { fromIpa } from './ipa.ts';
import type { Piece } from './pieces.ts';
import { markOf, splitPieces } from './pieces.ts';
import { openSortedLines } from './sorted-lines.ts';
import type { Tagger } from './tagger.ts';
import { openTagger } from './tagger.ts';
import type { TaggerToken } from './tokenize.ts';
import { tokenize } from './tokenize.ts';
import type { ReadUnknown } from './unknown-words.ts';

/** A word or mark of a text and its sound. */
export interface PhonemeToken {
  /** Range in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Phonemes in Kokoro's alphabet. Empty if nothing can be said for the range. */
  readonly phonemes: string;
  readonly hasSpaceAfter: boolean;
}

/** Reads English texts of plain words and punctuation, as `readEnglish` of `src/text/reading` writes them. */
export interface English {
  /**
   * Returns the words and marks of a text in order. A sentence at a time gives the best result.
   * The time is proportional to the length of the text.
   * @param given words and phrases that have phonemes, in order
   */
  readonly phonemes: (text: string, given?: readonly GivenSound[]) => readonly PhonemeToken[];
}

/** A word or phrase of a text, as a range in UTF-16 units, and its phonemes in IPA. */
export interface GivenSound {
  readonly start: number;
  readonly end: number;
  readonly phonemes: string;
}

/**
 * Opens the dictionary. The tagger is opened when a sentence first needs it.
 * @param folder assets/voice
 * @param readUnknown reads words that no dictionary has
 * @param dictionaryName name of the dictionary in the folder
 */
export function openEnglish(
  folder: string | URL,
  readUnknown: ReadUnknown,
  dictionaryName = 'words.txt',
): English {
  const files = typeof folder === 'string' ? folder : fileURLToPath(folder);
  const dictionary = openDictionary(path.join(files, dictionaryName));
  const contractions = openSortedLines(path.join(files, 'contractions.txt'));
  let tagger: Tagger | undefined;
  const tagWords: Tagger = (words) => {
    tagger ??= openTagger(path.join(files, 'tagger.txt'));
    return tagger(words);
  };
  return {
    phonemes: (text, given = []) => {
      const tokens = tokenize(text, contractions);
      const tagOf = openTags(tokens, tagWords);
      const spelled = spelledLetters(tokens);
      return readSentence({ text, tokens, tagOf, dictionary, readUnknown, spelled }, given);
    },
  };
}

/** Returns a function that tags the whole sentence when it is first called. */
function openTags(tokens: readonly TaggerToken[], tagWords: Tagger): Sentence['tagOf'] {
  let tags: readonly string[] | undefined;
  return (token) => {
    tags ??= tagWords(wordsToTag(tokens));
    return tags[token] ?? 'NN';
  };
}

/** Returns the words of a sentence. In a sentence in capitals, every word would look like a name. */
function wordsToTag(tokens: readonly TaggerToken[]): readonly string[] {
  const words = tokens.map(({ text }) => text);
  const isShouted = words.length > 2 && !words.some((word) => /\p{Ll}/u.test(word));
  return isShouted ? words.map((word) => word.toLowerCase()) : words;
}

/** Reads a sentence from right to left, because the sound of "the" depends on the next word. */
function readSentence(sentence: Sentence, given: readonly GivenSound[]): readonly PhonemeToken[] {
  const { text, tokens } = sentence;
  const pieces = withGiven(splitPieces(tokens, text), given);
  const sounds: CompoundSound[] = [];
  let following: Following = 'pause';
  for (const unit of unitsOf(pieces).toReversed()) {
    const read = unit.some(isInWord)
      ? (readGiven(unit) ?? readCompound(unit, following, sentence))
      : readMark(unit, text);
    for (const sound of read.toReversed()) sounds.push(sound);
    const [first] = read;
    following = followingOf(first?.phonemes ?? '', following);
  }
  return spaced(sounds.reverse(), text);
}

/** Replaces the pieces of each word that has given phonemes by one piece. A possessive stays at its word. */
function withGiven(pieces: readonly Piece[], given: readonly GivenSound[]): readonly Piece[] {
  if (given.length === 0) return pieces;
  const edges = new Set(given.flatMap(({ end, start }) => [start, end]));
  const found: Piece[] = [];
  let next = 0;
  for (const piece of pieces.flatMap((whole) => cutAt(whole, edges))) {
    while ((given[next]?.end ?? Infinity) <= piece.start) next += 1;
    const sound = given[next];
    const last = found.at(-1);
    if (sound !== undefined && piece.start >= sound.start) {
      const isFirst = last?.given === undefined || last.start < sound.start;
      if (isFirst) found.push({ ...piece, kind: 'word', given: fromIpa(sound.phonemes) });
      else found[found.length - 1] = { ...last, end: piece.end };
    } else if (last?.given !== undefined && last.end === piece.start && /^'s$/i.test(piece.text)) {
      found[found.length - 1] = { ...last, end: piece.end, given: addS(last.given) };
    } else found.push(piece);
  }
  return found;
}

function cutAt(piece: Piece, edges: ReadonlySet<number>): readonly Piece[] {
  const parts: Piece[] = [];
  for (let start = piece.start, end = start + 1; start < piece.end; end += 1) {
    if (end < piece.end && !edges.has(end)) continue;
    const text = piece.text.slice(start - piece.start, end - piece.start);
    const isSign = text !== piece.text && !/[\p{L}\p{N}]/u.test(text);
    parts.push({ ...piece, start, end, text, kind: isSign ? 'joiner' : piece.kind });
    start = end;
  }
  return parts;
}

function readGiven([piece]: readonly Piece[]): readonly CompoundSound[] | undefined {
  if (piece?.given === undefined) return undefined;
  const { end, given: phonemes, start } = piece;
  return [{ start, end, phonemes }];
}

/** Groups the pieces of words that no space separates. A mark is a group of its own. */
function unitsOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const units: Piece[][] = [];
  for (const piece of pieces) {
    const unit = units.at(-1);
    const previous = unit?.at(-1);
    const isGiven = piece.given !== undefined || previous?.given !== undefined;
    const joins =
      !isGiven && isInWord(piece) && previous?.end === piece.start && isInWord(previous);
    if (joins) unit?.push(piece);
    else units.push([piece]);
  }
  return units;
}

function isInWord({ kind }: Piece): boolean {
  return kind === 'word' || kind === 'joiner';
}

function readMark(unit: readonly Piece[], text: string): readonly CompoundSound[] {
  return unit.map((piece) => {
    const phonemes = piece.kind === 'mark' ? markOf(piece, text) : '';
    return { start: piece.start, end: piece.end, phonemes };
  });
}

/** Adds where spaces are. A space beside something without sound belongs to the sound before it. */
function spaced(sounds: readonly CompoundSound[], text: string): readonly PhonemeToken[] {
  const isSpaced = new Set<number>();
  let lastSpoken = -1;
  for (const [at, sound] of sounds.entries()) {
    if (sound.phonemes !== '') lastSpoken = at;
    const next = sounds[at + 1];
    if (next !== undefined && isSpaceBetween(sound, next, text)) isSpaced.add(lastSpoken);
  }
  return sounds.map(({ start, end, phonemes }, at) => {
    return { start, end, phonemes, hasSpaceAfter: isSpaced.has(at) };
  });
}

function isSpaceBetween(one: CompoundSound, other: CompoundSound, text: string): boolean {
  if (one.joinsNext === true) return false;
  // "Word ." is read as "word.".
  if (/^[;:,.!?)”]$/.test(other.phonemes)) return false;
  return /\s/u.test(text.slice(one.end, other.start)) || !(isMark(one) || isMark(other));
}

function isMark({ phonemes }: CompoundSound): boolean {
  return /^[;:,.!?—…()“”]+$/.test(phonemes);
}
