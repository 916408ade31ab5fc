import type { ServiceAddress } from '../api/request.ts';
import type { Paths } from '../config/paths.ts';
import type { FileSystem } from '../system/file-system.ts';
import { loadEngineRegistrations, registrationsFile } from '../engines/registrations.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type {
  AddedEngines,
  OpenServiceOptions,
  RunningService,
} from '../service/running-service.ts';
import type { StoreError } from '../service/store/open-store.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import { missingBinary } from './missing-binary.ts';

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
  readonly paths: Paths;
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
  const resident = await host.resident?.();
  return openService({
    ...options,
    dataDir: options.dataDir ?? paths.serviceData,
    engines: { added, env, nodePath: process.execPath, resident },
  });
}

/**
 * Opens the embedded service.
 * @throws Failure: `state` for unusable data, `usage` if the host, the port or an alias cannot be used
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
    if (service.isAliasError(error)) {
      throw usageFailure(error.message, nearestHint(error.id, error.known, LIST_IDS));
    }
    throw error;
  }
}

const LIST_IDS = 'List the ids with `foley models --local` and `foley voices list --local`.';

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
