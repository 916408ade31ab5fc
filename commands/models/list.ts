import { getCapabilities } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Model } from '../../src/contract/models.ts';
import { enabledNames, estimatedPrices, PRICED_CHARACTERS } from './format.ts';

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
    return {
      data: raw,
      seen: { kind: 'model', names },
      ...(usual === undefined
        ? {}
        : {
            notice: `Without --model, ${PRICED_CHARACTERS} characters cost about ${usual} credits (estimate from earlier charges).`,
          }),
      ...listOrNotice(models, columns, { names: options.columns, notice: 'No models.' }),
    };
  },
};

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
