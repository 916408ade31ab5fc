import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';

/** A parser that knows the words it takes, for those that complete and describe flags. */
export interface ChoiceParser<Word extends string> {
  (given: string): Word;
  readonly words: readonly Word[];
}

/** A parser for a flag that takes one of a few words. */
export function oneOf<Word extends string>(
  flag: string,
  words: readonly Word[],
): ChoiceParser<Word> {
  const parse = (given: string): Word => {
    const word = words.find((candidate) => candidate === given);
    if (word !== undefined) return word;
    const [nearest] = closest(given, words, 1);
    throw usageFailure(
      `${flag} is "${given}"; it takes ${words.join(', ')}`,
      nearest === undefined ? undefined : `Did you mean ${nearest}?`,
    );
  };
  return Object.assign(parse, { words });
}

/** The words that the parser of a flag takes; undefined when it takes anything else. */
export function wordsOf(parser: unknown): readonly string[] | undefined {
  if (typeof parser !== 'function' || !('words' in parser)) return undefined;
  const { words } = parser;
  return Array.isArray(words) ? words.filter((word) => typeof word === 'string') : undefined;
}
