import { dirname, join } from 'node:path';
import type { AudioFolder } from '../../audio-files/audio-folder.ts';
import { createAudioFolder } from '../../audio-files/audio-folder.ts';
import { hasErrno } from '../../../files/errno.ts';
import type { FileDeps } from '../../../files/file-deps.ts';
import { ensurePrivateFolder } from '../../../files/own-files.ts';

/**
 * What media jobs read and make, beside the database: a folder for each, whose name is its id. Names of
 * files come from this program only.
 */
export interface MediaFolder extends Pick<AudioFolder, 'create' | 'discard' | 'find' | 'remove'> {
  /** Makes the folder of a job that nothing came in for. @throws Failure when it cannot be written */
  prepare(owner: string): Promise<void>;
  /** Where a file is, or is to be, for a program that is told of paths. */
  pathOf(owner: string, name: string): string;
  /** Gives what was written under one name another, whole and durable. @throws the system's error */
  publish(owner: string, draft: string, name: string): Promise<void>;
  /** The names of what is in a folder; nothing where there is none. */
  list(owner: string): Promise<readonly string[]>;
  /** The folders in which nothing changed since then (milliseconds since the epoch). */
  unchangedSince(moment: number): Promise<readonly string[]>;
}

/** @param databasePath the database that tells what the files are */
export function createMediaFolder(databasePath: string, deps: FileDeps): MediaFolder {
  const { files } = deps;
  const root = join(dirname(databasePath), ROOT);
  const pathOf = (owner: string, name: string): string => join(root, owner, name);
  const list = async (folder: string): Promise<readonly string[]> => {
    try {
      return await files.readdir(folder);
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return [];
      throw error;
    }
  };
  return {
    ...createAudioFolder(databasePath, deps, ROOT),
    pathOf,
    prepare: (owner) => ensurePrivateFolder(join(root, owner), files),
    async publish(owner, draft, name) {
      const file = await files.open(pathOf(owner, draft), 'r+');
      try {
        await file.chmod(0o600);
        await file.sync();
      } finally {
        await file.close();
      }
      await files.rename(pathOf(owner, draft), pathOf(owner, name));
    },
    list: (owner) => list(join(root, owner)),
    async unchangedSince(moment) {
      const owners = await list(root);
      const changes = await Promise.all(owners.map((owner) => files.stat(join(root, owner))));
      return owners.filter((_, index) => (changes[index]?.mtimeMs ?? moment) < moment);
    },
  };
}

const ROOT = 'media';
