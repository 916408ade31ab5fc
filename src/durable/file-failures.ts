import path from 'node:path';
import { Failure, usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

/** Returns the system error code of an error, such as `ENOSPC`; undefined if the error has no such code. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** Returns whether an error has one of the given system error codes. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
}

/**
 * System error codes that mean that the file system does not support an operation, such as a hard link on a memory
 * stick.
 */
export const UNSUPPORTED = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'] as const;

/** Thrown for a file or folder that foley refuses to use. The message is the reason. */
export class UnsafeFile extends Error {
  override readonly name = 'UnsafeFile';
}

/**
 * Converts a system error to a reason for messages, such as `the disk is full`.
 * @param folder the folder that contains the file; some reasons name it
 */
export function reasonOf(error: unknown, folder: string): string {
  const errno = errnoOf(error);
  if (errno !== undefined) return REASONS[errno]?.(display(folder)) ?? errno;
  return error instanceof Error ? error.message : String(error);
}

const REASONS: Readonly<Record<string, (folder: string) => string>> = {
  ENOENT: (folder) =>
    folder === '.' ? 'the current folder was deleted' : `the folder ${folder} does not exist`,
  ENOTDIR: (folder) => `${folder} is a file, not a folder, or is inside a file`,
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
  ENXIO: () => 'it is a socket or a missing device, which cannot be written',
  EBUSY: () => 'another program has it open',
  ETXTBSY: () => 'it is a program that is running',
  EMFILE: () => 'too many files are open',
  EPIPE: () => 'its reader closed it',
};

/**
 * Returns the Failure for state files that foley cannot use (exit code 32). If `error` is a Failure already, returns it
 * unchanged.
 * @param stateFiles names the unusable files in the message, such as `the spool`
 */
export function stateFailure(
  stateFiles: string,
  file: string,
  error: unknown,
  details?: Readonly<Record<string, unknown>>,
): Failure {
  if (error instanceof Failure && error.exit === 'state' && details === undefined) return error;
  const cause = error instanceof Failure ? (error.cause ?? error) : error;
  const repairFile =
    cause instanceof UnsafeFile
      ? 'Move the file or folder away'
      : hasErrno(cause, 'ENOSPC', 'EDQUOT')
        ? 'Free disk space there'
        : 'Make the file or folder writable';
  return new Failure(
    `cannot use ${stateFiles} at ${display(file)}: ${reasonOf(cause, path.dirname(file))}`,
    {
      code: 'state',
      exit: 'state',
      hint: `${repairFile}, or set XDG_STATE_HOME to another folder.`,
      details,
      cause,
    },
  );
}

/** Returns the Failure for a state file that only a newer version of foley may change (exit code 32). */
export function newerStateFailure(stateFiles: string, file: string): Failure {
  return new Failure(`${stateFiles} at ${display(file)} was written by a newer foley`, {
    code: 'state',
    exit: 'state',
    hint: 'Update foley to the version that wrote these files, or a later one. Nothing was changed.',
  });
}

/**
 * Returns the Failure for an output that cannot be opened or written (exit code 30). If `error` is a Failure already,
 * returns it unchanged.
 * @param flag the flag with which the user can choose another output
 */
export function outputFailure(
  output: string,
  error: unknown,
  phase: 'opening' | 'writing',
  flag = '--output',
): Failure {
  if (error instanceof Failure) return error;
  const errno = errnoOf(error);
  if (errno === 'ENOENT' && phase === 'writing') {
    return unwritable(output, 'its folder or its temporary file was removed', { cause: error });
  }
  const folder = path.dirname(output);
  const hint =
    errno === 'ENOENT'
      ? hintForMissing(folder)
      : HINTS[errno ?? '']?.(`another place with ${flag}.`);
  return unwritable(output, reasonOf(error, folder), { hint, cause: error });
}

/**
 * Returns the Failure for an output that cannot be written (exit code 30).
 * @param reason why, such as `the disk is full`
 */
export function unwritable(
  output: string,
  reason: string,
  { cause, hint }: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): Failure {
  return new Failure(`cannot write ${display(output)}: ${reason}`, {
    code: 'output',
    exit: 'output',
    hint,
    cause,
  });
}

/** Returns the Failure for an output that exists and must not be replaced (exit code 31). */
export function existsFailure(output: string): Failure {
  return new Failure(`${display(output)} already exists and was not changed`, {
    code: 'exists',
    exit: 'exists',
    hint: 'Choose another name with --output, or omit --no-clobber.',
  });
}

/** Returns the Failure for an output that is a folder (exit code 2). */
export function folderFailure(output: string): Failure {
  return usageFailure(
    `${display(output)} is a folder, not a file`,
    `Name a file in it, such as ${display(path.join(output, 'speech.mp3'))}.`,
  );
}

const AGAIN = 'and run the command again.';

type Hint = (place: string) => string;

const elsewhere: Hint = (place) => `Choose ${place}`;
const room: Hint = (place) => `Make room, or choose ${place}`;

const HINTS: Readonly<Record<string, Hint>> = {
  ENOTDIR: elsewhere,
  EACCES: elsewhere,
  EPERM: elsewhere,
  EEXIST: elsewhere,
  EISDIR: elsewhere,
  EROFS: elsewhere,
  ENOSPC: room,
  EDQUOT: room,
  EFBIG: elsewhere,
  EIO: (place) => `Check the disk, or choose ${place}`,
  ENAMETOOLONG: () => 'Choose a shorter name.',
  ELOOP: elsewhere,
  EBUSY: () => `Close it there ${AGAIN}`,
  EMFILE: () => `Raise the limit (ulimit -n) ${AGAIN}`,
};

function hintForMissing(folder: string): string {
  return folder === '.'
    ? 'Go to another folder, and run the command again.'
    : `Make it first: mkdir -p ${shellWord(folder)}`;
}

function shellWord(word: string): string {
  const shown = display(word);
  return /^[\w./,:@%+=-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
