import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openService } from '../embedded/start.ts';
import { checkAcceptedKey, DEFAULT_ACCOUNT } from '../embedded/accepted-keys.ts';
import { parseFaultRule, printFaultEffect } from '../embedded/fault-rule.ts';
import { CREDITS_MAX, parseRate, SERVED_MODELS } from '../embedded/service-options.ts';
import { readLock } from '../durable/lock.ts';
import { systemFiles } from '../system/file-system.ts';
import type { Processes } from '../system/processes.ts';
import { systemProcesses } from '../system/processes.ts';
import { usageFailure } from '../errors/failure.ts';
import type { FaultRule } from '../service/http/faults.ts';
import type { AccountKey, ServiceEvent, ServiceSettings } from '../service/running-service.ts';
import type { Rules } from './call.ts';
import { checkOptions, checkValue, publicError } from './call.ts';

export { FoleyError } from './foley-error.ts';

/** The options of {@link startService}. All options may be omitted. */
export interface ServiceOptions {
  /** Credits of every account at the start; default 1,000,000. */
  readonly credits?: number | undefined;
  /** Maximum rate of requests for each account, as requests per second or as text (`10/s`); default: no limit. */
  readonly rateLimit?: number | string | undefined;
  /** Rules that inject faults, as for `foley serve --fault`: `POST /**; status=503; times=2`. */
  readonly faults?: readonly string[] | undefined;
  /** Folder for the data of the service, kept after `close`; default: a temporary folder that `close` removes. */
  readonly dataDir?: string | undefined;
  /** API keys to accept; default: one random key. Keys without an account name share one account. */
  readonly keys?: readonly (string | ServiceKey)[] | undefined;
  /** Ids of models that the service reports as unavailable. */
  readonly unavailable?: readonly string[] | undefined;
}

/** An API key and the account that pays for its requests. */
export interface ServiceKey {
  readonly key: string;
  readonly account?: string | undefined;
}

/** A running embedded service, which {@link startService} started. */
export interface EphemeralService {
  /** Base URL, such as `http://127.0.0.1:40123`, without a slash at the end. */
  readonly baseUrl: string;
  /** Base URL for WebSockets, such as `ws://127.0.0.1:40123`. */
  readonly realtimeUrl: string;
  /** The first of the accepted API keys. */
  readonly apiKey: string;
  /** Returns the requests that the service has answered so far, oldest first. */
  requests(): readonly ServiceRequest[];
  /**
   * Replaces all fault rules. An empty list ends all faults.
   * @throws FoleyError for an invalid rule; the service then keeps the earlier rules
   */
  setFaults(rules: readonly string[]): void;
  /** Stops the service. Removes its data, unless `dataDir` was given. */
  close(): Promise<void>;
}

/** A request that the service has answered. */
export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  /** Status of the response; 101 for an accepted WebSocket. */
  readonly status: number;
  /** Milliseconds from the request to the beginning of the response. */
  readonly durationMs: number;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  /** Name of the account whose API key was sent; undefined if no accepted key was sent. */
  readonly account: string | undefined;
  /** Credits that the request cost; undefined if the response does not report them. */
  readonly credits: number | undefined;
  /** The faults that the service injected into the response, such as `status=503`. */
  readonly faults: readonly string[];
}

/**
 * Starts an embedded service in this process, on a free loopback port. The service reads no environment variables and
 * no foley configuration.
 * @throws {FoleyError} with exit code 2 for an invalid option, or 32 for a folder that cannot be used
 */
export async function startService(options: ServiceOptions = {}): Promise<EphemeralService> {
  try {
    return await start(options);
  } catch (error) {
    throw publicError(error);
  }
}

