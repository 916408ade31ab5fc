import type { Paths } from '../config/paths.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { loadEngineRegistrations, registrationsFile } from '../engines/registrations.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { missingBinary } from './native-packages.ts';
import type { OpenServiceOptions, RunningService } from '../service/running-service.ts';

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
  unwritable: 'Check the permissions and the space of that folder.',
  newer: 'Use the newer foley, or another --data-dir.',
  locked: 'Wait for the other process, or end it, and try again.',
  corrupt: 'Move it away to begin anew; `foley doctor` tells more.',
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
