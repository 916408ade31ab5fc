import type { RealtimeMode, RequestState } from '../../../contract/realtime/protocols.ts';
import {
  REALTIME_FORMATS,
  REALTIME_MODES,
  REQUEST_STATES,
} from '../../../contract/realtime/protocols.ts';
import type { RealtimeFormat } from '../../../contract/realtime/protocols.ts';
import type { Owner } from '../../operations/owner.ts';
import type { Connection, Row } from '../../store/connection.ts';
import { integer, optionalInteger, optionalText, text } from '../../store/connection.ts';

/** A request of realtime speech, as it is written down. */
export interface RequestRecord {
  readonly id: string;
  readonly accountId: string;
  /** By which its client names it. */
  readonly requestId: string;
  readonly mode: RealtimeMode;
  /** Digest of what was asked for. */
  readonly fingerprint: string;
  readonly format: RealtimeFormat;
  readonly state: RequestState;
  readonly ownerId: string | undefined;
  /** Milliseconds since the epoch until which audio of it is kept, where any is. */
  readonly storedUntil: number | undefined;
  readonly segments: readonly SegmentRecord[];
}

export interface SegmentRecord {
  /** From 1. */
  readonly number: number;
  readonly segmentId: string;
  /** Numbers of its text events. */
  readonly sequences: readonly number[];
  readonly textDigest: string;
  readonly characters: number;
  readonly operationId: string;
  /** What its operation is, and whether it is paid for. */
  readonly operationState: string;
  readonly isCharged: boolean;
  /** All of its audio, once that was sent; 0 for a text that holds nothing to say. */
  readonly audio: { readonly bytes: number; readonly frames: number } | undefined;
}

/** The request of an account under this id, with its segments in order. */
export function findRequest(
  db: Connection,
  accountId: string,
  requestId: string,
): RequestRecord | undefined {
  const row = db.get('SELECT * FROM realtime_request WHERE account_id = ? AND request_id = ?', [
    accountId,
    requestId,
  ]);
  return row === undefined ? undefined : recordOf(db, row);
}

type NewRequest = Omit<RequestRecord, 'state' | 'ownerId' | 'storedUntil' | 'segments'> & {
  readonly owner: Owner;
  readonly now: number;
};

