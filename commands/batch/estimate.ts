import type { BatchItem } from '../../src/batch/plan/plan.ts';
import type { Context } from '../../src/cli/command.ts';
import { creditRates } from '../../src/cli/journal.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Charge, CreditRates, RateKey } from '../../src/speech/credit-rates.ts';
import { estimateCredits, withCharge } from '../../src/speech/credit-rates.ts';
import type { BatchConnection } from './connect-batch.ts';

/** @param given `--credit-rate`, in credits per character */
export async function createEstimator(
  context: Context,
  given: number | undefined,
  { client, target }: Pick<BatchConnection, 'client' | 'target'>,
): Promise<Estimator> {
  const service = target === 'embedded' ? target : client.address.baseUrl.origin;
  return new Estimator(await creditRates(context), service, given);
}

/** Estimates the cost of items from earlier charges. */
export class Estimator {
  readonly #rates: CreditRates;
  readonly #service: string;
  readonly #given: number | undefined;
  readonly #known = new Map<string, readonly Charge[]>();
  readonly #learned = new Map<string, readonly Charge[]>();

  constructor(rates: CreditRates, service: string, given: number | undefined) {
    this.#rates = rates;
    this.#service = service;
    this.#given = given;
  }

  /** Returns the credits that an item may cost; undefined without earlier charges. */
  async creditsOf(item: BatchItem): Promise<number | undefined> {
    const key = this.#keyOf(item);
    if (this.#given === undefined && !this.#known.has(key.model)) {
      this.#known.set(key.model, await this.#rates.seen(key));
    }
    return this.#estimate(item);
  }

  /** Returns the same from charges that `creditsOf` has loaded; 0 without any. */
  knownCredits(item: BatchItem): number {
    return this.#estimate(item) ?? 0;
  }

  /** Learns from the cost of an item. */
  learn(item: BatchItem, credits: number): void {
    // An item that was shared or fetched again has no price.
    if (credits === 0) return;
    const { model } = this.#keyOf(item);
    const before = this.#learned.get(model) ?? [];
    this.#learned.set(model, withCharge(before, [item.characters, credits]));
  }

  /** Saves the learned charges for later commands. Never throws. */
  async save(): Promise<void> {
    for (const [model, charges] of this.#learned) {
      await this.#rates.remember({ service: this.#service, model }, charges).catch(() => undefined);
    }
  }

  #estimate(item: BatchItem): number | undefined {
    const { characters } = item;
    if (this.#given !== undefined) return Math.ceil(characters * this.#given);
    return estimateCredits(this.#known.get(this.#keyOf(item).model) ?? [], characters);
  }

  #keyOf({ order }: BatchItem): RateKey {
    return { service: this.#service, model: order.modelId ?? `default of ${order.voiceId}` };
  }
}

/**
 * Refuses a batch that may cost more than `--max-credits`.
 * @param estimate undefined when the price of some item is unknown
 * @throws Failure (usage); nothing was sent
 */
export function checkEstimate(estimate: number | undefined, maximum: number | undefined): void {
  if (maximum === undefined) return;
  if (estimate === undefined) {
    throw usageFailure(
      '--max-credits requires the price of a character, which is unknown for a model of this batch',
      'Give it with --credit-rate N (credits per character), or speak something short first.',
    );
  }
  if (estimate <= maximum) return;
  throw usageFailure(
    `--max-credits is ${maximum}, and this may cost ${estimate}`,
    'Raise --max-credits, or speak less. Nothing was sent.',
  );
}
