import type { Context } from '../../src/cli/command.ts';

/** Number of characters for which a price is shown. */
export const PRICED_CHARACTERS = 1_000;

/**
 * Estimates what {@link PRICED_CHARACTERS} characters cost with each model, in credits, from earlier charges of the service.
 * Leaves out models without earlier charges: the API does not report prices.
 */
export async function estimatedPrices(
  context: Context,
  models: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, number>> {
  const [{ findTarget }, { creditRates }, { estimateCredits }] = await Promise.all([
    import('../../src/cli/connect.ts'),
    import('../shared/journal.ts'),
    import('../../src/speech/credit-rates.ts'),
  ]);
  const target = await findTarget(context, { publicOnly: true });
  const service = target.kind === 'hosted' ? target.address.baseUrl.origin : 'embedded';
  const rates = await creditRates(context);
  const prices = new Map<string, number>();
  for (const { id } of models) {
    const price = estimateCredits(await rates.seen({ service, model: id }), PRICED_CHARACTERS);
    if (price !== undefined) prices.set(id, price);
  }
  return prices;
}

/** Joins the names of the enabled switches with commas (for example, `speed, volume`). */
export function enabledNames(switches: Readonly<Record<string, boolean>>): string {
  const names = Object.entries(switches).filter(([, on]) => on);
  return names.map(([name]) => name).join(', ');
}
