import { reviseFailure } from '../../src/api/failures.ts';
import { checkApiKey } from '../../src/api/request.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { storedAccounts } from '../../src/cli/connect.ts';
import { parseBaseUrl, parseRealtimeUrl, withWebSocket } from '../../src/config/target.ts';
import type { Account, Accounts } from '../../src/config/accounts.ts';
import type { Profile } from '../../src/contract/account.ts';
import { Failure, usageFailure } from '../../src/errors/failure.ts';
import { readInput, readKeyFile } from '../../src/cli/read-input.ts';
import type { GivenUrl } from '../../src/config/target.ts';
import { readProfile } from './status.ts';

/** The account that was stored. */
export interface LoginDocument {
  readonly account: string;
  readonly baseUrl: string;
  readonly realtimeUrl: string | null;
  readonly userId: string;
  readonly tier: string;
}

export const definition: CommandDefinition<object, LoginDocument> = {
  configure(command) {
    command
      .description(
        'Stores an account: an API key and its service. Prompts for the key, or reads it from stdin or ' +
          '--api-key-file, and stores it once the service accepts it.',
      )
      .addHelpText('after', EXAMPLES);
  },
  async run(context) {
    const login = planLogin(context, await storedAccounts(context));
    const apiKey = await readKey(context, login);
    const profile = await checkWithService(context, login, apiKey);
    const account: Account = {
      name: login.name,
      baseUrl: withoutSlash(login.baseUrl),
      realtimeUrl: login.ownRealtime === undefined ? undefined : withoutSlash(login.ownRealtime),
      apiKey,
    };
    const { saveAccount } = await import('../../src/config/config-write.ts');
    const { accountsFile } = await context.paths();
    await saveAccount(accountsFile, account, context.system, { makeCurrent: true });
    report(context, login, profile);
    const { baseUrl, name, realtimeUrl } = account;
    const { tier, user_id: userId } = profile;
    return { data: { account: name, baseUrl, realtimeUrl: realtimeUrl ?? null, userId, tier } };
  },
};

const EXAMPLES = `
Examples:
  $ foley auth login --base-url https://api.example.com
  $ foley auth login --account work --base-url https://api.example.com < key.txt`;

async function readKey(context: Context, { baseUrl }: Login): Promise<string> {
  const { globals, io } = context;
  if (globals.apiKeyFile !== undefined) {
    return readKeyFile(globals.apiKeyFile, context);
  }
  if (!io.stdinIsTerminal()) {
    const given = (await readInput(context, '-', 'stdin')).toString('utf8');
    if (given === '') throw noKeyGiven('stdin is empty');
    return checkApiKey(given, 'the API key from stdin');
  }
  const { askSecret, canAsk } = await import('../../src/cli/prompt.ts');
  if (!globals.input || !canAsk(io)) {
    throw noKeyGiven(
      globals.input ? 'the prompt would not be visible' : '--no-input forbids asking',
    );
  }
  const typed = await askSecret(`API key for ${baseUrl.host} (hidden): `, context);
  if (typed.trim() === '') throw noKeyGiven('nothing was typed');
  return checkApiKey(typed.trim(), 'the API key that was typed');
}

function noKeyGiven(why: string): Error {
  return usageFailure(
    `no API key to store: ${why}`,
    'Give the API key on stdin (foley auth login < key.txt), with --api-key-file PATH, or type it at a terminal.',
  );
}

async function checkWithService(
  context: Context,
  { baseUrl, realtimeUrl }: Login,
  apiKey: string,
): Promise<Profile> {
  try {
    return await readProfile(context, { kind: 'hosted', baseUrl, realtimeUrl, apiKey });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const hint = error.exit === 'auth' ? 'Copy the key from the service again.' : error.hint;
    throw reviseFailure(error, { hint: `Nothing was stored. ${hint ?? ''}`.trimEnd() });
  }
}

