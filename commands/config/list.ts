import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column, ListDocument } from '../../src/cli/render/table.ts';
import { describeOrigin, listSettings } from '../../src/config/settings.ts';
import { formatValue } from './format.ts';

interface ConfigListFlags extends ListFlags {
  readonly showOrigin?: true;
}

interface SettingRow {
  readonly name: string;
  readonly value: boolean | number | string;
  /** Where the value comes from, such as an environment variable or a file. */
  readonly origin: string;
}

export type SettingList = ListDocument<SettingRow>;

export const definition: CommandDefinition<ConfigListFlags, SettingList> = {
  configure(command) {
    command.description('Lists the settings that have a value, with the effective value.');
    addOptions(command, [
      new Option('--show-origin', 'also show where each value comes from'),
      ...listOptions([...COLUMNS, ORIGIN]),
    ]);
  },
  async run(context, { options }) {
    const items = listSettings(await context.settings()).map(
      ({ name, origin, value }): SettingRow => ({
        name,
        value: formatValue(name, value),
        origin: describeOrigin(origin),
      }),
    );
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    const { columns: names, showOrigin } = options;
    const columns = showOrigin === true || names !== undefined ? [...COLUMNS, ORIGIN] : COLUMNS;
    return {
      data: { items, total: items.length },
      ...listOrNotice(items, columns, { names, notice: 'No settings.' }),
    };
  },
};

const COLUMNS: readonly Column<SettingRow>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VALUE', value: ({ value }) => `${value}`, whole: true },
];

const ORIGIN: Column<SettingRow> = { title: 'ORIGIN', value: ({ origin }) => origin, whole: true };
