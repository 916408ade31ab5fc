import { whileBusy } from './busy-retry.ts';
import type { FileDeps } from './file-deps.ts';

/**
 * Removes a file that this process made, as far as it can: the fault that led here has been told, and
 * what goes wrong while tidying up adds nothing to it.
 */
export async function removeQuietly(file: string, deps: FileDeps): Promise<void> {
  await whileBusy(deps, () => deps.files.unlink(file)).catch(() => undefined);
}
