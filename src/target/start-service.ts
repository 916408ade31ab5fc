import type { Paths } from '../config/paths.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type { OpenServiceOptions, RunningService } from '../service/running-service.ts';

/**
 * Starts the embedded service: the one place, for commands and for `foley serve`, that reaches it.
 * Its data is in the state folder unless the options say otherwise.
 * @throws Failure: state when its data cannot be used, usage when it cannot listen where it should
 */
export async function startService(
  options: Partial<OpenServiceOptions>,
  paths: Pick<Paths, 'serviceData'>,
): Promise<RunningService> {
  const service = await import('../service/index.ts');
  try {
    return await service.openService({ ...options, dataDir: options.dataDir ?? paths.serviceData });
  } catch (error) {
    if (service.isStoreError(error)) throw stateFailure(error);
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

function stateFailure(error: {
  readonly message: string;
  readonly reason: keyof typeof WHAT_TO_DO;
}): Failure {
  return new Failure(`the embedded service cannot use its data: ${error.message}`, {
    code: 'state',
    exit: 'state',
    hint: WHAT_TO_DO[error.reason],
    cause: error,
  });
}
