import { checkApiKey, keyFailure, withHttp, isPlainOverNetwork } from '../api/request.ts';
import type { ServiceAddress } from '../api/request.ts';
import type { Account } from '../config/accounts.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';

/** Everything that says which service is meant. */
export interface TargetInputs {
  readonly flags: {
    readonly local?: boolean | undefined;
    readonly baseUrl?: string | undefined;
    readonly realtimeUrl?: string | undefined;
    readonly apiKeyFile?: string | undefined;
    readonly account?: string | undefined;
    readonly quiet?: boolean | undefined;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What was read from `--api-key-file`. */
  readonly keyFromFile?: string | undefined;
  /** The stored account that `--account` names, else the one that counts without a name. */
  readonly account?: Account | undefined;
  /** Only public documents will be asked for, which is done without a key. */
  readonly publicOnly?: boolean | undefined;
}

export type Target =
  | {
      readonly kind: 'embedded';
      /** One line for stderr, when nothing was configured and it may be shown. */
      readonly notice: string | undefined;
    }
  | {
      readonly kind: 'hosted';
      readonly address: ServiceAddress;
      /** Where the key of the address comes from; without one when it has none. */
      readonly keySource: KeySource | undefined;
    };

/** Where an API key comes from. */
export type KeySource =
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: 'FOLEY_API_KEY' }
  | { readonly kind: 'account'; readonly name: string };

const NOTICE =
  'foley: using the embedded service; choose another with --base-url, or hide this line with --local';

/**
 * Which service a command talks to: the table of the contract's section 1 and nothing else.
 * @throws Failure: usage or config, or auth when a key is missing, empty or not for that service
 */
export function resolveTarget(inputs: TargetInputs): Target {
  const { env, flags } = inputs;
  const wanted = readWanted(env);
  if (flags.local === true) return onPurpose(flags, '--local');
  if (wanted === 'local') return onPurpose(flags, 'FOLEY_TARGET=local');
  const key = findKey(inputs);
  const baseUrl = findBaseUrl(inputs);
  if (baseUrl === undefined) return withoutBaseUrl(inputs, key, wanted);
  const address = hosted(inputs, parseBaseUrl(baseUrl), key);
  return {
    kind: 'hosted',
    address,
    keySource: inputs.publicOnly === true ? undefined : key?.source,
  };
}

/** Whether the embedded service is asked for by name, so that accounts and key files are not read. */
export function isLocalOnPurpose({ env, flags }: Pick<TargetInputs, 'env' | 'flags'>): boolean {
  return flags.local === true || env['FOLEY_TARGET'] === 'local';
}

function readWanted(env: TargetInputs['env']): 'hosted' | 'local' | undefined {
  const wanted = nonEmpty(env['FOLEY_TARGET']);
  if (wanted === undefined || wanted === 'hosted' || wanted === 'local') return wanted;
  throw configFailure(`FOLEY_TARGET is "${wanted}"; it takes local or hosted`);
}

function onPurpose(flags: TargetInputs['flags'], reason: string): Target {
  const contradicting = [
    ['--base-url', flags.baseUrl],
    ['--realtime-url', flags.realtimeUrl],
    ['--api-key-file', flags.apiKeyFile],
    ['--account', flags.account],
  ].find(([, value]) => value !== undefined);
  if (contradicting === undefined) return { kind: 'embedded', notice: undefined };
  throw usageFailure(
    `${reason} and ${contradicting[0]} name different services`,
    'Leave one of them out.',
  );
}

interface Key {
  readonly value: string;
  readonly source: KeySource;
  /** The account that it is stored with, which binds it to that account's origins. */
  readonly boundTo?: Account;
}

/** Flag, environment, stored account; an account that is named by its flag goes before the environment. */
function findKey({ account, env, flags, keyFromFile }: TargetInputs): Key | undefined {
  if (flags.apiKeyFile !== undefined) {
    const value = checkApiKey(keyFromFile ?? '', `--api-key-file ${flags.apiKeyFile}`);
    return { value, source: { kind: 'file', name: flags.apiKeyFile } };
  }
  const fromEnvironment = env['FOLEY_API_KEY'];
  if (fromEnvironment !== undefined && flags.account === undefined) {
    const value = checkApiKey(fromEnvironment, 'FOLEY_API_KEY');
    return { value, source: { kind: 'environment', name: 'FOLEY_API_KEY' } };
  }
  if (account === undefined) return undefined;
  const value = checkApiKey(account.apiKey, `the key of the account "${account.name}"`);
  return { value, boundTo: account, source: { kind: 'account', name: account.name } };
}

function findBaseUrl({ account, env, flags }: TargetInputs): GivenUrl | undefined {
  const stored = fromAccount(account, account?.baseUrl);
  return (
    givenUrl('--base-url', flags.baseUrl) ??
    (flags.account === undefined ? undefined : stored) ??
    givenUrl('FOLEY_BASE_URL', nonEmpty(env['FOLEY_BASE_URL'])) ??
    stored
  );
}

