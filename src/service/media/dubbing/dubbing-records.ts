import type { Connection, Row } from '../../store/connection.ts';
import { integer, optionalText, text } from '../../store/connection.ts';
import type { Json, MediaJob } from '../jobs/media-job-records.ts';
import { jsonOf, readMediaJob, requireErrorCode } from '../jobs/media-job-records.ts';
import type { ServiceErrorCode } from '../../../contract/service-errors.ts';

/** Why lip sync could not start, though the speech was spoken and billed. */
export interface DubbingRefusal {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly details: Json;
}

/** A dubbing whose speech was spoken and billed. */
export interface DubbingRecord {
  readonly operationId: string;
  readonly speechFileId: string;
  readonly speechCredits: number;
  /** What came of it: a job of lip sync, or none. */
  readonly end: { readonly job: MediaJob } | { readonly refusal: DubbingRefusal };
}

/** Notes what came of a dubbing, inside the caller's transaction. */
export function writeDubbing(db: Connection, record: DubbingRecord): void {
  const { end, operationId, speechCredits, speechFileId } = record;
  db.run(
    `INSERT INTO dubbing (operation_id, speech_file_id, speech_credits, job_id, refusal)
     VALUES (?, ?, ?, ?, ?)`,
    [
      operationId,
      speechFileId,
      speechCredits,
      'job' in end ? end.job.id : null,
      'refusal' in end ? JSON.stringify(end.refusal) : null,
    ],
  );
}

/** The dubbing that this operation paid for; `undefined` until it is whole. */
export function findDubbing(db: Connection, operationId: string): DubbingRecord | undefined {
  const row = db.get('SELECT * FROM dubbing WHERE operation_id = ?', [operationId]);
  return row === undefined ? undefined : recordOf(db, row);
}

/** The dubbing that this job is of. @throws TypeError when it is of none */
export function requireDubbing(db: Connection, jobId: string): DubbingRecord {
  const row = db.get('SELECT * FROM dubbing WHERE job_id = ?', [jobId]);
  if (row === undefined) throw new TypeError(`there is no dubbing of job ${jobId}`);
  return recordOf(db, row);
}

function recordOf(db: Connection, row: Row): DubbingRecord {
  const jobId = optionalText(row, 'job_id');
  const job = jobId === undefined ? undefined : readMediaJob(db, jobId);
  return {
    operationId: text(row, 'operation_id'),
    speechFileId: text(row, 'speech_file_id'),
    speechCredits: integer(row, 'speech_credits'),
    end: job === undefined ? { refusal: refusalOf(text(row, 'refusal')) } : { job },
  };
}

function refusalOf(stored: string): DubbingRefusal {
  const { code, details, message } = jsonOf(stored);
  return {
    code: requireErrorCode(String(code)),
    message: String(message),
    details: typeof details === 'object' && details !== null ? { ...details } : {},
  };
}
