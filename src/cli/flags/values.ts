import { usageFailure } from '../../errors/failure.ts';
import { closest } from '../../text/did-you-mean.ts';
import { durationMs } from '../../text/duration.ts';

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

/** A parser for a flag that takes a whole number within limits. */
export function integerWithin(
  flag: string,
  {
    minimum,
    maximum = Number.MAX_SAFE_INTEGER,
  }: { readonly minimum: number; readonly maximum?: number },
): (given: string) => number {
  const allowed =
    maximum === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${minimum}`
      : `a whole number from ${minimum} to ${maximum}`;
  return (given) => {
    const value = Number(given);
    if (!/^-?\d+$/.test(given) || value < minimum || value > maximum) {
      throw usageFailure(`${flag} is "${given}"; it takes ${allowed}`);
    }
    return value;
  };
}

/**
 * A duration of the command line in milliseconds.
 * @throws Failure (usage) naming the flag
 */
export function parseDuration(flag: string, given: string): number {
  const duration = durationMs(given);
  if (duration !== undefined) return duration;
  throw usageFailure(
    `${flag} is "${given}"; it takes a duration such as 500ms, 30s, 10m or 1h (plain numbers are seconds)`,
  );
}

/**
 * The same for a limit, which nothing could be within if it were none.
 * @throws Failure (usage) naming the flag
 */
export function parseTimeLimit(flag: string, given: string): number {
  const ms = parseDuration(flag, given);
  if (ms > 0) return ms;
  throw usageFailure(`${flag} is "${given}"; it takes a duration above 0, such as 24h`);
}