function findRealtimeUrl(
  { account, env, flags }: TargetInputs,
  baseUrl: URL,
): GivenUrl | undefined {
  // An account's realtime host goes with its own base URL only.
  const isAccounts = account !== undefined && originOf(account.baseUrl) === baseUrl.origin;
  const stored = isAccounts ? fromAccount(account, account.realtimeUrl) : undefined;
  return (
    givenUrl('--realtime-url', flags.realtimeUrl) ??
    (flags.account === undefined ? undefined : stored) ??
    givenUrl('FOLEY_REALTIME_URL', nonEmpty(env['FOLEY_REALTIME_URL'])) ??
    stored
  );
}

function hosted(inputs: TargetInputs, baseUrl: URL, key: Key | undefined): ServiceAddress {
  const realtime = findRealtimeUrl(inputs, baseUrl);
  const realtimeUrl = realtime === undefined ? withWebSocket(baseUrl) : parseRealtimeUrl(realtime);
  const address = { kind: 'hosted', baseUrl, realtimeUrl } as const;
  if (inputs.publicOnly === true) return { ...address, apiKey: undefined };
  if (key === undefined) {
    throw keyFailure(
      `no API key for ${baseUrl.host}`,
      'Set FOLEY_API_KEY, pass --api-key-file PATH, or run `foley auth login`.',
    );
  }
  if (key.boundTo !== undefined) requireOwnOrigins(key.boundTo, baseUrl, realtimeUrl);
  return { ...address, apiKey: key.value };
}

/** A stored key goes to the two origins of its account and nowhere else. */
function requireOwnOrigins(account: Account, baseUrl: URL, realtimeUrl: URL): void {
  const own = new Set([originOf(account.baseUrl), originOf(account.realtimeUrl ?? '')]);
  const baseMatches = originOf(account.baseUrl) === baseUrl.origin;
  if (baseMatches && own.has(withHttp(realtimeUrl).origin)) return;
  const stranger = baseMatches ? realtimeUrl : baseUrl;
  throw keyFailure(
    `the stored key of the account "${account.name}" is not for ${stranger.origin}`,
    `Give a key for that service with FOLEY_API_KEY or --api-key-file, or store one: \`foley auth login --base-url ${baseUrl.origin}\`.`,
  );
}

function withoutBaseUrl(
  { env, flags }: TargetInputs,
  key: Key | undefined,
  wanted: 'hosted' | undefined,
): Target {
  const realtime =
    givenUrl('--realtime-url', flags.realtimeUrl) ??
    givenUrl('FOLEY_REALTIME_URL', nonEmpty(env['FOLEY_REALTIME_URL']));
  if (key !== undefined || realtime !== undefined) {
    throw usageFailure(
      `${key === undefined ? realtime?.source : 'an API key'} is given, but no service`,
      'Name the service with --base-url URL or FOLEY_BASE_URL, or store both: `foley auth login --base-url URL`.',
    );
  }
  if (wanted === 'hosted') {
    throw keyFailure(
      'FOLEY_TARGET=hosted forbids the embedded service, and no hosted service is configured',
      'Set FOLEY_BASE_URL and FOLEY_API_KEY, or run `foley auth login`.',
    );
  }
  const silent = flags.quiet === true && nonEmpty(env['CI']) === undefined;
  return { kind: 'embedded', notice: silent ? undefined : NOTICE };
}

function givenUrl(source: string, value: string | undefined): GivenUrl | undefined {
  return value === undefined ? undefined : { source, value };
}

function fromAccount(
  account: Account | undefined,
  value: string | undefined,
): GivenUrl | undefined {
  return givenUrl(`the address of the account "${account?.name}"`, value);
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function originOf(url: string): string {
  return URL.canParse(url) ? withHttp(new URL(url)).origin : '';
}

/** A URL and its source: a flag, a variable, an account. */
export interface GivenUrl {
  readonly value: string;
  /** Such as `--base-url` or `FOLEY_BASE_URL`. */
  readonly source: string;
}

/**
 * The base URL of a service out of what was given.
 * @throws Failure (usage) for what is no such address, or would be called without encryption
 */
export function parseBaseUrl(given: GivenUrl): URL {
  return check(given, ['https:', 'http:'], 'https://api.example.com');
}

/** The realtime host out of what was given; `https:` is taken for `wss:`. Throws as above. */
export function parseRealtimeUrl(given: GivenUrl): URL {
  const url = check(given, ['wss:', 'ws:', 'https:', 'http:'], 'wss://realtime.example.com');
  return withWebSocket(url);
}

/** The same address with `ws:` for `http:` and `wss:` for `https:`. */
export function withWebSocket(url: URL): URL {
  return new URL(url.href.replace(/^http/, 'ws'));
}

function check({ source, value }: GivenUrl, schemes: readonly string[], example: string): URL {
  const fail = source.startsWith('--') ? usageFailure : configFailure;
  if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
    throw fail(`${source} is not a service URL`, `Use a URL such as ${example}.`);
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    throw fail(`${source} contains a user name or password`, 'Set the key with FOLEY_API_KEY.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw fail(`${source} has a query or fragment`, `Use a URL such as ${example}.`);
  }
  if (isPlainOverNetwork(url)) {
    const secure = url.protocol === 'http:' ? 'https://' : 'wss://';
    throw fail(
      `${source} is ${url.protocol}//${url.host}, which is not encrypted`,
      `Use ${secure}; plain ${url.protocol.slice(0, -1)} works with loopback hosts only.`,
    );
  }
  return url;
}
