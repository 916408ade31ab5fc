import type { SpeechFormat } from '../../contract/speech.ts';
import { SPEECH_FORMATS } from '../../contract/speech.ts';
import type { Output } from '../../durable/output.ts';
import type { Clock } from '../../effects/clock.ts';
import type { OperationKey } from '../operations/operations.ts';
import { findByKey } from '../operations/operations.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { AudioFolder, StoredAudio } from './audio-files.ts';

/** Audio that is stored for a while to be downloaded (docs/api/speech.md#v1, `cache`). */
export interface CachedSpeech {
  /** Makes room for the audio of an operation. @throws Failure when it cannot be written */
  open(audio: Omit<CachedRecord, 'quotaRemaining' | 'expiresAt'>): Promise<CachedWriting>;
  /** What the completed request with this key was answered with, while the audio is there. */
  findByKey(key: OperationKey): CachedRecord | undefined;
  /** Audio by its id, while it is there. */
  find(id: string): Promise<CachedAudio | undefined>;
  /** Removes what has expired. */
  sweep(): Promise<void>;
}

/** Audio on its way into the store. */
export interface CachedWriting {
  readonly output: Output;
  /** Part of the transaction that completes the operation; gives what there is then. */
  ready(db: Connection, quotaRemaining: number): CachedRecord;
  /** Removes what there is of it; never throws. */
  discard(): Promise<void>;
}

interface CachedAudio {
  readonly record: CachedRecord;
  readonly audio: StoredAudio;
}

interface CachedSpeechDeps {
  readonly store: Store;
  readonly folder: AudioFolder;
  readonly clock: Clock;
}

/** How long audio stays. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

export function createCachedSpeech({ store, folder, clock }: CachedSpeechDeps): CachedSpeech {
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => forget(db, id));
  };
  return {
    async open({ id, format, creditsUsed }) {
      const expiresAt = clock.now() + KEPT_MS;
      store.write((db) => announce(db, { id, format, creditsUsed, expiresAt }));
      const discard = (): Promise<void> => remove(id).catch(() => undefined);
      try {
        const output = await folder.create(id, fileOf(format));
        const ready = (db: Connection, quotaRemaining: number): CachedRecord => {
          makeReady(db, id, quotaRemaining);
          return { id, format, creditsUsed, quotaRemaining, expiresAt };
        };
        return { output, ready, discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    findByKey: (key) => store.read((db) => findAnswered(db, key, clock.now())),
    async find(id) {
      const record = store.read((db) => findReady(db, id, clock.now()));
      const audio = record && (await folder.find(id, fileOf(record.format)));
      return record === undefined || audio === undefined ? undefined : { record, audio };
    },
    async sweep() {
      for (const id of store.read((db) => findExpired(db, clock.now()))) await remove(id);
    },
  };
}

function fileOf(format: SpeechFormat): string {
  return `speech.${format}`;
}

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
function announce(
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
function makeReady(db: Connection, id: string, quotaRemaining: number): void {
  db.run('UPDATE cached_speech SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
}

function forget(db: Connection, id: string): void {
  db.run('DELETE FROM cached_speech WHERE id = ?', [id]);
}

/** What is ready and not expired, by its id. */
function findReady(db: Connection, id: string, now: number): CachedRecord | undefined {
  return recordOf(db.get(`${READY} AND id = ?`, [now, id]));
}

/** What was ready for the request with a key of this one, if that has not expired. */
function findAnswered(db: Connection, key: OperationKey, now: number): CachedRecord | undefined {
  const operation = findByKey(db, key);
  return operation === undefined ? undefined : findReady(db, text(operation, 'id'), now);
}

/** Ids of everything whose time is over, finished or not. */
function findExpired(db: Connection, now: number): readonly string[] {
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
