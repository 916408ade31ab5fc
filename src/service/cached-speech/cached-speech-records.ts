import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import { SPEECH_FORMATS } from '../../contract/schemas/speech.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';

/** Stored audio of a v1 request with `cache: true`, and what it was answered with. */
export interface CachedRecord {
  /** That of the operation that paid for it. */
  readonly id: string;
  readonly format: SpeechFormat;
  readonly creditsUsed: number;
  readonly quotaRemaining: number;
  /** Milliseconds since the epoch after which it is no longer there. */
  readonly expiresAt: number;
}

/** Notes that audio is going to be stored, so that it is removed in time whatever happens. */
export function announce(
  db: Connection,
  { id, format, creditsUsed, expiresAt }: Omit<CachedRecord, 'quotaRemaining'>,
): void {
  db.run('INSERT INTO cached_speech (id, format, credits_used, expires_at) VALUES (?, ?, ?, ?)', [
    id,
    format,
    creditsUsed,
    expiresAt,
  ]);
}

/** Notes that the audio is there. */
export function makeReady(db: Connection, id: string, quotaRemaining: number): void {
  db.run('UPDATE cached_speech SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
}

export function forget(db: Connection, id: string): void {
  db.run('DELETE FROM cached_speech WHERE id = ?', [id]);
}

/** What is ready and not expired, by its id. */
export function findReady(db: Connection, id: string, now: number): CachedRecord | undefined {
  return recordOf(db.get(`${READY} AND id = ?`, [now, id]));
}

/** What was ready for the completed request with this key, if that has not expired. */
export function findByKey(
  db: Connection,
  key: { readonly accountId: string; readonly idempotencyKey: string },
  now: number,
): CachedRecord | undefined {
  const operation = db.get(
    "SELECT id FROM operation WHERE account_id = ? AND idempotency_key = ? AND state = 'completed'",
    [key.accountId, key.idempotencyKey],
  );
  return operation === undefined ? undefined : findReady(db, text(operation, 'id'), now);
}

/** Ids of everything whose time is over, finished or not. */
export function findExpired(db: Connection, now: number): readonly string[] {
  return db
    .all('SELECT id FROM cached_speech WHERE expires_at <= ?', [now])
    .map((row) => text(row, 'id'));
}

const READY = 'SELECT * FROM cached_speech WHERE quota_remaining IS NOT NULL AND expires_at > ?';

function recordOf(row: Row | undefined): CachedRecord | undefined {
  if (row === undefined) return undefined;
  const format = SPEECH_FORMATS.find((name) => name === row['format']);
  if (format === undefined) throw new TypeError(`format ${text(row, 'format')} is unknown`);
  return {
    id: text(row, 'id'),
    format,
    creditsUsed: integer(row, 'credits_used'),
    quotaRemaining: integer(row, 'quota_remaining'),
    expiresAt: integer(row, 'expires_at'),
  };
}
