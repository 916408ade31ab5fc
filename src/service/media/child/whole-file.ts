import { rm } from 'node:fs/promises';

/**
 * Does work that makes a file, and leaves nothing of that when the work fails: a disk may be full of it, and
 * then the failure itself could not be written down.
 */
export async function wholeFile<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // What keeps it from being removed is not what went wrong.
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}
