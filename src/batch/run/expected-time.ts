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
/** Done at the first question, it may have been done before: it is asked about so much sooner the next time. */
const FIRST_STEP = 0.05;
/** Each time that it was not yet done then, it is known better, and the steps become smaller; to this. */
const LEAST_STEP = 0.003;

interface Known {
  readonly ms: number;
  /** A share of `ms`. */
  readonly step: number;
}

/** Jobs of about the same length take about the same time: each doubling of the text is on its own. */
export function createExpectedTime(): ExpectedTime {
  const known = new Map<number, Known>();
  return {
    of: (characters) => {
      const ms = known.get(lengthClass(characters))?.ms;
      return ms === undefined ? undefined : Math.min(MOST_MS, ms);
    },
    learn(characters, ms, guess) {
      const length = lengthClass(characters);
      const before = known.get(length) ?? { ms, step: FIRST_STEP };
      known.set(length, learned(before, ms, guess));
    },
  };
}

/** Many guess the same at once, so that what is learned of each goes out from its own guess. */
function learned(before: Known, ms: number, guess: Guess | undefined): Known {
  if (guess === undefined) return { ...before, ms: Math.min(before.ms, ms) };
  if (guess.wasEnough) return { ...before, ms: Math.min(before.ms, guess.ms * (1 - before.step)) };
  // It became done between the guess and now.
  const between = (guess.ms + ms) / 2;
  return { ms: Math.max(before.ms, between), step: Math.max(LEAST_STEP, before.step / 2) };
}

function lengthClass(characters: number): number {
  return Math.floor(Math.log2(Math.max(1, characters)));
}
