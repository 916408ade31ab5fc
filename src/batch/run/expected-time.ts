/** How long jobs of a batch take, so that a job is asked about first when it is about to be done. */
export interface ExpectedTime {
  /** Milliseconds; undefined while nothing is known. */
  of(characters: number): number | undefined;
  /** A job was done after `ms`; `guess` is what was expected of it, if anything was. */
  learn(characters: number, ms: number, guess: Guess | undefined): void;
}

export interface Guess {
  readonly ms: number;
  /** It was done when it was first asked about. */
  readonly wasEnough: boolean;
}

/** Beyond this a wrong guess would cost more than questions do. */
const MOST_MS = 2_000;
/** Done at the first question, it may have been done before: a little sooner the next time. */
const SOONER = 0.999;
/** Not yet done then, it was done soon after: so many guess the same at once that a small step is enough. */
const LATER = 1.04;
const LATER_MS = 0.5;

/** Jobs of about the same length take about the same time: each doubling of the text is on its own. */
export function createExpectedTime(): ExpectedTime {
  const known = new Map<number, number>();
  return {
    of: (characters) => {
      const ms = known.get(lengthClass(characters));
      return ms === undefined ? undefined : Math.min(MOST_MS, ms);
    },
    learn(characters, ms, guess) {
      const length = lengthClass(characters);
      const before = known.get(length);
      if (before === undefined || guess === undefined) {
        known.set(length, Math.min(ms, before ?? ms));
      } else if (guess.wasEnough) {
        known.set(length, Math.min(before, guess.ms * SOONER));
      } else {
        known.set(length, Math.max(before, guess.ms * LATER + LATER_MS));
      }
    },
  };
}

function lengthClass(characters: number): number {
  return Math.floor(Math.log2(Math.max(1, characters)));
}
