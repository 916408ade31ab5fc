import type { ServiceErrorCode } from '../../../contract/service-errors.ts';
import { SERVICE_ERRORS } from '../../../contract/service-errors.ts';
import type { MediaJobStatus } from '../../../contract/lip-sync.ts';
import { MEDIA_JOB_STATUSES } from '../../../contract/lip-sync.ts';
import type { Connection, Row, SqlValue } from '../../store/connection.ts';
import { integer, optionalInteger, optionalText, text } from '../../store/connection.ts';

/** What there are media jobs of. */
export const MEDIA_JOB_KINDS = ['lip_sync', 'video_dubbing', 'image', 'video'] as const;
export type MediaJobKind = (typeof MEDIA_JOB_KINDS)[number];

/** JSON that one kind of job writes and reads; everybody else passes it on. */
export type Json = Readonly<Record<string, unknown>>;

export interface MediaJobError {
  readonly code: ServiceErrorCode;
  readonly message: string;
}

/** A job of lip sync, dubbing, an image or a video, as it is stored. */
export interface MediaJob {
  readonly id: string;
  readonly accountId: string;
  readonly kind: MediaJobKind;
  readonly status: MediaJobStatus;
  /** Who works on it; nobody when it was given back. */
  readonly ownerId: string | undefined;
  readonly attempts: number;
  /** Percent, 0 to 100. */
  readonly progress: number;
  /** What is to be done. */
  readonly order: Json;
  /** What the create was answered with. */
  readonly answer: Json;
  /** Set aside while it runs; spent once it is done; 0 when it was given back. */
  readonly credits: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** What was made, once it is; the file has the id of the job. */
  readonly result: Json | undefined;
  readonly error: MediaJobError | undefined;
  /** Whether a fault rule of the service that accepted it wants it to fail. */
  readonly isToFail: boolean;
}

export interface MediaJobFilter {
  readonly status?: MediaJobStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The job with this id, whoever it belongs to. */
export function readMediaJob(db: Connection, id: string): MediaJob | undefined {
  const row = db.get('SELECT * FROM media_job WHERE id = ?', [id]);
  return row === undefined ? undefined : jobOf(row);
}

/** Jobs of an account, the newest first. */
export function listMediaJobs(
  db: Connection,
  { accountId, kind }: Pick<MediaJob, 'accountId' | 'kind'>,
  { status, limit, offset }: MediaJobFilter,
): readonly MediaJob[] {
  const conditions = ['account_id = ?', 'kind = ?'];
  const values: SqlValue[] = [accountId, kind];
  if (status !== undefined) {
    conditions.push('status = ?');
    values.push(status);
  }
  const sql = `SELECT * FROM media_job WHERE ${conditions.join(' AND ')}
    ORDER BY number DESC LIMIT ? OFFSET ?`;
  return db.all(sql, [...values, limit, offset]).map((row) => jobOf(row));
}

function jobOf(row: Row): MediaJob {
  const result = optionalText(row, 'result');
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    kind: oneOf(MEDIA_JOB_KINDS, text(row, 'kind')),
    status: oneOf(MEDIA_JOB_STATUSES, text(row, 'status')),
    ownerId: optionalText(row, 'owner_id'),
    attempts: integer(row, 'attempts'),
    progress: integer(row, 'progress'),
    order: jsonOf(text(row, 'work')),
    answer: jsonOf(text(row, 'answer')),
    credits: integer(row, 'credits'),
    createdAt: integer(row, 'created_at'),
    finishedAt: optionalInteger(row, 'finished_at'),
    result: result === undefined ? undefined : jsonOf(result),
    error: errorOf(row),
    isToFail: integer(row, 'is_to_fail') === 1,
  };
}

function errorOf(row: Row): MediaJobError | undefined {
  const code = optionalText(row, 'error_code');
  return code === undefined
    ? undefined
    : { code: requireErrorCode(code), message: text(row, 'error_message') };
}

/** A code of the contract that was stored. @throws TypeError when it is none any more */
export function requireErrorCode(code: string): ServiceErrorCode {
  if (isErrorCode(code)) return code;
  throw new TypeError(`the error code ${code} is unknown`);
}

function isErrorCode(code: string): code is ServiceErrorCode {
  return Object.hasOwn(SERVICE_ERRORS, code);
}

/** An object that was stored as JSON. @throws TypeError when it is anything else */
export function jsonOf(stored: string): Json {
  const value: unknown = JSON.parse(stored);
  if (typeof value === 'object' && value !== null) return { ...value };
  throw new TypeError('what was stored is no object');
}

function oneOf<Value extends string>(values: readonly Value[], given: string): Value {
  const found = values.find((value) => value === given);
  if (found === undefined) throw new TypeError(`${given} is none of ${values.join(', ')}`);
  return found;
}
