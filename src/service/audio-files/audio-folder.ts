import { dirname, join } from 'node:path';
import { removeQuietly } from '../../files/debris.ts';
import { hasErrno } from '../../files/errno.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import type { Output } from '../../files/output.ts';
import { ensurePrivateFolder } from '../../files/own-files.ts';
import { openOutput } from '../../files/publish.ts';
import { isTemporaryName } from '../../files/temporary.ts';
import type { StoredAudio } from './stored-audio.ts';
import { openStoredAudio } from './stored-audio.ts';

/**
 * Audio that is kept beside the database: too large for it, and written so that a file is whole or
 * not there. Each owner, such as a job, has a folder; names come from this program only.
 */
export interface AudioFolder {
  /**
   * Opens a file to be written; it gets its name when it is published, in the place of an older one.
   * @throws Failure when it cannot be written
   */
  create(owner: string, name: string): Promise<Output>;
  /** A file that was published, or `undefined`. */
  find(owner: string, name: string): Promise<StoredAudio | undefined>;
  /** Removes a file, as far as that can be done. */
  remove(owner: string, name: string): Promise<void>;
  /** Removes an owner's folder with everything in it. @throws the system's error */
  discard(owner: string): Promise<void>;
  /** Removes what a process that was killed left half written. */
  sweep(owner: string): Promise<void>;
}

/**
 * @param databasePath the database that tells what the files are
 * @param rootName of the folder of folders, beside the database
 */
export function createAudioFolder(
  databasePath: string,
  deps: FileDeps,
  rootName = 'audio',
): AudioFolder {
  const root = join(dirname(databasePath), rootName);
  const fileOf = (owner: string, name: string): string => join(root, owner, name);
  return {
    async create(owner, name) {
      await ensurePrivateFolder(join(root, owner), deps.files);
      return openOutput({ ...deps, path: fileOf(owner, name), mode: 0o600 });
    },
    find: (owner, name) => openStoredAudio(fileOf(owner, name), deps.files),
    remove: (owner, name) => removeQuietly(fileOf(owner, name), deps),
    discard: (owner) => deps.files.rm(join(root, owner), { recursive: true, force: true }),
    async sweep(owner) {
      const folder = join(root, owner);
      const names = await deps.files.readdir(folder).catch((error: unknown) => {
        if (hasErrno(error, 'ENOENT')) return [];
        throw error;
      });
      for (const name of names) {
        if (isTemporaryName(name)) await removeQuietly(join(folder, name), deps);
      }
    },
  };
}
