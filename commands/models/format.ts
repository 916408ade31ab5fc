import { isRecord } from '../../src/api/response.ts';
import type { Context } from '../../src/cli/command.ts';
import type { Model } from '../../src/contract/models.ts';

/** Number of characters for which a price is shown. */
export const PRICED_CHARACTERS = 1_000;

/**
 * Estimates what {@link PRICED_CHARACTERS} characters cost with each model, in credits, from earlier charges of the service.
 * Leaves out models without earlier charges: the API does not report prices.
 * @returns also the price of requests without a model; undefined without such charges
 */
export async function estimatedPrices(
  context: Context,
  models: readonly { readonly id: string }[],
): Promise<{
  readonly prices: ReadonlyMap<string, number>;
  readonly usual: number | undefined;
}> {
  const [{ findTarget }, { creditRates }, { ANY_DEFAULT_MODEL, estimateCredits }] =
    await Promise.all([
      import('../../src/cli/connect.ts'),
      import('../shared/journal.ts'),
      import('../../src/speech/credit-rates.ts'),
    ]);
  const target = await findTarget(context, { publicOnly: true });
  const service = target.kind === 'hosted' ? target.address.baseUrl.origin : 'embedded';
  const rates = await creditRates(context);
  const priceOf = async (model: string): Promise<number | undefined> =>
    estimateCredits(await rates.seen({ service, model }), PRICED_CHARACTERS);
  const prices = new Map<string, number>();
  for (const { id } of models) {
    const price = await priceOf(id);
    if (price !== undefined) prices.set(id, price);
  }
  return { prices, usual: await priceOf(ANY_DEFAULT_MODEL) };
}

/** The record of a model in the response of the service, with its price, which the API does not report. */
export interface ModelPrice {
  readonly [field: string]: unknown;
  /** Estimated credits for a character, from earlier charges; null until the first charge. */
  readonly creditsPerCharacter: number | null;
}

/**
 * Adds the estimated price to a record of the service. If the service reports a price in this field, keeps it.
 * @param price credits for {@link PRICED_CHARACTERS} characters; undefined if unknown
 */
export function withPrice(record: object, price: number | undefined): ModelPrice {
  const creditsPerCharacter = price === undefined ? null : price / PRICED_CHARACTERS;
  return { creditsPerCharacter, ...record };
}

/**
 * Returns the model at this position in the response of the service, which may have fields that foley does not know.
 * Returns `known` if the response has none.
 */
export function rawModel(raw: unknown, index: number, known: Model): object {
  const models = isRecord(raw) ? raw['models'] : undefined;
  const model: unknown = Array.isArray(models) ? models[index] : undefined;
  return isRecord(model) ? model : known;
}

/** Joins the names of the enabled switches with commas (for example, `speed, volume`). */
export function enabledNames(switches: Readonly<Record<string, boolean>>): string {
  const names = Object.entries(switches).filter(([, on]) => on);
  return names.map(([name]) => name).join(', ');
}
