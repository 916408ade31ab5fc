import path from 'node:path';
import { Failure, usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

/** The system's name for what went wrong (`ENOSPC`), or undefined for an error that is not the system's. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** Whether the system said one of these. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
}

/** What file systems say that do not know an operation at all, such as links on a memory stick. */
export const UNSUPPORTED = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'] as const;

/** Foley does not use this file or folder; the message is the reason. */
export class UnsafeFile extends Error {
  override readonly name = 'UnsafeFile';
}

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

/**
 * Foley's own state cannot be used: exit 32. `what` is the part of it (`the spool`), `file` where it
 * is; the system's error becomes the cause. A failure of state stays as it is.
 */
export function stateFailure(
  what: string,
  file: string,
  error: unknown,
  details?: Readonly<Record<string, unknown>>,
): Failure {
  if (error instanceof Failure && error.exit === 'state' && details === undefined) return error;
  const cause = error instanceof Failure ? (error.cause ?? error) : error;
  const advice =
    cause instanceof UnsafeFile
      ? 'Move it away'
      : hasErrno(cause, 'ENOSPC', 'EDQUOT')
        ? 'Make room there'
        : 'Make it writable';
  return new Failure(
    `cannot use ${what} at ${display(file)}: ${reasonOf(cause, path.dirname(file))}`,
    {
      code: 'state',
      exit: 'state',
      hint: `${advice}, or set XDG_STATE_HOME to another folder.`,
      details,
      cause,
    },
  );
}

/** State of a later foley than this one, which must not touch it: exit 32. */
export function newerStateFailure(what: string, file: string): Failure {
  return new Failure(`${what} at ${display(file)} was written by a newer foley`, {
    code: 'state',
    exit: 'state',
    hint: 'Update foley, or go on with the newer one, which knows what is open. It was left as it is.',
  });
}

/**
 * Why `output` cannot be written, from what the system said when it was opened or, later, written:
 * exit 30. The system's error is the cause; a failure stays as it is.
 * @param flag with which the person names another place
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

/** `output` cannot be written, in our own words: exit 30. */
export function unwritable(
  output: string,
  what: string,
  options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): Failure {
  return new Failure(`cannot write ${display(output)}: ${what}`, {
    code: 'output',
    exit: 'output',
    ...options,
  });
}

/** `output` exists and may not be replaced: exit 31. */
export function existsFailure(output: string): Failure {
  return new Failure(`${display(output)} exists already and was left as it is`, {
    code: 'exists',
    exit: 'exists',
    hint: 'Choose another name with --output, or leave --no-clobber out.',
  });
}

/** `output` names a folder: exit 2. */
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
