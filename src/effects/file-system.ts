import * as fs from 'node:fs/promises';

/**
 * The file operations of foley, injected so that tests can make any of them fail. All code that writes files
 * uses them.
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
  /** The owner of new files; undefined on Windows. */
  readonly userId: number | undefined;
};

export const systemFiles: FileSystem = { ...fs, userId: process.geteuid?.() };
