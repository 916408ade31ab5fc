/** How long jobs of a batch take, so that a job is asked about first when it is about to be done. */
export interface ExpectedTime {
  /** Milliseconds; undefined while nothing is known. */
  of(characters: number): number | undefined;
  /** A job was done after `ms`; at the first question about it, or at a later one. */
  learn(characters: number, ms: number, wasFirst: boolean): void;
}

/** Beyond this a wrong guess would cost more than questions do. */
const MOST_MS = 2_000;
const SOONER = 0.97;

export function createExpectedTime(): ExpectedTime {
  let perCharacter: number | undefined;
  return {
    of: (characters) =>
      perCharacter === undefined ? undefined : Math.min(MOST_MS, perCharacter * characters),
    learn(characters, ms, wasFirst) {
      const seen = ms / Math.max(1, characters);
      if (perCharacter === undefined) perCharacter = seen;
      // Done when it was first asked about, it may have been done before.
      else if (wasFirst) perCharacter = Math.min(perCharacter, seen) * SOONER;
      else perCharacter = (perCharacter + seen) / 2;
    },
  };
}
