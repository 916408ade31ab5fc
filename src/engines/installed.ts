import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { hasErrno } from '../files/errno.ts';
import { stateFailure } from './state-folder.ts';

export interface InstalledOptions {
  readonly files: Pick<FileSystem, 'readdir' | 'rm'>;
  readonly enginesFolder: string;
  /** A folder that stays. */
  readonly keep?: string | undefined;
}

/**
 * Deletes every folder that foley installed an engine in, those that an interruption left included.
 * @returns the folders that were deleted
 * @throws Failure (state)
 */
export async function removeInstalled(
  name: string,
  { files, enginesFolder, keep }: InstalledOptions,
): Promise<string[]> {
  try {
    const found = (await files.readdir(enginesFolder))
      .filter((one) => isInstalled(one, name))
      .map((one) => path.join(enginesFolder, one))
      .filter((folder) => folder !== keep);
    for (const folder of found) await files.rm(folder, { recursive: true, force: true });
    return found;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure(error, enginesFolder);
  }
}

function isInstalled(folder: string, name: string): boolean {
  return folder.startsWith(`${name}.`) && /^[0-9a-f]{16}$/.test(folder.slice(name.length + 1));
}
