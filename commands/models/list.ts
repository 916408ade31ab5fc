import { getCapabilities } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Model } from '../../src/contract/models.ts';
import { enabledNames } from './format.ts';

/** Defines the command `foley models list` (docs/api/models.md). */
export const modelsList: CommandDefinition<ListFlags> = {
  configure(command) {
    addOptions(command.description('Lists the models of the service.'), listOptions(COLUMNS));
  },
  async run(context, { options }) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    const names = value.models.map(({ id }) => ({ name: id, about: '' }));
    return {
      data: raw,
      seen: { kind: 'model', names },
      ...listOrNotice(value.models, COLUMNS, { names: options.columns, notice: 'No models.' }),
    };
  },
};

const COLUMNS: readonly Column<Model>[] = [
  {
    title: 'ID',
    value: ({ id, available }) => (available ? id : `${id} (unavailable)`),
    exact: ({ id }) => id,
    whole: true,
  },
  { title: 'LONGEST TEXT', value: ({ maxTextLength }) => String(maxTextLength) },
  { title: 'FORMATS', value: ({ outputFormats }) => outputFormats.join(', ') },
  { title: 'CONTROLS', value: ({ controls }) => enabledNames(controls) },
  {
    title: 'OPERATIONS',
    value: ({ supportedOperations }) => enabledNames(supportedOperations),
    isExtra: true,
  },
  { title: 'AVAILABLE', value: ({ available }) => (available ? 'yes' : 'no'), isExtra: true },
];
