import type { ServiceAddress } from '../api/request.ts';
import type { Paths } from '../config/paths.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { loadEngineRegistrations, registrationsFile } from '../engines/registrations.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type {
  OpenServiceOptions,
  RunningService,
  ServiceEvent,
} from '../service/running-service.ts';
import { missingBinary } from './native-packages.ts';

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
