import * as fs from 'node:fs/promises';

/**
 * The file operations that foley uses, injected so that a test can make the k-th one fail. Only
 * what is listed here may be called by code that writes users' files or state.
 */
export type FileSystem = Pick<
  typeof fs,
  | 'access'
  | 'link'
  | 'lstat'
  | 'mkdir'
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
  /** Whose files this process makes; undefined where files have no owners of that kind. */
  readonly userId: number | undefined;
};

export const systemFiles: FileSystem = { ...fs, userId: process.geteuid?.() };
