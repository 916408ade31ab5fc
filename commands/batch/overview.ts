import type { Surveyed } from '../../src/batch/run/survey.ts';
import type { Estimator } from './estimate.ts';

/** What a batch is about to do. */
export interface Overview {
  readonly items: number;
  /** To be asked for, perhaps under a key that they were asked for under before. */
  readonly toSpeak: number;
  /** Paid for, and only to be fetched. */
  readonly toFetch: number;
  /** Their audio is in the folder under another name, or an equal item is spoken. */
  readonly toReuse: number;
  readonly skipped: number;
  /** Came to an end that only the person can change. */
  readonly failed: number;
  /** Of those that are to be asked for. */
  readonly characters: number;
  /** Null when the price of some item is not known. */
  readonly estimatedCredits: number | null;
}

/** Counts what is to be done, after every item was looked at; so nothing is sent when one is wrong. */
export async function overviewOf(
  items: AsyncIterable<Surveyed>,
  estimator: Estimator,
): Promise<Overview> {
  const counts = { speak: 0, fetch: 0, reuse: 0, share: 0, skip: 0, ended: 0 };
  let characters = 0;
  let estimate: number | null = 0;
  for await (const { decision, item } of items) {
    counts[decision.kind] += 1;
    if (decision.kind !== 'speak') continue;
    characters += item.characters;
    const credits: number | undefined = await estimator.creditsOf(item);
    estimate = estimate === null || credits === undefined ? null : estimate + credits;
  }
  return {
    items: Object.values(counts).reduce((sum, count) => sum + count, 0),
    toSpeak: counts.speak,
    toFetch: counts.fetch,
    toReuse: counts.reuse + counts.share,
    skipped: counts.skip,
    failed: counts.ended,
    characters,
    estimatedCredits: estimate,
  };
}
