import path from 'node:path';
import { Failure, usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import { errnoOf } from './errno.ts';

/**
 * Why `output` cannot be written, from what the system said when it was opened or, later, written:
 * exit 30. The system's error is the cause; a failure stays as it is.
 */
export function outputFailure(
  output: string,
  error: unknown,
  phase: 'opening' | 'writing',
): Failure {
  if (error instanceof Failure) return error;
  const errno = errnoOf(error);
  if (errno === 'ENOENT' && phase === 'writing') {
    return unwritable(output, 'its folder or its temporary file was removed', { cause: error });
  }
  const reason = errno === undefined ? undefined : REASONS[errno]?.(path.dirname(output));
  const [what, hint] = reason ?? [
    errno ?? (error instanceof Error ? error.message : String(error)),
  ];
  return unwritable(output, what, { hint, cause: error });
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
    hint: 'choose another name with --output, or allow it to be replaced',
  });
}

/** `output` names a folder: exit 2. */
export function folderFailure(output: string): Failure {
  return usageFailure(
    `${display(output)} is a folder, not a file`,
    `name a file in it, such as ${display(path.join(output, 'speech.mp3'))}`,
  );
}

type Reason = readonly [what: string, hint?: string];

const ELSEWHERE = 'choose another place with --output';

const REASONS: Readonly<Record<string, (folder: string) => Reason>> = {
  ENOENT: (folder) => [
    `the folder ${display(folder)} does not exist`,
    `make it first: mkdir -p ${shellWord(folder)}`,
  ],
  ENOTDIR: (folder) => [`${display(folder)} is a file, not a folder`, ELSEWHERE],
  EACCES: (folder) => [`permission is denied in the folder ${display(folder)}`, ELSEWHERE],
  EPERM: () => ['the system does not permit it', ELSEWHERE],
  EISDIR: () => ['a folder has that name', ELSEWHERE],
  EROFS: () => ['the file system is read-only', ELSEWHERE],
  ENOSPC: () => ['the disk is full', `make room, or ${ELSEWHERE}`],
  EDQUOT: () => ['your disk quota is used up', `make room, or ${ELSEWHERE}`],
  EFBIG: () => ['the file would be larger than is allowed here', ELSEWHERE],
  EIO: () => ['the disk reported an error', `check the disk, or ${ELSEWHERE}`],
  ENAMETOOLONG: () => ['the name is longer than the file system allows', 'choose a shorter name'],
  ELOOP: () => ['its symbolic links lead in a circle', ELSEWHERE],
  ENXIO: () => ['nothing can be written there: it is a socket, or a device that is not there'],
  EBUSY: () => ['another program has it open', 'close it there and run the command again'],
  ETXTBSY: () => ['it is a program that is running', ELSEWHERE],
  EMFILE: () => [
    'too many files are open',
    'raise the limit (ulimit -n) and run the command again',
  ],
  EPIPE: () => ['its reader went away'],
};

function shellWord(word: string): string {
  const shown = display(word);
  return /^[\w./,:@%+=-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
