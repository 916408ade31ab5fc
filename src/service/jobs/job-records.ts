import type { JobStatus, SegmentStatus } from '../../contract/jobs.ts';
import { JOB_STATUSES, SEGMENT_STATUSES } from '../../contract/jobs.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import { SPEECH_FORMATS } from '../../contract/speech.ts';
import type { JobFault } from '../http/faults.ts';
import type { Connection, Row, SqlValue } from '../store/connection.ts';
import { integer, number, optionalInteger, optionalText, text } from '../store/connection.ts';

/** A job as it is stored, without its text. */
export interface JobRecord {
  readonly id: string;
  readonly accountId: string;
  readonly status: JobStatus;
  /** Who works on it; nobody when it was given back. */
  readonly ownerId: string | undefined;
  readonly attempts: number;
  readonly voiceId: string;
  readonly modelId: string;
  readonly format: SpeechFormat;
  readonly speed: number;
  readonly pitch: number;
  readonly gainDb: number;
  readonly ignored: readonly string[];
  readonly characters: number;
  /** Set aside while it runs; spent once it is done. */
  readonly credits: number;
  readonly textPreview: string;
  readonly textFingerprint: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** Why it failed, or its last segment that did, in the words of the engine. */
  readonly failure: string | undefined;
  /** The code of its failure, where it is not the engine's. */
  readonly errorCode: string | undefined;
  /** How it is to end, by a fault rule of the service that accepted it. */
  readonly fault: JobFault | undefined;
}

export interface SegmentRecord {
  /** From 0, in the order of the text. */
  readonly index: number;
  readonly text: string;
  readonly characters: number;
  readonly status: SegmentStatus;
  /** How long its speech is, once there is any. */
  readonly samples: number | undefined;
  readonly sampleRate: number | undefined;
}

/** A job with its segments. */
export interface WholeJob extends JobRecord {
  readonly segments: readonly SegmentRecord[];
}

export interface JobFilter {
  readonly status?: JobStatus | undefined;
  /** Milliseconds since the epoch; only jobs that were accepted later. */
  readonly createdAfter?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

const SELECT_JOB =
  'SELECT job.*, (SELECT failure FROM operation WHERE operation.id = job.id) AS failure FROM job';

/** The job with this id, whoever it belongs to. */
export function readJob(db: Connection, id: string): WholeJob | undefined {
  const row = db.get(`${SELECT_JOB} WHERE id = ?`, [id]);
  if (row === undefined) return undefined;
  const segments = db.all('SELECT * FROM job_segment WHERE job_id = ? ORDER BY number', [id]);
  return { ...jobOf(row), segments: segments.map((segment) => segmentOf(segment)) };
}

/** Jobs of an account, the newest first. */
export function listJobs(
  db: Connection,
  accountId: string,
  { status, createdAfter, limit, offset }: JobFilter,
): readonly JobRecord[] {
  const conditions = ['account_id = ?'];
  const values: SqlValue[] = [accountId];
  if (status !== undefined) {
    conditions.push('status = ?');
    values.push(status);
  }
  if (createdAfter !== undefined) {
    conditions.push('created_at > ?');
    values.push(createdAfter);
  }
  const sql = `${SELECT_JOB} WHERE ${conditions.join(' AND ')}
    ORDER BY number DESC LIMIT ? OFFSET ?`;
  return db.all(sql, [...values, limit, offset]).map((row) => jobOf(row));
}

function jobOf(row: Row): JobRecord {
  const ignored = text(row, 'ignored');
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    status: oneOf(JOB_STATUSES, text(row, 'status')),
    ownerId: optionalText(row, 'owner_id'),
    attempts: integer(row, 'attempts'),
    voiceId: text(row, 'voice_id'),
    modelId: text(row, 'model_id'),
    format: oneOf(SPEECH_FORMATS, text(row, 'format')),
    speed: number(row, 'speed'),
    pitch: number(row, 'pitch'),
    gainDb: number(row, 'gain_db'),
    ignored: ignored === '' ? [] : ignored.split(','),
    characters: integer(row, 'characters'),
    credits: integer(row, 'credits'),
    textPreview: text(row, 'text_preview'),
    textFingerprint: text(row, 'text_fingerprint'),
    createdAt: integer(row, 'created_at'),
    finishedAt: optionalInteger(row, 'finished_at'),
    failure: optionalText(row, 'failure'),
    errorCode: optionalText(row, 'error_code'),
    fault: row['fault'] === null ? undefined : oneOf(JOB_FAULTS, text(row, 'fault')),
  };
}

function segmentOf(row: Row): SegmentRecord {
  return {
    index: integer(row, 'number'),
    text: text(row, 'text'),
    characters: integer(row, 'characters'),
    status: oneOf(SEGMENT_STATUSES, text(row, 'status')),
    samples: optionalInteger(row, 'samples'),
    sampleRate: optionalInteger(row, 'sample_rate'),
  };
}

const JOB_FAULTS: readonly JobFault[] = ['fail', 'partial_fail'];

function oneOf<Value extends string>(values: readonly Value[], given: string): Value {
  const found = values.find((value) => value === given);
  if (found === undefined) throw new TypeError(`${given} is none of ${values.join(', ')}`);
  return found;
}
