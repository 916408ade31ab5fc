import type { CommandDefinition } from '../../src/cli/command.ts';
import { storedAccounts } from '../../src/cli/connect.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { selectAccount } from '../../src/config/accounts.ts';

interface Row {
  readonly name: string;
  readonly baseUrl: string;
  readonly realtimeUrl: string | null;
  /** Whether this account is used when `--account` is not given. */
  readonly current: boolean;
}

export const authList: CommandDefinition = {
  configure(command) {
    command.description('Lists the stored accounts. Keys are never shown.');
  },
  async run(context) {
    const accounts = await storedAccounts(context);
    const current = selectAccount(accounts)?.name;
    const items = [...accounts.all.values()].map(({ baseUrl, name, realtimeUrl = null }): Row => ({
      name,
      baseUrl,
      realtimeUrl,
      current: name === current,
    }));
    const { tableOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items, total: items.length },
      ...tableOrNotice(items, COLUMNS, 'No stored accounts.'),
    };
  },
};

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'IN USE', value: ({ current }) => (current ? 'yes' : '') },
  { title: 'SERVICE', value: ({ baseUrl }) => baseUrl },
  { title: 'REALTIME', value: ({ realtimeUrl }) => realtimeUrl ?? '' },
];
