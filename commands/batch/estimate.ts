import type { BatchItem } from '../../src/batch/plan/plan.ts';
import type { Context } from '../../src/cli/command.ts';
import { creditRates } from '../../src/cli/journal.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Charge, CreditRates, RateKey } from '../../src/speech/credit-rates.ts';
import { estimateCredits, withCharge } from '../../src/speech/credit-rates.ts';
import type { BatchConnection } from './connect-batch.ts';
import type { PreparedBatch } from './prepare.ts';

/** What items may cost, from what was charged before. */
export interface Estimator {
  /** Credits; undefined while the price of a character is not known. */
  creditsOf(item: BatchItem): Promise<number | undefined>;
  /** The same from what was looked up; 0 for what is not known. */
  knownCredits(item: BatchItem): number;
  /** What an item really cost. */
  learn(item: BatchItem, credits: number): void;
  /** Remembers the prices for the next time. Never throws. */
  keep(): Promise<void>;
}

export async function createEstimator(
  context: Context,
  { flags }: PreparedBatch,
  connection: Pick<BatchConnection, 'client' | 'target'>,
): Promise<Estimator> {
  const rates = await creditRates(context);
  return new SeenRates(rates, connection, flags.creditRate);
}

class SeenRates implements Estimator {
  readonly #rates: CreditRates;
  readonly #service: string;
  readonly #given: number | undefined;
  readonly #known = new Map<string, readonly Charge[]>();
  readonly #learned = new Map<string, readonly Charge[]>();

  constructor(
    rates: CreditRates,
    { client, target }: Pick<BatchConnection, 'client' | 'target'>,
    given: number | undefined,
  ) {
    this.#rates = rates;
    this.#service = target === 'embedded' ? target : client.address.baseUrl.origin;
    this.#given = given;
  }

  async creditsOf(item: BatchItem): Promise<number | undefined> {
    const key = this.#keyOf(item);
    if (this.#given === undefined && !this.#known.has(key.model)) {
      this.#known.set(key.model, await this.#rates.seen(key));
    }
    return this.#estimate(item, key.model);
  }

  knownCredits(item: BatchItem): number {
    return this.#estimate(item, this.#keyOf(item).model) ?? 0;
  }

  learn(item: BatchItem, credits: number): void {
    const { model } = this.#keyOf(item);
    // Shared, or fetched again: that tells no price.
    if (credits === 0) return;
    const before = this.#learned.get(model) ?? [];
    this.#learned.set(model, withCharge(before, [item.characters, credits]));
  }

  async keep(): Promise<void> {
    for (const [model, charges] of this.#learned) {
      // A price that cannot be written down is asked for the next time.
      await this.#rates.remember({ service: this.#service, model }, charges).catch(() => undefined);
    }
  }

  #estimate({ characters }: BatchItem, model: string): number | undefined {
    if (this.#given !== undefined) return Math.ceil(characters * this.#given);
    return estimateCredits(this.#known.get(model) ?? [], characters);
  }

  #keyOf({ order }: BatchItem): RateKey {
    return { service: this.#service, model: order.modelId ?? `default of ${order.voiceId}` };
  }
}

/**
 * Refuses a batch that may cost more than `--max-credits`.
 * @param estimate undefined when the price of some item is not known
 * @throws Failure (usage); nothing was sent
 */
export function checkEstimate(estimate: number | undefined, maximum: number | undefined): void {
  if (maximum === undefined) return;
  if (estimate === undefined) {
    throw usageFailure(
      '--max-credits needs the price of a character, and none was seen yet for some model of this batch',
      'Give it with --credit-rate N (credits per character), or speak something short first.',
    );
  }
  if (estimate <= maximum) return;
  throw usageFailure(
    `--max-credits is ${maximum}, and this may cost ${estimate}`,
    'Raise --max-credits, or speak less. Nothing was sent.',
  );
}
