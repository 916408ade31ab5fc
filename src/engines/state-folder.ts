import type { FileSystem } from '../effects/file-system.ts';
import { Failure } from '../errors/failure.ts';
import { errnoOf } from '../files/errno.ts';

/**
 * Makes a folder of foley's own, and those above it, where they are missing.
 * @throws Failure (state)
 */
export async function makeFolder(folder: string, files: Pick<FileSystem, 'mkdir'>): Promise<void> {
  try {
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw stateFailure(error, folder);
  }
}

/** What the system said of the folder of the engines; any other error as it is. */
export function stateFailure(error: unknown, folder: string): unknown {
  const code = errnoOf(error);
  if (error instanceof Failure || code === undefined) return error;
  return new Failure(`engines cannot be kept in ${folder} (${code})`, {
    code: 'state',
    exit: 'state',
    hint: 'Check its permissions and the space there.',
    cause: error,
  });
}