function report({ env, io }: Context, { baseUrl, name, replaced }: Login, profile: Profile): void {
  if (replaced !== undefined && replaced.baseUrl !== withoutSlash(baseUrl)) {
    io.notice(`foley: replaced the account "${name}" for ${replaced.baseUrl}`);
  }
  io.notice(`logged in to ${baseUrl.host} as ${profile.user_id}; the account is "${name}"`);
  const stronger = ['FOLEY_API_KEY', 'FOLEY_BASE_URL', 'FOLEY_TARGET'].filter(
    (variable) => (env[variable] ?? '') !== '',
  );
  if (stronger.length > 0) {
    io.notice(`foley: the environment takes precedence over accounts: ${stronger.join(', ')}`);
  }
}

function withoutSlash(url: URL): string {
  return url.href.replace(/\/$/, '');
}

interface Login {
  readonly name: string;
  readonly baseUrl: URL;
  readonly realtimeUrl: URL;
  // From a flag, the environment or the stored account; undefined if none of them sets a realtime URL.
  readonly ownRealtime: URL | undefined;
  readonly replaced: Account | undefined;
}

const FIRST_NAME = 'default';

function planLogin({ env, globals }: Context, accounts: Accounts): Login {
  if (globals.local === true) {
    throw usageFailure(
      '--local selects the embedded service, which needs no account',
      'Leave --local out, or do not log in.',
    );
  }
  const known = globals.account === undefined ? undefined : accounts.all.get(globals.account);
  const given =
    from('--base-url', globals.baseUrl) ??
    from(`the address of the account "${known?.name}"`, known?.baseUrl) ??
    from('FOLEY_BASE_URL', env['FOLEY_BASE_URL']);
  if (given === undefined) {
    throw usageFailure(
      'no service is given for the API key',
      'Name the service: foley auth login --base-url https://api.example.com',
    );
  }
  const baseUrl = parseBaseUrl(given);
  const name = checkName(globals.account ?? nameFor(baseUrl, accounts));
  const replaced = accounts.all.get(name);
  const realtime =
    from('--realtime-url', globals.realtimeUrl) ??
    // FOLEY_REALTIME_URL belongs to FOLEY_BASE_URL: a key must not go to the host of another service.
    (given.source === 'FOLEY_BASE_URL'
      ? from('FOLEY_REALTIME_URL', env['FOLEY_REALTIME_URL'])
      : undefined) ??
    keptRealtime(baseUrl, replaced);
  const ownRealtime = realtime === undefined ? undefined : parseRealtimeUrl(realtime);
  const realtimeUrl = ownRealtime ?? withWebSocket(baseUrl);
  return { name, baseUrl, realtimeUrl, ownRealtime, replaced };
}

// Without `--account`, login never replaces the API key of another service.
function nameFor(baseUrl: URL, { all, current }: Accounts): string {
  const same = [...all.values()]
    .filter((account) => originOf(account.baseUrl) === baseUrl.origin)
    .map(({ name }) => name);
  if (current !== undefined && same.includes(current)) return current;
  if (same[0] !== undefined) return same[0];
  if (!all.has(FIRST_NAME)) return FIRST_NAME;
  const host = baseUrl.host.replaceAll(/[^\w.-]/g, '-');
  let name = host;
  for (let number = 2; all.has(name); number += 1) name = `${host}-${number}`;
  return name;
}

function keptRealtime(baseUrl: URL, replaced: Account | undefined): GivenUrl | undefined {
  if (replaced === undefined || originOf(replaced.baseUrl) !== baseUrl.origin) return undefined;
  return from(`the realtime address of the account "${replaced.name}"`, replaced.realtimeUrl);
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw usageFailure(
    `--account is "${name}"; a name has 1 to 64 letters, digits, dots, dashes or underscores`,
    'A name begins with a letter or a digit.',
  );
}

function from(source: string, value: string | undefined): GivenUrl | undefined {
  return value === undefined || value === '' ? undefined : { source, value };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
