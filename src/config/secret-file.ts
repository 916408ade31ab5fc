import { constants } from 'node:fs';
import type { FileSystem } from '../effects/file-system.ts';
import { configFailure } from '../errors/failure.ts';
import { hasErrno } from '../durable/file-failures.ts';
import { openOwnFile } from '../durable/own-files.ts';
import { display } from '../text/display.ts';

export interface SecretFileDeps {
  readonly files: FileSystem;
  readonly platform: NodeJS.Platform;
}

/** What people call permission bits: `0644`. */
export function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`;
}

/**
 * The permissions of a file or folder when others than its owner have any; else `undefined`, also
 * where there is no such file and where permissions are not of that kind.
 */
export async function openToOthers(
  path: string,
  { files, platform }: SecretFileDeps,
): Promise<number | undefined> {
  if (platform === 'win32') return undefined;
  try {
    const { mode } = await files.stat(path);
    return (mode & 0o077) === 0 ? undefined : mode & 0o777;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined;
    throw error;
  }
}

/**
 * Takes a file that holds a secret away from everybody but its owner.
 * @returns what there is to tell when it was open, else `undefined`
 * @throws Failure (config) when it is open and stays so
 */
export async function closeToOthers(
  file: string,
  deps: SecretFileDeps,
): Promise<string | undefined> {
  const mode = await openToOthers(file, deps);
  if (mode === undefined) return undefined;
  const was = `${display(file)} holds API keys and could be read by others (${octal(mode)})`;
  try {
    const handle = await openOwnFile(file, constants.O_RDONLY, deps.files, 'follow');
    await handle.chmod(0o600).finally(() => handle.close());
  } catch {
    throw configFailure(
      `${was}, and that cannot be changed`,
      `Make it yours alone (chmod 600), or give the key with FOLEY_API_KEY instead.`,
    );
  }
  return `${was}; it is closed now. If that may have happened, replace the keys.`;
}
