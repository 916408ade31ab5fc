import { hasErrno } from './errno.ts';
import type { FileDeps } from './file-deps.ts';

/**
 * Tries a rename or a removal again for up to ten seconds on Windows, where another program (a virus
 * scanner, most often) may have the file open for a moment. Elsewhere such an error is final.
 */
export async function whileBusy<T>(deps: FileDeps, attempt: () => Promise<T>): Promise<T> {
  for (let turn = 0; ; turn += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy = deps.platform === 'win32' && hasErrno(error, 'EPERM', 'EBUSY', 'EACCES');
      const waitMs = WAITS_MS[turn];
      if (!isBusy || waitMs === undefined) throw error;
      await deps.clock.sleep(waitMs);
    }
  }
}

/** Doubling, then steady; ten seconds in all. */
const WAITS_MS = [10, 20, 40, 80, 160, 320, 640, 1280, 2450, 2500, 2500];
