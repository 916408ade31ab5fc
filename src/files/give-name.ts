import { whileBusy } from './busy-retry.ts';
import { removeQuietly } from './debris.ts';
import { UNSUPPORTED, hasErrno } from './errno.ts';
import type { FileDeps } from './file-deps.ts';
import { numbered } from './names.ts';
import { existsFailure } from './output-failures.ts';
import type { Existing } from './output.ts';
import { isTaken } from './target.ts';

export interface Naming extends FileDeps {
  readonly path: string;
  readonly asked: string;
  readonly existing: Existing;
  readonly replaced: { readonly file: string } | undefined;
}

/**
 * Gives a complete temporary file its final name, at once, and returns that name. Whoever else takes
 * the name in the last moment is replaced, or wins, as `existing` says.
 */
export async function giveName(temporary: string, naming: Naming): Promise<string> {
  if (naming.existing === 'replace') {
    const target = naming.replaced?.file ?? naming.path;
    await whileBusy(naming, () => naming.files.rename(temporary, target));
    return naming.path;
  }
  for (let number = 1; ; number += 1) {
    const candidate = naming.existing === 'number' ? numbered(naming.asked, number) : naming.path;
    if (await tookName(temporary, candidate, naming)) return candidate;
    if (naming.existing === 'refuse') throw existsFailure(candidate);
  }
}

/** Gives the file a name unless that is taken: a link, unlike a rename, never replaces. */
async function tookName(temporary: string, name: string, deps: FileDeps): Promise<boolean> {
  try {
    await whileBusy(deps, () => deps.files.link(temporary, name));
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, 'EACCES', ...UNSUPPORTED)) throw error;
    // No links here. Between the look and the rename somebody could take the name; an empty file
    // put there first would be a worse risk: a file that is not whole, if we are killed now.
    if (await isTaken(name, deps.files)) return false;
    await whileBusy(deps, () => deps.files.rename(temporary, name));
    return true;
  }
  await removeQuietly(temporary, deps);
  return true;
}
