import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { hasErrno } from './errno.ts';
import { randomHex } from './file-deps.ts';
import type { FileDeps } from './file-deps.ts';

/**
 * A new, empty file in `folder` under a name that nothing else has: short, so that a final name of
 * any allowed length fits beside it, and random, so that nobody can have put something there.
 */
export async function createTemporary(
  folder: string,
  deps: Pick<FileDeps, 'files' | 'random'>,
  mode = 0o666,
): Promise<{ readonly path: string; readonly file: FileHandle }> {
  for (let turn = 1; ; turn += 1) {
    const name = path.join(folder, `.foley-${randomHex(deps, 12)}.part`);
    try {
      return { path: name, file: await deps.files.open(name, 'wx', mode) };
    } catch (error) {
      if (turn === 3 || !hasErrno(error, 'EEXIST')) throw error;
    }
  }
}

/** Whether a file name is one that {@link createTemporary} makes. */
export function isTemporaryName(name: string): boolean {
  return /^\.foley-[0-9a-f]{24}\.part$/.test(name);
}
