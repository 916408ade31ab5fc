import type { Context } from '../../src/cli/context.ts';
import type { Account, Accounts } from '../../src/config/accounts.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { GivenUrl } from '../../src/target/service-url.ts';
import { parseBaseUrl, parseRealtimeUrl, withWebSocket } from '../../src/target/service-url.ts';

/** What an account will be called and which service it is for. */
export interface Login {
  readonly name: string;
  readonly baseUrl: URL;
  readonly realtimeUrl: URL;
  /** The realtime host, where it is not that of the base URL. */
  readonly ownRealtime: URL | undefined;
  /** The stored account that it takes the place of. */
  readonly replaced: Account | undefined;
}

const FIRST_NAME = 'default';

/**
 * Decides name and addresses from the flags, an account of that name, and the environment.
 * @throws Failure: usage or config
 */
export function planLogin({ env, globals }: Context, accounts: Accounts): Login {
  if (globals.local === true) {
    throw usageFailure(
      '--local is the embedded service, which needs no account',
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
      'it is not said which service the key is for',
      'Name it: foley auth login --base-url https://api.example.com',
    );
  }
  const baseUrl = parseBaseUrl(given);
  const name = checkName(globals.account ?? nameFor(baseUrl, accounts));
  const replaced = accounts.all.get(name);
  const realtime =
    from('--realtime-url', globals.realtimeUrl) ??
    (given.source === 'FOLEY_BASE_URL' ? realtimeOf(env) : undefined) ??
    keptRealtime(baseUrl, replaced);
  const ownRealtime = realtime === undefined ? undefined : parseRealtimeUrl(realtime);
  const realtimeUrl = ownRealtime ?? withWebSocket(baseUrl);
  return { name, baseUrl, realtimeUrl, ownRealtime, replaced };
}

/**
 * Without a name, an account of the same service is meant; else the first one is called "default",
 * and a further one after its host, so that no key of another service is replaced.
 */
function nameFor(baseUrl: URL, { all, current }: Accounts): string {
  const same = [...all.values()]
    .filter((account) => originOf(account.baseUrl) === baseUrl.origin)
    .map(({ name }) => name);
  if (current !== undefined && same.includes(current)) return current;
  return same[0] ?? (all.has(FIRST_NAME) ? baseUrl.host.replaceAll(/[^\w.-]/g, '-') : FIRST_NAME);
}

/** It belongs to the base URL beside it, and a key must not go to the host of another service. */
function realtimeOf(env: Context['env']): GivenUrl | undefined {
  return from('FOLEY_REALTIME_URL', env['FOLEY_REALTIME_URL']);
}

function keptRealtime(baseUrl: URL, replaced: Account | undefined): GivenUrl | undefined {
  if (replaced === undefined || originOf(replaced.baseUrl) !== baseUrl.origin) return undefined;
  return from(`the realtime address of the account "${replaced.name}"`, replaced.realtimeUrl);
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw usageFailure(
    `--account is "${name}"; a name has 1 to 64 letters, digits, dots, dashes or underscores`,
    'It begins with a letter or a digit.',
  );
}

function from(source: string, value: string | undefined): GivenUrl | undefined {
  return value === undefined || value === '' ? undefined : { source, value };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
