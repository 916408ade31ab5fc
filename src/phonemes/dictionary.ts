import { openSortedLines } from './sorted-lines.ts';

/** How a word of the dictionary sounds. */
export interface DictionaryEntry {
  /** Phonemes, or undefined if the names of its letters are read. */
  readonly phonemes: string | undefined;
  /** Other phonemes by part of speech (`VERB`, `NN`), or before a pause (`PAUSE`). */
  readonly byTag: ReadonlyMap<string, string | undefined>;
  /** Whether the entry is in the first dictionary, which people have checked. */
  readonly isChecked: boolean;
}

/** Returns the entry of a word, or undefined if the dictionary does not have it. */
export type Dictionary = (word: string) => DictionaryEntry | undefined;

/**
 * Opens the dictionary. A word with a capital and the same word without it stand for each other: the dictionary has
 * `paris` only as `Paris`, and `Read` only as `read`.
 * @param file words.txt of assets/voice
 */
export function openDictionary(file: string | URL): Dictionary {
  const find = openSortedLines(file);
  return (word) => {
    if (word.length > LONGEST_WORD) return undefined;
    const line = find(word);
    const entry = line === undefined ? undefined : readEntry(line);
    if (entry?.isChecked === true) return entry;
    const other = otherCase(word);
    const otherLine = other === undefined ? undefined : find(other);
    const otherEntry = otherLine === undefined ? undefined : readEntry(otherLine);
    return otherEntry?.isChecked === true ? otherEntry : (entry ?? otherEntry);
  };
}

/** Longer words are in no dictionary. */
export const LONGEST_WORD = 60;

function otherCase(word: string): string | undefined {
  if (word.length < 2) return undefined;
  const lower = word.toLowerCase();
  const capitalized = lower.slice(0, 1).toUpperCase() + lower.slice(1);
  if (word === lower) return capitalized;
  return word === capitalized ? lower : undefined;
}

function readEntry(line: string): DictionaryEntry {
  const isChecked = !line.startsWith('~');
  const [first = '', ...others] = (isChecked ? line : line.slice(1)).split('\t');
  const byTag = others.map((field): [string, string | undefined] => {
    const at = field.indexOf(' ');
    return [field.slice(0, at), phonemesOf(field.slice(at + 1))];
  });
  return { phonemes: phonemesOf(first), byTag: new Map(byTag), isChecked };
}

function phonemesOf(field: string): string | undefined {
  return field === '*' ? undefined : field;
}
