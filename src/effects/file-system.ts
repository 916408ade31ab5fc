import * as fs from 'node:fs/promises';

/**
 * The file operations that foley uses, injected so that a test can make the k-th one fail. Only
 * what is listed here may be called by code that writes users' files or state.
 */
export type FileSystem = Pick<
  typeof fs,
  | 'access'
  | 'chmod'
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
  | 'unlink'
>;

export const systemFiles: FileSystem = fs;
