import type { CommandDefinition } from '../../src/cli/command.ts';
import { storedAccounts } from '../../src/cli/connect.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column, ListDocument } from '../../src/cli/render/table.ts';
import { selectAccount } from '../../src/config/accounts.ts';

interface AccountRow {
  readonly name: string;
  readonly baseUrl: string;
  readonly realtimeUrl: string | null;
  /** Whether commands use this account without `--account`. */
  readonly current: boolean;
}

export type AccountList = ListDocument<AccountRow>;

export const definition: CommandDefinition<ListFlags, AccountList> = {
  configure(command) {
    command.description('Lists the stored accounts. Keys are never shown.');
    addOptions(command, listOptions(COLUMNS));
  },
  async run(context, { options }) {
    const accounts = await storedAccounts(context);
    const current = selectAccount(accounts)?.name;
    const items = [...accounts.all.values()].map(
      ({ baseUrl, name, realtimeUrl = null }): AccountRow => ({
        name,
        baseUrl,
        realtimeUrl,
        current: name === current,
      }),
    );
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items, total: items.length },
      ...listOrNotice(items, COLUMNS, { names: options.columns, notice: 'No stored accounts.' }),
    };
  },
};

const COLUMNS: readonly Column<AccountRow>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'IN USE', value: ({ current }) => (current ? 'yes' : '') },
  { title: 'SERVICE', value: ({ baseUrl }) => baseUrl },
  { title: 'REALTIME', value: ({ realtimeUrl }) => realtimeUrl ?? '' },
];
