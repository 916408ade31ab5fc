import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { storedAccounts, findTarget, openClient } from '../../src/cli/connect.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { selectAccount } from '../../src/config/accounts.ts';
import type { Account, Accounts } from '../../src/config/accounts.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { Option } from 'commander';
import { keyFailure } from '../../src/api/request.ts';
import type { ServiceAddress } from '../../src/api/request.ts';
import { getProfile } from '../../src/api/resources/profile.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import type { Profile } from '../../src/contract/account.ts';
import type { KeySource } from '../../src/cli/target.ts';
import { isLocalOnPurpose } from '../../src/cli/target.ts';

interface Row {
  readonly name: string;
  readonly baseUrl: string;
  readonly realtimeUrl: string | null;
  /** It counts when none is named. */
  readonly current: boolean;
}

/** `foley auth list`; keys are never shown. */
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

/** `foley auth logout`. */
export const authLogout: CommandDefinition = {
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
    await removeAccount(accountsFile, name, context);
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
    `Name it with --account: ${names.join(', ')}.`,
  );
}

interface StatusFlags {
  readonly check?: true;
}

/** `foley auth status`: which service, and where its key comes from. */
export const authStatus: CommandDefinition<StatusFlags> = {
  configure(command) {
    command
      .description(
        'Shows the service that commands use and the source of its API key, never the key itself. Exits ' +
          'with 4 when there is no key.',
      )
      .addOption(new Option('--check', 'also check the key with the service'));
  },
  async run(context, { options }) {
    const target = await findTarget(context);
    if (target.kind === 'hosted') {
      const { address, keySource } = target;
      const profile = options.check === true ? await ask(context, address) : undefined;
      return hostedStatus(address, keySource, profile);
    }
    if (isLocalOnPurpose({ env: context.env, flags: context.globals })) return EMBEDDED;
    throw keyFailure(
      'no API key is configured; commands use the embedded service, which needs none',
      'Set FOLEY_API_KEY and FOLEY_BASE_URL, or run `foley auth login --base-url URL`.',
    );
  },
};

const EMBEDDED: CommandResult = {
  data: { target: 'embedded', baseUrl: null, realtimeUrl: null, key: null },
  human: (style) =>
    renderFields(
      [
        ['service', 'embedded (requested)'],
        ['key', 'not needed'],
      ],
      style,
    ),
};

async function ask(context: Context, address: ServiceAddress): Promise<Profile> {
  const client = openClient(context, address);
  try {
    return (await getProfile(client, context.signal)).value;
  } finally {
    await client.close();
  }
}

function hostedStatus(
  { baseUrl, realtimeUrl }: ServiceAddress,
  key: KeySource | undefined,
  profile: Profile | undefined,
): CommandResult {
  return {
    data: {
      target: 'hosted',
      baseUrl: baseUrl.href,
      realtimeUrl: realtimeUrl.href,
      key: key ?? null,
      ...(profile === undefined ? {} : { userId: profile.user_id, tier: profile.tier }),
    },
    human: (style) =>
      renderFields(
        [
          ['service', baseUrl.href],
          ['realtime', realtimeUrl.href],
          ['key', key === undefined ? '' : sourceText(key)],
          [
            'accepted',
            profile === undefined ? '' : `yes, for ${profile.user_id} (${profile.tier})`,
          ],
        ],
        style,
      ),
  };
}

function sourceText({ kind, name }: KeySource): string {
  if (kind === 'account') return `from the stored account "${name}"`;
  return kind === 'file' ? `from --api-key-file ${name}` : `from ${name}`;
}
