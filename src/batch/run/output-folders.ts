import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { syncFolder } from '../../files/durability.ts';
import { outputFailure } from '../../files/output-failures.ts';

/** The folders that outputs get their names in. */
export interface OutputFolders {
  /**
   * Makes the folder of a file, once.
   * @throws Failure (output)
   */
  useFor(file: string): Promise<void>;
  /**
   * Brings the names in all of them to the disk. A name that a power cut takes away before costs nothing:
   * its audio is fetched again.
   * @throws Failure (output)
   */
  sync(): Promise<void>;
}

export function createOutputFolders(files: FileSystem): OutputFolders {
  const made = new Map<string, Promise<unknown>>();
  const use = async (folder: string): Promise<void> => {
    const known = made.get(folder) ?? files.mkdir(folder, { recursive: true });
    made.set(folder, known);
    await known.catch((error: unknown) => {
      // The next item tries again.
      made.delete(folder);
      throw outputFailure(folder, error, 'opening', '--output-dir');
    });
  };
  return {
    useFor: (file) => use(path.dirname(file)),
    async sync() {
      for (const folder of made.keys()) {
        await syncFolder(files, folder).catch((error: unknown) => {
          throw outputFailure(folder, error, 'writing', '--output-dir');
        });
      }
    },
  };
}
