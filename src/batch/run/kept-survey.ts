import type { Surveyed } from './survey.ts';

type Survey = AsyncGenerator<Surveyed, void, undefined>;

/** A survey that is gone over twice, and read twice only when it is long. */
export interface KeptSurvey {
  first(): Survey;
  /** The same again; what was not read to its end the first time is read anew. */
  again(): Survey;
}

/** What is longer than this is not kept. */
const KEPT_CHARACTERS = 4_000_000;
/** What an item takes besides its text, roughly. */
const ITEM_CHARACTERS = 400;

export function keepSurvey(read: () => Survey): KeptSurvey {
  let seen: readonly Surveyed[] | undefined;
  return {
    async *first() {
      seen = undefined;
      let all: Surveyed[] | undefined = [];
      let size = 0;
      for await (const one of read()) {
        size += one.item.characters + ITEM_CHARACTERS;
        if (size > KEPT_CHARACTERS) all = undefined;
        all?.push(one);
        yield one;
      }
      seen = all;
    },
    async *again() {
      if (seen === undefined) yield* read();
      else yield* seen;
    },
  };
}
