import path from 'node:path';
import { Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import { hasErrno } from './errno.ts';
import { UnsafeFile } from './own-files.ts';
import { reasonOf } from './errno-reasons.ts';

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
