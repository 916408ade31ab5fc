import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { describeOrigin, listSettings } from '../../src/config/settings.ts';
import { formatValue } from './format.ts';

interface ConfigListFlags {
  readonly showOrigin?: true;
}

interface Row {
  readonly name: string;
  readonly value: string | number;
  readonly origin: string;
}

export const configList: CommandDefinition<ConfigListFlags> = {
  configure(command) {
    command
      .description('Lists the settings that have a value, with the effective value.')
      .addOption(new Option('--show-origin', 'also show where each value comes from'));
  },
  async run(context, { options }) {
    const items = listSettings(await context.settings()).map(({ name, origin, value }): Row => ({
      name,
      value: formatValue(name, value),
      origin: describeOrigin(origin),
    }));
    const { table } = await import('../../src/cli/render/table.ts');
    const columns = options.showOrigin === true ? [...COLUMNS, ORIGIN] : COLUMNS;
    return {
      data: { items, total: items.length },
      human: (style) => table(items, columns, style),
    };
  },
};

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VALUE', value: ({ value }) => `${value}`, whole: true },
];

const ORIGIN: Column<Row> = { title: 'ORIGIN', value: ({ origin }) => origin, whole: true };
