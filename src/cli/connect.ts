import { version } from '../../package.json';
import type { ApiClient } from '../api/client.ts';
import { createApiClient } from '../api/client.ts';
import type { ServiceAddress } from '../api/request.ts';
import type { Transport } from '../api/transport/http.ts';
import type { Accounts } from '../config/accounts.ts';
import { makePrivate, readAccounts, selectAccount } from '../config/accounts.ts';
import type { Target } from '../config/target.ts';
import { isLocalOnPurpose, resolveTarget } from '../config/target.ts';
import type { ServiceHost } from '../embedded/start.ts';
import { startEmbedded } from '../embedded/start.ts';
import type { AddedEngines, ServiceEvent } from '../service/running-service.ts';
import { display } from '../text/display.ts';
import type { ServiceConnection, ConnectOptions, Context } from './command.ts';
import { readKeyFile } from './read-input.ts';
import { describeClosing, describeEvent, isClosingEvent } from './render/service-events.ts';

const DEFAULT_MAX_RETRIES = 4;

/**
 * Connects to the service that the user selected. If that is the embedded service, starts it.
 * @throws Failure of kind `usage`, `config`, `auth` or `state`
 */
export async function connect(
  context: Context,
  options: ConnectOptions,
): Promise<ServiceConnection> {
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
  if (context.system.platform === 'win32') return undefined;
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
  const accounts = await readAccounts(context.system.files, accountsFile);
  if (accounts.all.size === 0) return accounts;
  const warning = await makePrivate(context.system, accountsFile);
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
  const { clock, random } = context.system;
  const { env, globals, io } = context;
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

/** Returns the paths, file system and environment variables for the embedded service. */
export async function serviceHost(context: Context): Promise<ServiceHost> {
  const { files } = context.system;
  const { env } = context;
  return { env, files, paths: await context.paths() };
}
