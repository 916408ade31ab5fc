import { getCapabilities } from '../../src/api/resources/models.ts';
import { isRecord } from '../../src/api/response.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Model } from '../../src/contract/models.ts';
import { enabledNames, estimatedPrices, PRICED_CHARACTERS, rawModel, withPrice } from './format.ts';

/** Defines the command `foley models list` (docs/api/models.md). */
export const definition: CommandDefinition<ListFlags> = {
  configure(command) {
    addOptions(command.description('Lists the models of the service.'), listOptions(COLUMNS));
  },
  async run(context, { options }) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    const names = value.models.map(({ id }) => ({ name: id, about: '' }));
    const { prices, usual } = await estimatedPrices(context, value.models);
    const models = value.models.map((model) => ({ ...model, price: prices.get(model.id) }));
    const columns = COLUMNS.map((column) =>
      column === PRICE && prices.size > 0 ? PRICE_IN_ALL_TABLES : column,
    );
    const records = value.models.map((model, index) =>
      withPrice(rawModel(raw, index, model), prices.get(model.id)),
    );
    return {
      // The price at the top is that of requests without a model.
      data: withPrice({ ...(isRecord(raw) ? raw : value), models: records }, usual),
      seen: { kind: 'model', names },
      ...priceNotice(context, usual, prices.size > 0),
      ...listOrNotice(models, columns, { names: options.columns, notice: 'No models.' }),
    };
  },
};

// Programs find the prices in the JSON.
function priceNotice(
  { globals: { jq, json } }: Context,
  usual: number | undefined,
  isPriced: boolean,
): { readonly notice?: string } {
  if (json === true || jq !== undefined) return {};
  if (usual !== undefined) {
    return {
      notice: `Without --model, ${PRICED_CHARACTERS} characters cost about ${usual} credits (estimate from earlier charges).`,
    };
  }
  return isPriced ? {} : { notice: 'The price of a model is unknown until its first charge.' };
}

interface PricedModel extends Model {
  /** Estimated credits for 1,000 characters; undefined if unknown. */
  readonly price: number | undefined;
}

const PRICE_IN_ALL_TABLES: Column<PricedModel> = {
  title: 'CREDITS/1000',
  value: ({ price }) => (price === undefined ? '' : `about ${price}`),
  exact: ({ price }) => (price === undefined ? '' : String(price)),
};
const PRICE: Column<PricedModel> = { ...PRICE_IN_ALL_TABLES, isExtra: true };

const COLUMNS: readonly Column<PricedModel>[] = [
  {
    title: 'ID',
    value: ({ id, available }) => (available ? id : `${id} (unavailable)`),
    exact: ({ id }) => id,
    whole: true,
  },
  { title: 'LONGEST TEXT', value: ({ maxTextLength }) => String(maxTextLength) },
  { title: 'FORMATS', value: ({ outputFormats }) => outputFormats.join(', ') },
  PRICE,
  { title: 'CONTROLS', value: ({ controls }) => enabledNames(controls) },
  {
    title: 'OPERATIONS',
    value: ({ supportedOperations }) => enabledNames(supportedOperations),
    isExtra: true,
  },
  { title: 'AVAILABLE', value: ({ available }) => (available ? 'yes' : 'no'), isExtra: true },
];
