import { version } from '../../package.json';
import type { ApiClient } from '../api/client.ts';
import { createApiClient } from '../api/client.ts';
import type { ServiceAddress, ApiEvent } from '../api/request.ts';
import type { Transport } from '../api/transport/http.ts';
import type { Accounts } from '../config/accounts.ts';
import { readAccounts, selectAccount, closeToOthers } from '../config/accounts.ts';
import type {
  ServiceEvent,
  OpenServiceOptions,
  RunningService,
} from '../service/running-service.ts';
import { readKeyFile } from './read-input.ts';
import type { Target } from './target.ts';
import { isLocalOnPurpose, resolveTarget } from './target.ts';
import { display, counted } from '../text/display.ts';
import type { Context, Connection, ConnectOptions } from './command.ts';
import type { Paths } from '../config/paths.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { loadEngineRegistrations, registrationsFile } from '../engines/registrations.ts';
import { Failure, usageFailure } from '../errors/failure.ts';

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
    // With --json, the last line of stderr must stay the error.
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
    return display(`foley: retrying in ${seconds} s (${event.reason}) ${event.requestId}`);
  }
  const outcome = event.type === 'response' ? event.status : event.reason;
  const { method, ms, requestId, url } = event;
  return display(`foley: ${method} ${url} ${outcome} ${Math.round(ms)} ms ${requestId}`);
}

/** Events of an embedded service that is closing. */
export type ClosingEvent = Extract<
  ServiceEvent,
  { readonly type: 'finishing-answers' | 'finishing-jobs' | 'jobs-left' }
>;

/** What a service that closes waits for, or leaves, and how long that can be cut short. */
export function describeClosing({ type, count }: ClosingEvent): string {
  switch (type) {
    case 'finishing-answers':
      return `finishing ${counted(count, 'billed response')}; press Ctrl-C again to cut and refund ${them(count)}`;
    case 'finishing-jobs':
      return `finishing ${counted(count, 'accepted job')}; press Ctrl-C again to leave ${them(count)} to the next foley`;
    case 'jobs-left':
      return `${counted(count, 'job')} unfinished; the next foley that uses this data finishes ${them(count)}`;
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

/** The embedded service of one command. */
interface EmbeddedService {
  readonly address: ServiceAddress;
  /**
   * Finishes what runs and the jobs that were left behind, then ends the service. Once `hurry` is aborted
   * they are left to the next one on the same data.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/**
 * Starts the embedded service for as long as a command needs it: on this computer, a free port and
 * a random key.
 * @throws Failure (state) when its data cannot be used
 */
export async function startEmbedded(
  host: ServiceHost,
  options: Partial<OpenServiceOptions> = {},
): Promise<EmbeddedService> {
  const failures = new EngineFailures();
  const report = (event: ServiceEvent): void => {
    failures.note(event);
    options.report?.(event);
  };
  const service = await startService({ ...options, report }, host);
  return {
    address: {
      kind: 'embedded',
      baseUrl: new URL(service.baseUrl),
      realtimeUrl: new URL(service.realtimeUrl),
      apiKey: service.apiKey,
      failureOf: (requestId) => failures.of(requestId),
    },
    close: (hurry) => service.close(hurry),
  };
}

/** More requests than one command has open at the same time. */
const MOST_FAILURES = 64;

/** What engines said when they failed, for the client in this process; the newest are kept. */
class EngineFailures {
  readonly #messages = new Map<string, string>();

  note(event: ServiceEvent): void {
    if (event.type !== 'failure') return;
    const { error, requestId } = event;
    this.#messages.delete(requestId);
    // A refund that fails is a failure of its own, and no engine's.
    if (!(error instanceof Error) || error.name !== 'EngineError') return;
    this.#messages.set(requestId, error.message.replace(/\.$/, ''));
    const [oldest = ''] = this.#messages.keys();
    if (this.#messages.size > MOST_FAILURES) this.#messages.delete(oldest);
  }

  of(requestId: string): string | undefined {
    return this.#messages.get(requestId);
  }
}

/** Where the service runs, and what it may read there. */
export interface ServiceHost {
  readonly paths: Pick<Paths, 'engines' | 'serviceData'>;
  readonly files: FileSystem;
  /** For the engines that were added, which get a few of these variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts the embedded service: the one place, for commands and for `foley serve`, that reaches it.
 * Its data is in the state folder unless the options say otherwise.
 * @throws Failure: config when the list of engines is broken, state when its data cannot be used, usage when it cannot listen where it should
 */
export async function startService(
  options: Partial<OpenServiceOptions>,
  host: ServiceHost,
): Promise<RunningService> {
  const { env, files, paths } = host;
  const added = await loadEngineRegistrations(files, registrationsFile(paths.engines));
  const service = await import('../service/index.ts');
  try {
    return await service.openService({
      ...options,
      dataDir: options.dataDir ?? paths.serviceData,
      engines: { added, env, nodePath: process.execPath },
    });
  } catch (error) {
    if (service.isStoreError(error)) throw stateFailure(error, error.reason);
    if (service.isListenError(error)) {
      throw usageFailure(error.message, 'Choose another --host or --port; 0 is a free port.');
    }
    throw error;
  }
}

const WHAT_TO_DO = {
  unwritable: 'Check the permissions and free space of that folder.',
  newer: 'Use the newer foley, or another --data-dir.',
  locked: 'Wait for the other process, or stop it, and try again.',
  corrupt: 'Move it away to start over; `foley doctor` shows details.',
} as const;

function stateFailure(error: Error, reason: keyof typeof WHAT_TO_DO | 'no_binary'): Failure {
  if (reason === 'no_binary') return missingBinary('libsql', error.cause);
  return new Failure(`the embedded service cannot use its data: ${error.message}`, {
    code: 'state',
    exit: 'state',
    hint: WHAT_TO_DO[reason],
    cause: error,
  });
}

/**
 * Loads sharp, which draws the pictures of the embedded service, so that a missing binary is known before
 * a job is made.
 * @throws Failure (state)
 */
export async function requireSharp(): Promise<void> {
  try {
    await import('sharp');
  } catch (error) {
    throw missingBinary('sharp', error);
  }
}

/** The failure of a package whose binary for this system is not installed, or is one of another system. */
export function missingBinary(name: string, cause: unknown): Failure {
  const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return new Failure(
    `the package ${name} cannot be loaded on ${process.platform} ${process.arch}: ${reason}`,
    {
      code: 'state',
      exit: 'state',
      hint:
        'Its binary is an optional package of npm. Reinstall foley on this computer: ' +
        '`npm install -g foley --include=optional`, or in a project: delete node_modules, then `npm install --include=optional`.',
      cause,
    },
  );
}
