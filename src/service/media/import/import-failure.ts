import type { ImportErrorDetails, ImportStage, MediaKind } from '../../../contract/lip-sync.ts';
import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import { ServiceError } from '../../service-error.ts';
import { MediaTaskError } from '../child/media-task-error.ts';
import type { TaskFailure } from '../child/media-task-error.ts';

/** What an import is about, for what is told when it fails. */
export interface ImportSubject {
  readonly kind: MediaKind;
  /** The field of the request that has the address. */
  readonly field: string;
}

export interface ImportFault {
  readonly code: ServiceErrorCode;
  /** What happened, to follow the name of the field. */
  readonly what: string;
  readonly stage: ImportStage;
  /** Whether the same request may do better later. */
  readonly retryable: boolean;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** The error of an import: no job was made, and nothing was charged (docs/api/errors.md). */
export function importFailure(subject: ImportSubject, fault: ImportFault): ServiceError {
  const { cause, code, headers, retryable, stage, what } = fault;
  const details: ImportErrorDetails = { media_kind: subject.kind, stage, retryable };
  return new ServiceError(code, `${subject.field} ${what}`, { details, headers, cause });
}

/** What a task of the media child found wrong with a file, as the answer to whoever gave it (docs/api/errors.md). */
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
