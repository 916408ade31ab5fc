import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { followingOf, readCompound, type Sentence, type Sound } from './compounds.ts';
import { openDictionary } from './dictionary.ts';
import type { Following } from './function-words.ts';
import { spelledLetters } from './initials.ts';
import { markOf, type Piece, splitPieces } from './pieces.ts';
import { openSortedLines } from './sorted-lines.ts';
import { openTagger, type Tagger } from './tagger.ts';
import { type Token, tokenize } from './tokenize.ts';
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
   */
  readonly phonemes: (text: string) => readonly PhonemeToken[];
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
    phonemes: (text) => {
      const tokens = tokenize(text, contractions);
      const tagOf = openTags(tokens, tagWords);
      const spelled = spelledLetters(tokens);
      return readSentence({ text, tokens, tagOf, dictionary, readUnknown, spelled });
    },
  };
}

/** Returns a function that tags the whole sentence when it is first called. */
function openTags(tokens: readonly Token[], tagWords: Tagger): Sentence['tagOf'] {
  let tags: readonly string[] | undefined;
  return (token) => {
    tags ??= tagWords(wordsToTag(tokens));
    return tags[token] ?? 'NN';
  };
}

/** Returns the words of a sentence. In a sentence in capitals, every word would look like a name. */
function wordsToTag(tokens: readonly Token[]): readonly string[] {
  const words = tokens.map(({ text }) => text);
  const isShouted = words.length > 2 && !words.some((word) => /\p{Ll}/u.test(word));
  return isShouted ? words.map((word) => word.toLowerCase()) : words;
}

/** Reads a sentence from right to left, because the sound of "the" depends on the next word. */
function readSentence(sentence: Sentence): readonly PhonemeToken[] {
  const { text, tokens } = sentence;
  const sounds: Sound[] = [];
  let following: Following = 'pause';
  for (const unit of unitsOf(splitPieces(tokens, text)).toReversed()) {
    const read = unit.some(isInWord)
      ? readCompound(unit, following, sentence)
      : readMark(unit, text);
    for (const sound of read.toReversed()) sounds.push(sound);
    const [first] = read;
    following = followingOf(first?.phonemes ?? '', following);
  }
  return spaced(sounds.reverse(), text);
}

/** Groups the pieces of words that no space separates. A mark is a group of its own. */
function unitsOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const units: Piece[][] = [];
  for (const piece of pieces) {
    const unit = units.at(-1);
    const previous = unit?.at(-1);
    const joins = isInWord(piece) && previous?.end === piece.start && isInWord(previous);
    if (joins) unit?.push(piece);
    else units.push([piece]);
  }
  return units;
}

function isInWord({ kind }: Piece): boolean {
  return kind === 'word' || kind === 'joiner';
}

function readMark(unit: readonly Piece[], text: string): readonly Sound[] {
  return unit.map((piece) => {
    const phonemes = piece.kind === 'mark' ? markOf(piece, text) : '';
    return { start: piece.start, end: piece.end, phonemes };
  });
}

/** Adds where spaces are. A space beside something without sound belongs to the sound before it. */
function spaced(sounds: readonly Sound[], text: string): readonly PhonemeToken[] {
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

function isSpaceBetween(one: Sound, other: Sound, text: string): boolean {
  if (one.joinsNext === true) return false;
  // "Word ." is read as "word.".
  if (/^[;:,.!?)”]$/.test(other.phonemes)) return false;
  return /\s/u.test(text.slice(one.end, other.start)) || !(isMark(one) || isMark(other));
}

function isMark({ phonemes }: Sound): boolean {
  return /^[;:,.!?—…()“”]+$/.test(phonemes);
}