export function writeRequest(db: Connection, request: NewRequest): void {
  const { id, accountId, requestId, mode, fingerprint, format, owner, now } = request;
  owner.renew(db);
  db.run(
    `INSERT INTO realtime_request (id, account_id, request_id, mode, fingerprint, format, state,
       owner_id, created_at) VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
    [id, accountId, requestId, mode, fingerprint, format, owner.id, now],
  );
}

/** Takes up a request that had failed. */
export function resumeRequest(db: Connection, id: string, owner: Owner): void {
  owner.renew(db);
  db.run("UPDATE realtime_request SET state = 'running', owner_id = ? WHERE id = ?", [
    owner.id,
    id,
  ]);
}

/** Ends a request of this owner; gives false when it is no longer this one's. */
export function endRequest(
  db: Connection,
  id: string,
  end: { readonly owner: Pick<Owner, 'id'>; readonly state: Exclude<RequestState, 'running'> },
): boolean {
  const changed = db.run(
    'UPDATE realtime_request SET state = ?, owner_id = NULL WHERE id = ? AND owner_id = ?',
    [end.state, id, end.owner.id],
  );
  return changed > 0;
}

/** As if it had never been asked for; what its segments cost was given back before. */
export function forgetRequest(db: Connection, id: string): void {
  db.run('DELETE FROM realtime_segment WHERE request = ?', [id]);
  db.run('DELETE FROM realtime_request WHERE id = ?', [id]);
}

type NewSegment = Pick<
  SegmentRecord,
  'number' | 'segmentId' | 'sequences' | 'textDigest' | 'characters' | 'operationId'
>;

/** Writes a segment, or what is paid for it now where it was there before. */
export function writeSegment(db: Connection, request: string, segment: NewSegment): void {
  const { number, segmentId, sequences, textDigest, characters, operationId } = segment;
  db.run(
    `INSERT INTO realtime_segment (request, number, segment_id, sequences, text_digest, characters,
       operation_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
     ON CONFLICT (request, segment_id) DO UPDATE SET operation_id = ?7`,
    [request, number, segmentId, JSON.stringify(sequences), textDigest, characters, operationId],
  );
}

/** All of its audio was sent. */
export function completeSegment(
  db: Connection,
  request: string,
  { segmentId, bytes, frames }: { segmentId: string; bytes: number; frames: number },
): void {
  db.run(
    `UPDATE realtime_segment SET audio_bytes = ?, audio_frames = ?
     WHERE request = ? AND segment_id = ?`,
    [bytes, frames, request, segmentId],
  );
}

/** The credits that stand charged for the segments of a request. */
export function chargedCredits(db: Connection, request: string): number {
  const row = db.get(
    `SELECT COALESCE(SUM(reservation.credits), 0) AS credits FROM realtime_segment
       JOIN reservation ON reservation.id = operation_id
     WHERE request = ? AND reservation.state = 'committed'`,
    [request],
  );
  return row === undefined ? 0 : integer(row, 'credits');
}

/** Notes until when audio of a request is kept. */
export function keepUntil(db: Connection, id: string, storedUntil: number | null): void {
  db.run('UPDATE realtime_request SET stored_until = ? WHERE id = ?', [storedUntil, id]);
}

/** Requests whose audio is kept for no longer, but for those that are spoken just now. */
export function findExpired(db: Connection, now: number): readonly string[] {
  return db
    .all("SELECT id FROM realtime_request WHERE stored_until <= ? AND state <> 'running'", [now])
    .map((row) => text(row, 'id'));
}

function recordOf(db: Connection, row: Row): RequestRecord {
  const id = text(row, 'id');
  const segments = db.all(
    `SELECT realtime_segment.*, operation.state AS operation_state, reservation.state AS paid
     FROM realtime_segment
       JOIN operation ON operation.id = operation_id
       JOIN reservation ON reservation.id = operation_id
     WHERE request = ? ORDER BY number`,
    [id],
  );
  return {
    id,
    accountId: text(row, 'account_id'),
    requestId: text(row, 'request_id'),
    mode: oneOf(REALTIME_MODES, row, 'mode'),
    fingerprint: text(row, 'fingerprint'),
    format: oneOf(REALTIME_FORMATS, row, 'format'),
    state: oneOf(REQUEST_STATES, row, 'state'),
    ownerId: optionalText(row, 'owner_id'),
    storedUntil: optionalInteger(row, 'stored_until'),
    segments: segments.map((segment) => segmentOf(segment)),
  };
}

function segmentOf(row: Row): SegmentRecord {
  const bytes = optionalInteger(row, 'audio_bytes');
  const frames = optionalInteger(row, 'audio_frames');
  return {
    number: integer(row, 'number'),
    segmentId: text(row, 'segment_id'),
    sequences: numbersIn(text(row, 'sequences')),
    textDigest: text(row, 'text_digest'),
    characters: integer(row, 'characters'),
    operationId: text(row, 'operation_id'),
    operationState: text(row, 'operation_state'),
    isCharged: text(row, 'paid') === 'committed',
    audio: bytes === undefined || frames === undefined ? undefined : { bytes, frames },
  };
}

function numbersIn(json: string): readonly number[] {
  const numbers: unknown = JSON.parse(json);
  return Array.isArray(numbers) ? numbers.map(Number) : [];
}

function oneOf<Word extends string>(words: readonly Word[], row: Row, column: string): Word {
  const found = words.find((word) => word === row[column]);
  if (found === undefined) throw new TypeError(`${column} ${text(row, column)} is unknown`);
  return found;
}
