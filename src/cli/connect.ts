import { version } from '../../package.json';
import type { ApiClient } from '../api/client.ts';
import { createApiClient } from '../api/client.ts';
import type { ServiceAddress, ApiEvent } from '../api/request.ts';
import type { Transport } from '../api/transport/http.ts';
import type { Accounts } from '../config/accounts.ts';
import { readAccounts, selectAccount } from '../config/accounts.ts';
import { closeToOthers } from '../config/secret-file.ts';
import type { ServiceEvent } from '../service/running-service.ts';
import { startEmbedded } from '../target/embedded.ts';
import type { ServiceHost } from '../target/embedded.ts';
import { readKeyFile } from '../target/read-key.ts';
import type { Target } from '../target/resolve.ts';
import { isLocalOnPurpose, resolveTarget } from '../target/resolve.ts';
import { display, counted } from '../text/display.ts';
import type { Context, Connection, ConnectOptions } from './command.ts';

const DEFAULT_MAX_RETRIES = 4;

/**
 * Finds the service that is meant, starts it if it is the embedded one, and makes the client of it.
 * @throws Failure: usage, config, auth or state
 */
export async function connect(context: Context, options: ConnectOptions): Promise<Connection> {
  const target = await findTarget(context, options);
  if (target.kind === 'hosted') return connectTo(context, target.address, async () => {});
  if (target.notice !== undefined) context.io.warn(target.notice);
  const report = (event: ServiceEvent): void => {
    // With --json the last line of stderr is the error, and that was told before.
    if (isClosingEvent(event) && context.globals.json !== true) {
      context.io.notice(`foley: ${describeClosing(event)}`);
    }
  };
  const service = await startEmbedded(await serviceHost(context), {
    report,
    warmsUp: options.speaks === true,
  });
  return connectTo(context, service.address, () => service.close(context.signal));
}

/**
 * Which service the flags, the environment and the stored accounts mean; calls nothing.
 * @throws Failure: usage, config or auth
 */
export async function findTarget(
  context: Context,
  { publicOnly }: ConnectOptions = {},
): Promise<Target> {
  const { env, files, globals, io, signal } = context;
  const { apiKeyFile } = globals;
  const inputs = { flags: globals, env, publicOnly };
  if (isLocalOnPurpose(inputs)) return resolveTarget(inputs);
  const account = selectAccount(await storedAccounts(context), globals.account);
  if (apiKeyFile === undefined) return resolveTarget({ ...inputs, account });
  const keyFromFile = await readKeyFile(apiKeyFile, { files, stdin: io.stdin, signal });
  return resolveTarget({ ...inputs, account, keyFromFile });
}

/**
 * The stored accounts; their file is closed to others first when it was left open.
 * @throws Failure (config) when the file cannot be understood, or stays open
 */
export async function storedAccounts(context: Context): Promise<Accounts> {
  const { accountsFile } = await context.paths();
  const accounts = await readAccounts(context.files, accountsFile);
  if (accounts.all.size === 0) return accounts;
  const warning = await closeToOthers(accountsFile, context);
  if (warning !== undefined) context.io.warn(`foley: ${warning}`);
  return accounts;
}

/**
 * The client of one service, with the limits that the flags name.
 * @param transport how requests travel; by default over HTTP
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

function connectTo(
  context: Context,
  address: ServiceAddress,
  stop: () => Promise<void>,
): Connection {
  const client = openClient(context, address);
  return {
    client,
    target: address.kind,
    close: async () => {
      await client.close();
      await stop();
    },
  };
}

/** One line of `--verbose`: method, URL, status, milliseconds, request id. */
export function describeEvent(event: ApiEvent): string {
  if (event.type === 'retry') {
    const seconds = (event.delayMs / 1000).toFixed(1);
    return display(`foley: again in ${seconds} s (${event.reason}) ${event.requestId}`);
  }
  const outcome = event.type === 'answer' ? event.status : event.reason;
  const { method, ms, requestId, url } = event;
  return display(`foley: ${method} ${url} ${outcome} ${Math.round(ms)} ms ${requestId}`);
}

/** What an embedded service tells when it closes. */
export type ClosingEvent = Extract<
  ServiceEvent,
  { readonly type: 'finishing-answers' | 'finishing-jobs' | 'jobs-left' }
>;

/** What a service that closes waits for, or leaves, and how long that can be cut short. */
export function describeClosing({ type, count }: ClosingEvent): string {
  switch (type) {
    case 'finishing-answers':
      return `finishing ${counted(count, 'answer')} that ${count === 1 ? 'is' : 'are'} paid for; the next Ctrl-C cuts and refunds ${them(count)}`;
    case 'finishing-jobs':
      return `finishing ${counted(count, 'job')} that ${count === 1 ? 'was' : 'were'} accepted; the next Ctrl-C leaves ${them(count)} to the next foley`;
    case 'jobs-left':
      return `${counted(count, 'job')} ${count === 1 ? 'is' : 'are'} left; the next foley that uses this data finishes ${them(count)}`;
  }
}

/** Whether an event is one of those. */
export function isClosingEvent(event: ServiceEvent): event is ClosingEvent {
  return ['finishing-answers', 'finishing-jobs', 'jobs-left'].includes(event.type);
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}

/** What the embedded service of a command may use. */
export async function serviceHost(context: Context): Promise<ServiceHost> {
  const { env, files } = context;
  return { env, files, paths: await context.paths() };
}
