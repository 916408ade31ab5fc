import { checkApiKey, isPlainOverNetwork, keyFailure, withHttp } from '../api/request.ts';
import type { ServiceAddress } from '../api/request.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import type { Account } from './accounts.ts';

export interface TargetInputs {
  /** The global flags that select the service (docs/reference.md). */
  readonly flags: {
    readonly account?: string | undefined;
    readonly apiKeyFile?: string | undefined;
    readonly baseUrl?: string | undefined;
    readonly local?: boolean | undefined;
    readonly quiet?: boolean | undefined;
    readonly realtimeUrl?: string | undefined;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly keyFromFile?: string | undefined;
  /** The stored account that `--account` names, else the default account. */
  readonly account?: Account | undefined;
  /** Whether the command reads only public documents, which require no API key. */
  readonly publicOnly?: boolean | undefined;
}

export type Target =
  | {
      readonly kind: 'embedded';
      /** A notice for stderr that foley uses the embedded service by default; undefined if no notice is needed. */
      readonly notice: string | undefined;
    }
  | {
      readonly kind: 'hosted';
      readonly address: ServiceAddress;
      /** Where the API key comes from; undefined if no key is sent. */
      readonly keySource: KeySource | undefined;
    };

export type KeySource =
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: 'FOLEY_API_KEY' }
  | { readonly kind: 'account'; readonly name: string };

const NOTICE =
  'foley: using the embedded service; choose another with --base-url, or hide this line with --local';

/**
 * Selects the service by flags, environment and account, in this order.
 * @throws Failure: `usage`, `config`, or `auth` for an API key that is missing, invalid or for another service
 */
export function resolveTarget(inputs: TargetInputs): Target {
  const { env, flags } = inputs;
  const wanted = readWanted(env);
  if (flags.local === true) return onPurpose(flags, '--local');
  if (wanted === 'local') return onPurpose(flags, 'FOLEY_TARGET=local');
  const key = findKey(inputs);
  const baseUrl = findUrl(inputs, 'base', inputs.account);
  if (baseUrl === undefined) return withoutBaseUrl(inputs, key, wanted);
  const address = hosted(inputs, parseBaseUrl(baseUrl), key);
  return {
    kind: 'hosted',
    address,
    keySource: address.apiKey === undefined ? undefined : key?.source,
  };
}

/**
 * Returns whether a flag or the environment selects the embedded service. If so, foley reads no accounts or key files.
 */
export function isLocalOnPurpose({ env, flags }: TargetInputs): boolean {
  return flags.local === true || env['FOLEY_TARGET'] === 'local';
}

function readWanted(env: TargetInputs['env']): 'hosted' | 'local' | undefined {
  const wanted = nonEmpty(env['FOLEY_TARGET']);
  if (wanted === undefined || wanted === 'hosted' || wanted === 'local') return wanted;
  throw configFailure(`FOLEY_TARGET is "${wanted}"; it takes local or hosted`);
}

function onPurpose(flags: TargetInputs['flags'], localChoice: string): Target {
  const contradicting = [
    ['--base-url', flags.baseUrl],
    ['--realtime-url', flags.realtimeUrl],
    ['--api-key-file', flags.apiKeyFile],
    ['--account', flags.account],
  ].find(([, value]) => value !== undefined);
  if (contradicting === undefined) return { kind: 'embedded', notice: undefined };
  const [otherFlag] = contradicting;
  throw usageFailure(
    `${localChoice} and ${otherFlag} name different services`,
    'Leave one of them out.',
  );
}

interface Key {
  readonly value: string;
  readonly source: KeySource;
  /** The stored account that contains this key. If set, foley sends the key only to the URLs of that account. */
  readonly boundTo?: Account;
}

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
  // `--account` takes precedence over FOLEY_API_KEY.
  if (account === undefined) return undefined;
  const value = checkApiKey(account.apiKey, `the key of the account "${account.name}"`);
  return { value, boundTo: account, source: { kind: 'account', name: account.name } };
}

function findUrl(
  { env, flags }: TargetInputs,
  name: 'base' | 'realtime',
  account: Account | undefined,
): GivenUrl | undefined {
  const stored = account?.[`${name}Url`];
  const variable = `FOLEY_${name.toUpperCase()}_URL`;
  const source = `the address of the account "${account?.name}"`;
  return (
    givenUrl(`--${name}-url`, flags[`${name}Url`]) ??
    (flags.account === undefined ? undefined : givenUrl(source, stored)) ??
    givenUrl(variable, nonEmpty(env[variable])) ??
    givenUrl(source, stored)
  );
}

function hosted(inputs: TargetInputs, baseUrl: URL, key: Key | undefined): ServiceAddress {
  const { account } = inputs;
  // Use the realtime host of an account only with the base URL of that account.
  const isAccounts = account !== undefined && originOf(account.baseUrl) === baseUrl.origin;
  const realtime = findUrl(inputs, 'realtime', isAccounts ? account : undefined);
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

function requireOwnOrigins(account: Account, baseUrl: URL, realtimeUrl: URL): void {
  const own = new Set([originOf(account.baseUrl), originOf(account.realtimeUrl ?? '')]);
  const baseMatches = originOf(account.baseUrl) === baseUrl.origin;
  if (baseMatches && own.has(withHttp(realtimeUrl).origin)) return;
  const otherService = baseMatches ? realtimeUrl : baseUrl;
  throw keyFailure(
    `the stored API key of account "${account.name}" is for another service, not for ${otherService.origin}`,
    `Give an API key for ${otherService.origin} with FOLEY_API_KEY or --api-key-file, or store one: \`foley auth login --base-url ${baseUrl.origin}\`.`,
  );
}

function withoutBaseUrl(
  inputs: TargetInputs,
  key: Key | undefined,
  wanted: 'hosted' | undefined,
): Target {
  const { env, flags } = inputs;
  const realtime = findUrl(inputs, 'realtime', undefined);
  if (key !== undefined || realtime !== undefined) {
    const keyOrUrl = key === undefined ? realtime?.source : 'an API key';
    throw usageFailure(
      `${keyOrUrl} is given, but the address of the service is missing`,
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

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function originOf(url: string): string {
  return URL.canParse(url) ? withHttp(new URL(url)).origin : '';
}

export interface GivenUrl {
  readonly value: string;
  readonly source: string;
}

/**
 * Parses the base URL of a service. Unencrypted URLs are allowed only for this computer, such as `http://localhost`.
 * @throws Failure of kind `usage` or `config`
 */
export function parseBaseUrl(given: GivenUrl): URL {
  return check(given, ['https:', 'http:'], 'https://api.example.com');
}

/** Parses the URL of the realtime host; converts `https:` to `wss:`. Throws the same errors as {@link parseBaseUrl}. */
export function parseRealtimeUrl(given: GivenUrl): URL {
  const url = check(given, ['wss:', 'ws:', 'https:', 'http:'], 'wss://realtime.example.com');
  return withWebSocket(url);
}

/** Returns a URL with `ws:` instead of `http:`, and `wss:` instead of `https:`. */
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
