import * as fs from 'node:fs/promises';

/** The file system functions that foley uses. They are injected, so that tests can make each one fail. */
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
  /** Id of the user who owns new files; undefined on Windows. */
  readonly userId: number | undefined;
};

export const systemFiles: FileSystem = { ...fs, userId: process.geteuid?.() };
