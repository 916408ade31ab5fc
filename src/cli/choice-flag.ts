import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';

/** A parser for a flag that takes one of a few words. */
export function oneOf<Word extends string>(
  flag: string,
  words: readonly Word[],
): (given: string) => Word {
  return (given) => {
    const word = words.find((candidate) => candidate === given);
    if (word !== undefined) return word;
    const [nearest] = closest(given, words, 1);
    throw usageFailure(
      `${flag} is "${given}"; it takes ${words.join(', ')}`,
      nearest === undefined ? undefined : `Did you mean ${nearest}?`,
    );
  };
}
