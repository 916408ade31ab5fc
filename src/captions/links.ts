import { lettersOf } from './letters.ts';
import { matchLetters } from './match-letters.ts';

/** That a token, or a part of it, is said by a word, or a part of it. */
export interface Link {
  readonly token: number;
  readonly word: number;
  /** Which part of the word it is, from 0 to 1. */
  readonly from: number;
  readonly to: number;
}

/**
 * Which words of a service say which tokens of the text, in the order of both. Letters are
 * compared, so that either side may cut or join words as it likes; what shares less than half of
 * its letters with the other side is taken for another word.
 */
export function linkWords(tokens: readonly string[], words: readonly string[]): Link[] {
  const text = lettersOf(tokens);
  const spoken = lettersOf(words);
  const pairs: Pair[] = [];
  const offsets = offsetsInOwner(spoken.owners);
  matchLetters({ left: text.codes, right: spoken.codes }, (left, right) => {
    const token = text.owners[left] ?? 0;
    const word = spoken.owners[right] ?? 0;
    const offset = offsets[right] ?? 0;
    const last = pairs.at(-1);
    if (last?.token !== token || last.word !== word) {
      pairs.push({ token, word, letters: 1, first: offset, last: offset });
    } else {
      last.letters += 1;
      last.last = offset;
    }
  });
  return solid(pairs, text.counts, spoken.counts).map(({ token, word, first, last }) => {
    const length = spoken.counts[word] ?? 1;
    return { token, word, from: first / length, to: (last + 1) / length };
  });
}

interface Pair {
  readonly token: number;
  readonly word: number;
  letters: number;
  readonly first: number;
  last: number;
}

/** Pairs whose token and whose word were both found for the most part. */
function solid(pairs: readonly Pair[], tokenSizes: Int32Array, wordSizes: Int32Array): Pair[] {
  const inTokens = new Int32Array(tokenSizes.length);
  const inWords = new Int32Array(wordSizes.length);
  for (const { token, word, letters } of pairs) {
    inTokens[token] = (inTokens[token] ?? 0) + letters;
    inWords[word] = (inWords[word] ?? 0) + letters;
  }
  return pairs.filter(
    ({ token, word }) =>
      2 * (inTokens[token] ?? 0) >= (tokenSizes[token] ?? 0) &&
      2 * (inWords[word] ?? 0) >= (wordSizes[word] ?? 0),
  );
}

/** For each letter, which one of its own word it is. */
function offsetsInOwner(owners: Int32Array): Int32Array {
  const offsets = new Int32Array(owners.length);
  for (let index = 1; index < owners.length; index += 1) {
    if (owners[index] === owners[index - 1]) offsets[index] = (offsets[index - 1] ?? 0) + 1;
  }
  return offsets;
}
