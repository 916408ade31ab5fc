import type { ImportErrorDetails, ImportStage, InputKind } from '../../../contract/lip-sync.ts';
import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import { ServiceError } from '../../service-error.ts';
import { MediaTaskError } from '../child/messages.ts';
import type { TaskFailure } from '../child/messages.ts';

export interface ImportSubject {
  readonly kind: InputKind;
  /** Name of the request field that contains the URL. */
  readonly field: string;
}

interface ImportFault {
  readonly code: ServiceErrorCode;
  /** The error message without its first word, which is the name of the request field. Example: `has no duration`. */
  readonly what: string;
  /** The import stage that failed; default `download`. */
  readonly stage?: ImportStage;
  /** True if the same request may succeed later; default false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** Creates the error of a failed import. A failed import is never charged (docs/api/errors.md). */
export function importFailure(subject: ImportSubject, fault: ImportFault): ServiceError {
  const { cause, code, retryable = false, stage = 'download', what } = fault;
  const headers = code === 'ERR_MEDIA_IMPORT_UNAVAILABLE' ? { 'Retry-After': '1' } : undefined;
  const details: ImportErrorDetails = { media_kind: subject.kind, stage, retryable };
  return new ServiceError(code, `${subject.field} ${what}`, { details, headers, cause });
}

/** Converts a MediaTaskError to the error of a failed import. Returns any other error unchanged. */
export function inspectionFailure(error: unknown, subject: ImportSubject): unknown {
  if (!(error instanceof MediaTaskError)) return error;
  const { reason } = error;
  return importFailure(subject, {
    code: CODES[reason],
    what: MESSAGES[reason] ?? error.message,
    stage: 'inspection',
    retryable: reason === 'failed',
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

// These replace messages whose details would not help a user.
const MESSAGES: Readonly<Partial<Record<TaskFailure, string>>> = {
  timeout: 'takes too long to inspect',
  died: 'cannot be read',
  failed: 'cannot be inspected now',
};
