import type { CommandDefinition } from '../../src/cli/command.ts';
import { storedAccounts } from '../../src/cli/connect.ts';
import type { Account, Accounts } from '../../src/config/accounts.ts';
import { selectAccount } from '../../src/config/accounts.ts';
import { usageFailure } from '../../src/errors/failure.ts';

/** The account that was removed. */
export interface LogoutDocument {
  readonly account: string;
  readonly baseUrl: string;
  /** Names of the other stored accounts. */
  readonly left: readonly string[];
}

export const definition: CommandDefinition<object, LogoutDocument> = {
  configure(command) {
    command.description(
      'Removes a stored account and its key from this computer: the account named by --account, else ' +
        'the one in use. The key stays valid at the service.',
    );
  },
  async run(context) {
    const { globals, io } = context;
    const accounts = await storedAccounts(context);
    const { baseUrl, name } = requireAccount(accounts, globals.account);
    const { removeAccount } = await import('../../src/config/config-write.ts');
    const { accountsFile } = await context.paths();
    await removeAccount(accountsFile, name, context.system);
    io.notice(`removed the account "${name}" for ${baseUrl}`);
    const left = [...accounts.all.keys()].filter((other) => other !== name);
    const inUse = accounts.current === name ? undefined : accounts.current;
    if (left.length > 1 && inUse === undefined) {
      io.notice(`foley: no account is current now; choose one with --account: ${left.join(', ')}`);
    }
    return { data: { account: name, baseUrl, left } };
  },
};

function requireAccount(accounts: Accounts, name: string | undefined): Account {
  const account = selectAccount(accounts, name);
  if (account !== undefined) return account;
  const names = [...accounts.all.keys()];
  if (names.length === 0) {
    throw usageFailure('no accounts are stored', '`foley auth status` shows the key in use.');
  }
  throw usageFailure(
    'several accounts are stored, and none is current',
    `Name one with --account: ${names.join(', ')}.`,
  );
}
