import { getCapabilities } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Model } from '../../src/contract/models.ts';
import { enabledNames } from './format.ts';

/** `foley models list` (docs/api/models.md). */
export const modelsList: CommandDefinition = {
  configure(command) {
    command.description('Lists the models of the service.');
  },
  async run(context) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const { tableOrNotice } = await import('../../src/cli/render/table.ts');
    const names = value.models.map(({ id }) => ({ name: id, about: '' }));
    return {
      data: raw,
      seen: { kind: 'model', names },
      ...tableOrNotice(value.models, COLUMNS, 'No models.'),
    };
  },
};

const COLUMNS: readonly Column<Model>[] = [
  {
    title: 'ID',
    value: ({ id, available }) => (available ? id : `${id} (unavailable)`),
    whole: true,
  },
  { title: 'LONGEST TEXT', value: ({ maxTextLength }) => String(maxTextLength) },
  { title: 'FORMATS', value: ({ outputFormats }) => outputFormats.join(', ') },
  { title: 'CONTROLS', value: ({ controls }) => enabledNames(controls) },
];
