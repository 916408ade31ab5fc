/** How long jobs of a batch take, so that a job is asked about first when it is about to be done. */
export interface ExpectedTime {
  /** Milliseconds; undefined while nothing is known. */
  of(characters: number): number | undefined;
  /** A job was done after `ms`; at the first question about it, or at a later one. */
  learn(characters: number, ms: number, wasFirst: boolean): void;
}

/** Beyond this a wrong guess would cost more than questions do. */
const MOST_MS = 2_000;
/** Several learn from one guess at a time, so each moves it by little only. */
const SOONER = 0.995;
const LATER = 0.25;

/** Jobs of about the same length take about the same time: each doubling of the text is on its own. */
export function createExpectedTime(): ExpectedTime {
  const known = new Map<number, number>();
  return {
    of: (characters) => {
      const ms = known.get(lengthClass(characters));
      return ms === undefined ? undefined : Math.min(MOST_MS, ms);
    },
    learn(characters, ms, wasFirst) {
      const length = lengthClass(characters);
      const before = known.get(length);
      if (before === undefined) known.set(length, ms);
      // Done when it was first asked about, it may have been done before.
      else if (wasFirst) known.set(length, Math.min(before, ms) * SOONER);
      else known.set(length, before + Math.max(0, ms - before) * LATER);
    },
  };
}

function lengthClass(characters: number): number {
  return Math.floor(Math.log2(Math.max(1, characters)));
}
