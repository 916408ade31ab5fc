import path from 'node:path';
import { Failure, usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import { errnoOf } from './errno.ts';
import { reasonOf } from './errno-reasons.ts';

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