async function start(given: ServiceOptions): Promise<EphemeralService> {
  const settings = readSettings(given);
  const requests: ServiceRequest[] = [];
  const folder = given.dataDir ?? (await createTemporaryFolder());
  const isTemporary = given.dataDir === undefined;
  const remove = async (): Promise<void> => {
    if (isTemporary) await removeTemporaryFolder(folder);
  };
  const service = await openService({
    ...settings,
    dataDir: folder,
    warmsUp: false,
    verifiesWholeLedger: true,
    report: (event) => {
      if (event.type === 'request') requests.push(requestOf(event));
    },
  }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const { apiKey, baseUrl, realtimeUrl } = service;
  let closing: Promise<void> | undefined;
  return {
    baseUrl,
    realtimeUrl,
    apiKey,
    requests: () => [...requests],
    setFaults(rules) {
      try {
        checkOptions(
          'setFaults',
          { faults: rules },
          { faults: { ...RULES.faults, isRequired: true } },
        );
        service.setFaults(rules.map((rule) => readFault(rule)));
      } catch (error) {
        throw publicError(error);
      }
    },
    // Nobody can use the unfinished jobs of a temporary folder.
    close: () =>
      (closing ??= service.close(isTemporary ? AbortSignal.abort() : undefined).then(remove)),
  };
}

const RULES = {
  credits: { type: 'number', isInteger: true, minimum: 0, maximum: CREDITS_MAX },
  rateLimit: {},
  faults: { type: 'array' },
  dataDir: { type: 'string', minLength: 1 },
  keys: { type: 'array', minLength: 1 },
  unavailable: { type: 'array' },
} as const satisfies Rules;

const KEY_RULES: Rules = {
  key: { type: 'string', isRequired: true },
  account: { type: 'string' },
};

function readSettings(given: ServiceOptions): Partial<ServiceSettings> {
  checkOptions('startService', given, RULES);
  const { credits, faults = [], keys, rateLimit, unavailable = [] } = given;
  for (const model of unavailable) {
    checkValue('startService: unavailable', model, {
      type: 'string',
      isRequired: true,
      values: SERVED_MODELS,
    });
  }
  return {
    ...(credits === undefined ? {} : { openingCredits: credits }),
    ...(rateLimit === undefined ? {} : { requestsPerSecond: readRate(rateLimit) }),
    ...(keys === undefined ? {} : { keys: readKeys(keys) }),
    faults: faults.map((rule) => readFault(rule)),
    unavailableModels: unavailable,
  };
}

function readRate(given: number | string): number {
  return parseRate(typeof given === 'number' ? `${given}/s` : given, 'startService: rateLimit');
}

function readFault(rule: string): FaultRule {
  checkValue('faults: a rule', rule, { type: 'string', minLength: 1, isRequired: true });
  return parseFaultRule(rule, 'faults:');
}

function readKeys(given: readonly (string | ServiceKey)[]): readonly AccountKey[] {
  const keys = given.map((one, index) => {
    const name = `startService: keys[${index}]`;
    const fields: ServiceKey = typeof one === 'string' ? { key: one } : one;
    checkOptions(name, fields, KEY_RULES);
    const { account = DEFAULT_ACCOUNT, key } = fields;
    return checkAcceptedKey({ key, account }, name);
  });
  if (new Set(keys.map(({ key }) => key)).size === keys.length) return keys;
  throw usageFailure('startService: keys contains the same API key twice');
}

function requestOf(event: Extract<ServiceEvent, { readonly type: 'request' }>): ServiceRequest {
  const {
    account,
    credits,
    durationMs,
    idempotencyKey,
    method,
    path: target,
    requestId,
    status,
  } = event;
  return {
    method,
    path: target,
    status,
    durationMs,
    requestId,
    idempotencyKey,
    account,
    credits: credits === undefined ? undefined : Number(credits),
    faults: event.faults.map((effect) => printFaultEffect(effect)),
  };
}

const FOLDER_PREFIX = 'foley-ephemeral-';
const OWNER_FILE = 'owner.lock';

// Also removes the folders of processes that ended without closing their services.
async function createTemporaryFolder(): Promise<string> {
  const processes = systemProcesses();
  await removeOrphans(processes);
  const folder = await mkdtemp(path.join(tmpdir(), FOLDER_PREFIX));
  const owner = JSON.stringify({ owner: processes.self });
  await writeFile(path.join(folder, OWNER_FILE), owner, { mode: 0o600 });
  return folder;
}

function removeTemporaryFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function removeOrphans(processes: Processes): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith(FOLDER_PREFIX))) {
    const folder = path.join(tmpdir(), name);
    // Folders of other users cannot be read.
    const held = await readLock(path.join(folder, OWNER_FILE), systemFiles).catch(() => undefined);
    const isOrphan = held?.owner !== undefined && processes.liveness(held.owner) === 'dead';
    if (isOrphan) await removeTemporaryFolder(folder).catch(() => undefined);
  }
}
