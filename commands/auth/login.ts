import { checkApiKey } from '../../src/api/api-key.ts';
import { getProfile } from '../../src/api/profile.ts';
import { reviseFailure } from '../../src/api/revise-failure.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { openClient, storedAccounts } from '../../src/cli/connect.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Account } from '../../src/config/accounts.ts';
import type { Profile } from '../../src/contract/schemas/profile.ts';
import { Failure, usageFailure } from '../../src/errors/failure.ts';
import { readKeyFile } from '../../src/target/read-key.ts';
import type { Login } from './plan-login.ts';
import { planLogin } from './plan-login.ts';

/** `foley auth login` (contract, sections 1 and 8): a key is stored once the service accepts it. */
export const authLogin: CommandDefinition = {
  configure(command) {
    command
      .description(
        'Stores an account: an API key and the service that it is for. The key is asked for, or read ' +
          'from stdin or --api-key-file; it is stored once the service accepts it.',
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
    await saveAccount(accountsFile, account, context, { makeCurrent: true });
    tell(context, login, profile);
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
  const { files, globals, io, signal } = context;
  if (globals.apiKeyFile !== undefined) {
    return readKeyFile(globals.apiKeyFile, { files, stdin: io.stdin, signal });
  }
  if (!io.stdinIsTerminal()) return keyFromStdin(context);
  const { askSecret, canAsk } = await import('../../src/cli/prompt.ts');
  if (!globals.input || !canAsk(io)) {
    throw noKeyGiven(globals.input ? 'the question cannot be seen' : '--no-input says not to ask');
  }
  const typed = await askSecret(`API key for ${baseUrl.host} (it is not shown): `, context);
  if (typed.trim() === '') throw noKeyGiven('nothing was typed');
  return checkApiKey(typed.trim(), 'the API key that was typed');
}

async function keyFromStdin(context: Context): Promise<string> {
  const { readInput } = await import('../../src/cli/read-input.ts');
  const given = (await readInput(context, '-', 'stdin')).toString('utf8');
  if (given === '') throw noKeyGiven('stdin is empty');
  return checkApiKey(given, 'the API key from stdin');
}

function noKeyGiven(why: string): Error {
  return usageFailure(
    `there is no API key to store: ${why}`,
    'Give it on stdin (foley auth login < key.txt), with --api-key-file PATH, or type it at a terminal.',
  );
}

/** The one request that shows whether the key is good; it costs nothing. */
async function checkWithService(
  context: Context,
  { baseUrl, realtimeUrl }: Login,
  apiKey: string,
): Promise<Profile> {
  const client = openClient(context, { kind: 'hosted', baseUrl, realtimeUrl, apiKey });
  try {
    return (await getProfile(client, context.signal)).value;
  } catch (error) {
    throw error instanceof Failure ? nothingStored(error) : error;
  } finally {
    await client.close();
  }
}

function nothingStored(failure: Failure): Failure {
  const hint = failure.exit === 'auth' ? 'Copy the key from the service again.' : failure.hint;
  return reviseFailure(failure, { hint: `Nothing was stored. ${hint ?? ''}`.trimEnd() });
}

function tell({ env, io }: Context, { baseUrl, name, replaced }: Login, profile: Profile): void {
  if (replaced !== undefined && replaced.baseUrl !== withoutSlash(baseUrl)) {
    io.notice(`foley: the account "${name}" was for ${replaced.baseUrl} before`);
  }
  io.notice(`logged in to ${baseUrl.host} as ${profile.user_id}; the account is "${name}"`);
  const stronger = ['FOLEY_API_KEY', 'FOLEY_BASE_URL', 'FOLEY_TARGET'].filter(
    (variable) => (env[variable] ?? '') !== '',
  );
  if (stronger.length > 0) {
    io.notice(`foley: the environment is stronger than an account: ${stronger.join(', ')}`);
  }
}

function withoutSlash(url: URL): string {
  return url.href.replace(/\/$/, '');
}
