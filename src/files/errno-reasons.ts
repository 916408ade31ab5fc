import { display } from '../text/display.ts';
import { errnoOf } from './errno.ts';

/** Why a file in `folder` cannot be used, in words, from what the system said. */
export function reasonOf(error: unknown, folder: string): string {
  const errno = errnoOf(error);
  if (errno !== undefined) return REASONS[errno]?.(display(folder)) ?? errno;
  return error instanceof Error ? error.message : String(error);
}

const HAS_GONE = 'the current folder is not there any more';

const REASONS: Readonly<Record<string, (folder: string) => string>> = {
  ENOENT: (folder) => (folder === '.' ? HAS_GONE : `the folder ${folder} does not exist`),
  ENOTDIR: (folder) => `${folder} is a file, not a folder, or lies below one`,
  EACCES: (folder) =>
    `permission is denied in the ${folder === '.' ? 'current folder' : `folder ${folder}`}`,
  EPERM: () => 'the system does not permit it',
  EISDIR: () => 'a folder has that name',
  EEXIST: () => 'a file has that name',
  EROFS: () => 'the file system is read-only',
  ENOSPC: () => 'the disk is full',
  EDQUOT: () => 'your disk quota is used up',
  EFBIG: () => 'the file would be larger than is allowed here',
  EIO: () => 'the disk reported an error',
  ENAMETOOLONG: () => 'the name is longer than the file system allows',
  ELOOP: () => 'its symbolic links lead in a circle',
  ENXIO: () => 'nothing can be written there: it is a socket, or a device that is not there',
  EBUSY: () => 'another program has it open',
  ETXTBSY: () => 'it is a program that is running',
  EMFILE: () => 'too many files are open',
  EPIPE: () => 'its reader went away',
};
