import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import { MediaTaskError } from '../child/media-task-error.ts';
import type { TaskFailure } from '../child/media-task-error.ts';
import type { ImportSubject } from './import-failure.ts';
import { importFailure } from './import-failure.ts';

/** What a task of the media child found wrong with a file, as the answer to whoever gave it (spec section 7.3). */
export function inspectionFailure(error: unknown, subject: ImportSubject): unknown {
  if (!(error instanceof MediaTaskError)) return error;
  const { reason } = error;
  const isOurs = reason === 'failed';
  return importFailure(subject, {
    code: CODES[reason],
    what: WORDS[reason] ?? error.message,
    stage: 'inspection',
    retryable: isOurs,
    headers: isOurs ? { 'Retry-After': '1' } : undefined,
    cause: error,
  });
}

const CODES: Readonly<Record<TaskFailure, ServiceErrorCode>> = {
  unreadable: 'ERR_MEDIA_UNREADABLE',
  unsupported: 'ERR_MEDIA_UNSUPPORTED',
  'too-large': 'ERR_MEDIA_TOO_LARGE',
  timeout: 'ERR_MEDIA_UNREADABLE',
  died: 'ERR_MEDIA_UNREADABLE',
  failed: 'ERR_MEDIA_IMPORT_UNAVAILABLE',
};

/** Where what happened is nothing that a user could make use of. */
const WORDS: Readonly<Partial<Record<TaskFailure, string>>> = {
  timeout: 'cannot be read in any reasonable time',
  died: 'cannot be read',
  failed: 'cannot be inspected now',
};
