import type {
  ImportErrorDetails,
  ImportStage,
  MediaKind,
} from '../../../contract/schemas/media-job.ts';
import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import { ServiceError } from '../../service-error.ts';

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

/** The error of an import: no job was made, and nothing was charged (spec section 7.3). */
export function importFailure(subject: ImportSubject, fault: ImportFault): ServiceError {
  const { cause, code, headers, retryable, stage, what } = fault;
  const details: ImportErrorDetails = { media_kind: subject.kind, stage, retryable };
  return new ServiceError(code, `${subject.field} ${what}`, { details, headers, cause });
}
