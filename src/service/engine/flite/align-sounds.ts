import { PAUSE, type TimedSound } from './sounds.ts';

/** When a word is said, in milliseconds. */
export interface WordTime {
  readonly startMs: number;
  readonly endMs: number;
}

/** What a word sounds like alone. */
export interface WordSounds {
  /** At least one. */
  readonly sounds: readonly string[];
  /** It may go without saying, as signs do at the beginning of a sentence. */
  readonly isOptional: boolean;
}

/**
 * Finds the sounds of words in what was said: the assignment with the fewest differences, as a word
 * sounds a little otherwise among others than it does alone.
 * @param said in order of time
 * @returns a time for each word, none for optional ones that were not said; or nothing when what was
 * said is too different to be trusted
 */
export function alignSounds(
  said: readonly TimedSound[],
  words: readonly WordSounds[],
): (WordTime | undefined)[] | undefined {
  const sounds = said.filter(({ name }) => name !== PAUSE);
  const expected = words.flatMap(({ sounds: names, isOptional }, word) =>
    names.map((name) => ({ name, word, gap: isOptional ? 0 : GAP })),
  );
  const table = new DifferenceTable(
    sounds.map(({ name }) => name),
    expected,
  );
  if (table.difference > MOST_DIFFERENT * sounds.length) return undefined;
  const times: (WordTime | undefined)[] = words.map(() => undefined);
  for (const [soundAt, expectedAt] of table.pairs()) {
    const sound = sounds[soundAt];
    const word = expected[expectedAt]?.word;
    if (sound === undefined || word === undefined) continue;
    times[word] = { startMs: times[word]?.startMs ?? sound.startMs, endMs: sound.endMs };
  }
  const isMissed = words.some(({ isOptional }, word) => !isOptional && times[word] === undefined);
  return isMissed ? undefined : times;
}

/** More than this part of the sounds being others, the words are not those that were said. */
const MOST_DIFFERENT = 0.4;

/** A sound too many or too few, and one for another; vowels stand for each other easily. */
const GAP = 1;
const OTHER_SOUND = 1.5;
const OTHER_VOWEL = 0.5;
const VOWEL = /^[aeiou]/;

interface ExpectedSound {
  readonly name: string;
  /** What it costs when it is not there. */
  readonly gap: number;
}

/** The least differences between the beginnings of what is said and of what is expected. */
class DifferenceTable {
  readonly #left: readonly string[];
  readonly #right: readonly ExpectedSound[];
  readonly #width: number;
  readonly #costs: Float32Array;

  constructor(left: readonly string[], right: readonly ExpectedSound[]) {
    this.#left = left;
    this.#right = right;
    this.#width = right.length + 1;
    this.#costs = new Float32Array((left.length + 1) * this.#width);
    for (let row = 0; row <= left.length; row += 1) {
      for (let column = 0; column <= right.length; column += 1) {
        this.#costs[row * this.#width + column] = this.#least(row, column);
      }
    }
  }

  get difference(): number {
    return this.#cost(this.#left.length, this.#right.length);
  }

  /** Which of the one stand for which of the other, in order. */
  pairs(): (readonly [number, number])[] {
    const pairs: (readonly [number, number])[] = [];
    let row = this.#left.length;
    let column = this.#right.length;
    while (row > 0 && column > 0) {
      const cost = this.#cost(row, column);
      if (cost === this.#cost(row - 1, column - 1) + this.#substitution(row, column)) {
        row -= 1;
        column -= 1;
        pairs.push([row, column]);
      } else if (cost === this.#cost(row - 1, column) + GAP) row -= 1;
      else column -= 1;
    }
    return pairs.toReversed();
  }

  #least(row: number, column: number): number {
    if (column === 0) return row * GAP;
    const without = this.#cost(row, column - 1) + (this.#right[column - 1]?.gap ?? GAP);
    if (row === 0) return without;
    return Math.min(
      this.#cost(row - 1, column - 1) + this.#substitution(row, column),
      this.#cost(row - 1, column) + GAP,
      without,
    );
  }

  #substitution(row: number, column: number): number {
    const left = this.#left[row - 1] ?? '';
    const right = this.#right[column - 1]?.name ?? '';
    if (left === right) return 0;
    return VOWEL.test(left) && VOWEL.test(right) ? OTHER_VOWEL : OTHER_SOUND;
  }

  #cost(row: number, column: number): number {
    return this.#costs[row * this.#width + column] ?? 0;
  }
}
