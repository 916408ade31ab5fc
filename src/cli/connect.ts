import { version } from '../../package.json';
import type { ApiClient } from '../api/client.ts';
import { createApiClient } from '../api/client.ts';
import { checkApiKey, isPlainOverNetwork, keyFailure, withHttp } from '../api/request.ts';
import type { ServiceAddress } from '../api/request.ts';
import type { Transport } from '../api/transport/http.ts';
import type { Account, Accounts } from '../config/accounts.ts';
import { makePrivate, readAccounts, selectAccount } from '../config/accounts.ts';
import type { Paths } from '../config/paths.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { loadEngineRegistrations, registrationsFile } from '../engines/registrations.ts';
import { configFailure, Failure, usageFailure } from '../errors/failure.ts';
import type {
  AddedEngines,
  OpenServiceOptions,
  RunningService,
  ServiceEvent,
} from '../service/running-service.ts';
import { display } from '../text/display.ts';
import type { StoreError } from '../service/store/open-store.ts';
import type { Connection, ConnectOptions, Context } from './command.ts';
import type { GlobalOptions } from './flags/global.ts';
import { missingBinary } from './missing-binary.ts';
import { readKeyFile } from './read-input.ts';
import { describeClosing, describeEvent, isClosingEvent } from './render/service-events.ts';

const DEFAULT_MAX_RETRIES = 4;

/**
 * Connects to the service that the user selected. If that is the embedded service, starts it.
 * @throws Failure of kind `usage`, `config`, `auth` or `state`
 */
export async function connect(context: Context, options: ConnectOptions): Promise<Connection> {
  const target = await findTarget(context, options);
  const service =
    target.kind === 'hosted' ? target : await startForCommand(context, target.notice, options);
  const client = openClient(context, service.address);
  return {
    client,
    target: target.kind,
    async close() {
      await client.close();
      if ('close' in service) await service.close(context.signal);
    },
  };
}

async function startForCommand(
  context: Context,
  notice: string | undefined,
  { speaks }: ConnectOptions,
): ReturnType<typeof startEmbedded> {
  const { globals, io } = context;
  if (notice !== undefined) io.warn(notice);
  const report = (event: ServiceEvent): void => {
    // With --json, the last line of stderr must stay the error.
    if (isClosingEvent(event) && globals.json !== true) {
      io.notice(`foley: ${describeClosing(event, context.signal)}`);
    }
  };
  const host = { ...(await serviceHost(context)), resident: () => residentOptions(context) };
  return startEmbedded(host, { report, warmsUp: speaks === true });
}

async function residentOptions(context: Context): Promise<AddedEngines['resident']> {
  // Other users of Windows could open the pipe of a process.
  if (context.platform === 'win32') return undefined;
  const { resolveSetting } = await import('../config/settings.ts');
  const keepAliveMs = resolveSetting(await context.settings(), 'engine.keepAlive')?.value ?? 0;
  if (keepAliveMs === 0) return undefined;
  const { runtime } = await context.paths();
  return {
    folder: runtime,
    keepAliveMs,
    onAlone(engine, reason) {
      if (context.globals.json === true) return;
      context.io.warn(`foley: the engine ${engine} ends with this command: ${display(reason)}`);
    },
  };
}

/**
 * Returns the service that the flags, the environment and the stored accounts select. Sends no request.
 * @throws Failure of kind `usage`, `config` or `auth`
 */
export async function findTarget(
  context: Context,
  { publicOnly }: ConnectOptions = {},
): Promise<Target> {
  const { env, globals } = context;
  const { apiKeyFile } = globals;
  const inputs = { flags: globals, env, publicOnly };
  if (isLocalOnPurpose(inputs)) return resolveTarget(inputs);
  const account = selectAccount(await storedAccounts(context), globals.account);
  if (apiKeyFile === undefined) return resolveTarget({ ...inputs, account });
  const keyFromFile = await readKeyFile(apiKeyFile, context);
  return resolveTarget({ ...inputs, account, keyFromFile });
}

/**
 * Returns the stored accounts. If other users can access the accounts file, makes the file private.
 * @throws Failure of kind `config` when the file is invalid or cannot be made private
 */
export async function storedAccounts(context: Context): Promise<Accounts> {
  const { accountsFile } = await context.paths();
  const accounts = await readAccounts(context.files, accountsFile);
  if (accounts.all.size === 0) return accounts;
  const warning = await makePrivate(accountsFile, context);
  if (warning !== undefined) context.io.warn(`foley: ${warning}`);
  return accounts;
}

