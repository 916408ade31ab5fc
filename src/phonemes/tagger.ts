import type { Lookup } from './sorted-lines.ts';
import { openSortedLines } from './sorted-lines.ts';

/** Returns the part of speech of each word of a sentence (tags of the Penn Treebank, such as `NN` or `VBD`). */
export type Tagger = (words: readonly string[]) => readonly string[];

/**
 * Opens the tagger: an averaged perceptron (Collins, 2002). Every feature of a word, such as its ending or the tag before
 * it, adds weights to the tags, and the highest sum wins. The words are tagged from left to right.
 * @param file tagger.txt of assets/voice
 */
export function openTagger(file: string | URL): Tagger {
  const find = openSortedLines(file);
  const tags = (find('tags') ?? '').split(' ');
  return (words) => {
    const context = ['-START2-', '-START-', ...words.map((word) => knownForm(word, find))];
    context.push('-END-', '-END2-');
    let [last, beforeLast] = ['-START-', '-START2-'];
    return words.map((word, at) => {
      const only = find(`d:${word}`);
      const features = featuresOf(at, word, context, last, beforeLast);
      const letter = only ?? heaviest(features, find);
      const tag = tags[letterIndex(letter.codePointAt(0) ?? 0)] ?? 'NN';
      [last, beforeLast] = [tag, last];
      return tag;
    });
  };
}

function featuresOf(
  at: number,
  word: string,
  context: readonly string[],
  last: string,
  beforeLast: string,
): readonly string[] {
  // The context has two entries before the first word.
  const [two = '', one = '', own = '', next = '', afterNext = ''] = context.slice(at, at + 5);
  return [
    'b',
    `s3=${word.slice(-3)}`,
    `p1=${word.slice(0, 1)}`,
    `w=${own}`,
    `sh=${shapeOf(word)}`,
    at === 0 ? 'i0' : 'i+',
    `t-1=${last}`,
    `t-2=${beforeLast}`,
    `t-12=${last},${beforeLast}`,
    `w-1=${one}`,
    `s3-1=${one.slice(-3)}`,
    `w-2=${two}`,
    `w+1=${next}`,
    `s3+1=${next.slice(-3)}`,
    `w+2=${afterNext}`,
  ];
}

/** Returns the letter of the tag with the most weight. Weights are written as a letter and a number: `B-12C3`. */
function heaviest(features: readonly string[], find: Lookup): string {
  const sums = new Map<string, number>();
  for (const feature of features) {
    const weights = find(feature) ?? '';
    for (let at = 0; at < weights.length;) {
      const start = at + 1;
      at = start + 1;
      while (at < weights.length && weights.charCodeAt(at) < FIRST_LETTER) at += 1;
      const letter = weights.charAt(start - 1);
      sums.set(letter, (sums.get(letter) ?? 0) + Number(weights.slice(start, at)));
    }
  }
  let best = '';
  for (const [letter, sum] of sums) if (sum > (sums.get(best) ?? -Infinity)) best = letter;
  return best;
}

const FIRST_LETTER = 65;

function letterIndex(code: number): number {
  return code >= 97 ? code - 97 + 26 : code - FIRST_LETTER;
}

/** Returns the form in which the tagger knows a word; unknown words become their shape. */
function knownForm(word: string, find: Lookup): string {
  if (word.length > 1 && word.includes('-') && !word.startsWith('-')) return '!HYPHEN';
  if (/^\d{4}$/.test(word)) return '!YEAR';
  if (/^\d/.test(word)) return '!DIGITS';
  const lower = word.toLowerCase();
  return find(`v:${lower}`) === undefined ? `<${shapeOf(word)}>` : lower;
}

/** Returns the shape of a word: `x` for lower case, `Xx` with a capital, `XX` in capitals, and marks of the others. */
function shapeOf(word: string): string {
  if (/^\d+$/.test(word)) return 'd';
  if (/^\p{L}+$/u.test(word)) {
    const lower = word.toLowerCase();
    if (word === lower) return 'x';
    if (word === word.toUpperCase()) return word.length === 1 ? 'X1' : 'XX';
    return word === word.slice(0, 1) + lower.slice(1) ? 'Xx' : 'xX';
  }
  return word.slice(0, 4).replaceAll(/\d/g, 'd').replaceAll(/\p{L}/gu, 'x');
}
