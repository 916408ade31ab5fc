import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { SegmentStatus } from '../../contract/jobs.ts';
import { SEGMENT_STATUSES } from '../../contract/jobs.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../../contract/service-errors.ts';
import type { JobFault } from '../http/faults.ts';
import type { Connection, Row, SqlValue } from '../store/connection.ts';
import { integer, oneOf, optionalInteger, optionalText, text } from '../store/connection.ts';
import type { StoredStatus } from './lifecycle.ts';
import { JOB_STATUSES } from './lifecycle.ts';

const JOB_KINDS = ['speech', 'lip_sync', 'video_dubbing', 'image', 'video'] as const;
export type JobKind = (typeof JOB_KINDS)[number];
export type StoredMediaKind = Exclude<JobKind, 'speech'>;

export type Json = Readonly<Record<string, unknown>>;

/** The state of a job, as its account sees it. */
export interface JobProgress {
  readonly id: string;
  readonly status: StoredStatus;
  /** Progress of a media job in percent. Unused for speech jobs, whose segments show the progress. */
  readonly progress: number;
  /** Credits of the job: reserved while it runs, spent after it has ended. */
  readonly credits: number;
  /** Time when the job was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** Error code of a failed job; `undefined` for the default code of this kind of job. */
  readonly errorCode: ServiceErrorCode | undefined;
  /** Error message of the job, or of the segment that failed last. */
  readonly errorMessage: string | undefined;
}

/** A stored job of any kind, without its segments. */
export interface JobRecord extends JobProgress {
  readonly accountId: string;
  readonly kind: JobKind;
  /** Id of the service process that handles the job; `undefined` if none does. */
  readonly ownerId: string | undefined;
  readonly attempts: number;
  /** Parameters of the job. Their schema depends on `kind`; read them with `storedOrder`. */
  readonly order: Json;
  /**
   * The response body that was sent when the job was accepted. A retry of the request gets the same body. If this is
   * empty, a retry gets the current state of the job.
   */
  readonly answer: Json;
  /** Metadata of the result of a media job. */
  readonly result: Json | undefined;
  /** Number of characters to bill for a speech job; 0 for other jobs. */
  readonly characters: number;
  /** How a fault rule makes this job fail; `undefined` if no rule does. */
  readonly fault: JobFault | undefined;
}

export interface SegmentRecord {
  /** Number of the segment in the job, from 0. */
  readonly index: number;
  readonly text: string;
  readonly characters: number;
  readonly status: SegmentStatus;
  /** Length of the audio in samples; undefined until the segment has been spoken. */
  readonly samples: number | undefined;
  readonly sampleRate: number | undefined;
}

/** A job with its segments. Only speech jobs have segments. */
export interface StoredJob extends JobRecord {
  readonly segments: readonly SegmentRecord[];
}

export interface JobFilter {
  readonly status?: StoredStatus | undefined;
  /** Lists only jobs that were created after this time, in milliseconds since the epoch. */
  readonly createdAfter?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Returns the job with this id, of any account and kind; undefined if there is none. */
export function readJob(db: Connection, id: string): StoredJob | undefined {
  const row = db.get('SELECT * FROM job WHERE id = ?', [id]);
  if (row === undefined) return undefined;
  const segments = db.all('SELECT * FROM job_segment WHERE job_id = ? ORDER BY number', [id]);
  return { ...jobOf(row), segments: segments.map((segment) => segmentOf(segment)) };
}

/** Lists an account's jobs of one kind, newest first. */
export function listJobs(
  db: Connection,
  accountId: string,
  kind: JobKind,
  { status, createdAfter, limit, offset }: JobFilter,
): readonly JobRecord[] {
  const conditions = ['account_id = ?', 'kind = ?'];
  const values: SqlValue[] = [accountId, kind];
  if (status !== undefined) {
    conditions.push('status = ?');
    values.push(status);
  }
  if (createdAfter !== undefined) {
    conditions.push('created_at > ?');
    values.push(createdAfter);
  }
  const sql = `SELECT * FROM job WHERE ${conditions.join(' AND ')}
    ORDER BY number DESC LIMIT ? OFFSET ?`;
  return db.all(sql, [...values, limit, offset]).map((row) => jobOf(row));
}

/** Lists the unfinished jobs of all accounts, oldest first. */
export function listUnfinishedJobs(db: Connection): readonly JobRecord[] {
  return db
    .all('SELECT * FROM job WHERE finished_at IS NULL ORDER BY number')
    .map((row) => jobOf(row));
}

/** Returns the parameters of a job. @throws TypeError when the stored parameters do not match the schema */
export function storedOrder<Schema extends TSchema>(
  schema: Schema,
  { id, order }: JobRecord,
): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError(`The stored order of job ${id} does not match its schema`);
}

const JOB_FAULTS = ['fail', 'partial_fail'] as const;

function jobOf(row: Row): JobRecord {
  const result = optionalText(row, 'result_json');
  const errorCode = optionalText(row, 'error_code');
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    kind: oneOf(JOB_KINDS, row, 'kind'),
    status: oneOf(JOB_STATUSES, row, 'status'),
    ownerId: optionalText(row, 'owner_id'),
    attempts: integer(row, 'attempts'),
    progress: integer(row, 'progress'),
    order: jsonOf(text(row, 'order_json')),
    answer: jsonOf(text(row, 'answer_json')),
    result: result === undefined ? undefined : jsonOf(result),
    characters: integer(row, 'characters'),
    credits: integer(row, 'credits'),
    createdAt: integer(row, 'created_at'),
    finishedAt: optionalInteger(row, 'finished_at'),
    errorCode: errorCode === undefined ? undefined : requireErrorCode(errorCode),
    errorMessage: optionalText(row, 'error_message'),
    fault: row['fault'] === null ? undefined : oneOf(JOB_FAULTS, row, 'fault'),
  };
}

function segmentOf(row: Row): SegmentRecord {
  return {
    index: integer(row, 'number'),
    text: text(row, 'text'),
    characters: integer(row, 'characters'),
    status: oneOf(SEGMENT_STATUSES, row, 'status'),
    samples: optionalInteger(row, 'samples'),
    sampleRate: optionalInteger(row, 'sample_rate'),
  };
}

/** Checks a stored error code. @throws TypeError when this version of foley does not know the code */
export function requireErrorCode(code: string): ServiceErrorCode {
  if (isErrorCode(code)) return code;
  throw new TypeError(`Unknown error code: ${code}`);
}

function isErrorCode(code: string): code is ServiceErrorCode {
  return Object.hasOwn(SERVICE_ERRORS, code);
}

/** Parses a stored JSON object. @throws TypeError when the JSON is not an object */
export function jsonOf(stored: string): Json {
  const value: unknown = JSON.parse(stored);
  if (typeof value === 'object' && value !== null) return { ...value };
  throw new TypeError('Stored JSON is not an object');
}