/**
 * Creates the API client for a service. Global flags such as `--max-retries` set the client's retry, time and size
 * limits.
 * @param transport sends the requests; default: HTTP
 */
export function openClient(
  context: Context,
  address: ServiceAddress,
  transport?: Transport,
): ApiClient {
  const { clock, env, globals, io, random } = context;
  return createApiClient({
    address,
    transport,
    clock,
    random,
    version,
    env,
    limits: {
      maxRetries: globals.maxRetries ?? DEFAULT_MAX_RETRIES,
      responseTimeoutMs: globals.responseTimeout,
      idleTimeoutMs: globals.idleTimeout,
      maxBytes: globals.maxBytes,
    },
    observer: (event) => {
      if (globals.verbose === true) io.complain(describeEvent(event));
    },
  });
}

export interface TargetInputs {
  readonly flags: Pick<
    GlobalOptions,
    'account' | 'apiKeyFile' | 'baseUrl' | 'local' | 'quiet' | 'realtimeUrl'
  >;
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
export function isLocalOnPurpose({ env, flags }: Pick<TargetInputs, 'env' | 'flags'>): boolean {
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

/** Returns the paths, file system and environment variables for the embedded service. */
export async function serviceHost(context: Context): Promise<ServiceHost> {
  const { env, files } = context;
  return { env, files, paths: await context.paths() };
}

/**
 * Starts the embedded service for one command, on a free loopback port with a random API key. The returned function
 * `close` waits for running requests and jobs. If the signal `hurry` aborts, `close` stops waiting. The next service
 * that starts continues unfinished jobs.
 * @throws Failure of kind `state` if the data of the service cannot be used
 */
export async function startEmbedded(
  host: ServiceHost,
  options: Partial<OpenServiceOptions> = {},
): Promise<{
  readonly address: ServiceAddress;
  readonly close: (hurry?: AbortSignal) => Promise<void>;
}> {
  const service = await startService(options, host);
  return {
    address: {
      kind: 'embedded',
      baseUrl: new URL(service.baseUrl),
      realtimeUrl: new URL(service.realtimeUrl),
      apiKey: service.apiKey,
    },
    close: (hurry) => service.close(hurry),
  };
}

/** The paths, file system and environment variables that the embedded service uses. */
export interface ServiceHost {
  readonly paths: Pick<Paths, 'engines' | 'serviceData'>;
  readonly files: FileSystem;
  /** Environment variables of this process. Engines that the user added receive only an allowed subset of them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the options for engine processes that stay ready for the next command. Returns undefined if engine
   * processes must end with the service.
   */
  readonly resident?: () => Promise<AddedEngines['resident']>;
}

/**
 * Starts the embedded service. Its data is in the state folder unless the options name another folder.
 * @throws Failure: `config` for an invalid list of engines, `state` for unusable data, `usage` if the host or port
 * cannot be used
 */
export async function startService(
  options: Partial<OpenServiceOptions>,
  host: ServiceHost,
): Promise<RunningService> {
  const { env, files, paths } = host;
  const added = await loadEngineRegistrations(files, registrationsFile(paths.engines));
  const resident = added.length === 0 ? undefined : await host.resident?.();
  return openService({
    ...options,
    dataDir: options.dataDir ?? paths.serviceData,
    engines: { added, env, nodePath: process.execPath, resident },
  });
}

/**
 * Opens the embedded service.
 * @throws Failure: `state` for unusable data, `usage` if the host or port cannot be used
 */
export async function openService(options: OpenServiceOptions): Promise<RunningService> {
  const service = await import('../service/index.ts');
  try {
    return await service.openService(options);
  } catch (error) {
    if (service.isStoreError(error)) throw stateFailure(error);
    if (service.isListenError(error)) {
      throw usageFailure(
        error.message,
        'Choose another --host or --port; --port 0 selects a free port.',
      );
    }
    throw error;
  }
}

const WHAT_TO_DO = {
  unwritable: 'Check the permissions and free space of that folder.',
  newer: 'Update foley, or use another --data-dir.',
  older: 'Move the data away to start over, or use another --data-dir.',
  locked: 'Wait for the other process, or stop it, and try again.',
  corrupt: 'Move the data away to start over; `foley doctor` shows details.',
} as const;

function stateFailure(error: StoreError): Failure {
  const { path, reason } = error;
  if (reason === 'no_binary') return missingBinary(path, error.cause);
  return new Failure(`the embedded service cannot use its stored data: ${error.message}`, {
    code: 'state',
    exit: 'state',
    hint: WHAT_TO_DO[reason],
    cause: error,
  });
}
