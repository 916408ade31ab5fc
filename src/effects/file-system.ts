import * as fs from 'node:fs/promises';
import path from 'node:path';

/** The file system functions that foley uses. They are injected, so that tests can make each one fail. */
export type FileSystem = Pick<
  typeof fs,
  | 'access'
  | 'link'
  | 'lstat'
  | 'open'
  | 'readFile'
  | 'readdir'
  | 'realpath'
  | 'rename'
  | 'rm'
  | 'stat'
  | 'statfs'
  | 'unlink'
> & {
  /** Id of the user who owns new files; undefined on Windows. */
  readonly userId: number | undefined;
  /** Creates a folder. With `recursive`, creates missing parent folders too, and accepts an existing folder. */
  readonly mkdir: (folder: string, options?: FolderOptions) => Promise<void>;
};

interface FolderOptions {
  readonly recursive?: boolean;
  readonly mode?: number;
}

export const systemFiles: FileSystem = { ...fs, mkdir: makeFolder, userId: process.geteuid?.() };

// With `recursive`, Node's own function never returns for a folder below /proc.
async function makeFolder(folder: string, options: FolderOptions = {}): Promise<void> {
  try {
    await makeOne(folder, options);
  } catch (error) {
    const parent = path.dirname(folder);
    if (options.recursive !== true || !isMissing(error) || parent === folder) throw error;
    await makeFolder(parent, options);
    await makeOne(folder, options);
  }
}

async function makeOne(folder: string, { mode, recursive }: FolderOptions): Promise<void> {
  try {
    await fs.mkdir(folder, { mode });
  } catch (error) {
    // Another process may have created the folder.
    if (recursive !== true || !(await isFolder(folder))) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function isFolder(name: string): Promise<boolean> {
  return fs.stat(name).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
