import type { SpeechFormat } from '../../contract/speech.ts';
import { SPEECH_FORMATS } from '../../contract/speech.ts';
import type { Output } from '../../durable/output.ts';
import type { Clock } from '../../system/clock.ts';
import type { OperationKey } from '../operations/operations.ts';
import { findByKey } from '../operations/operations.ts';
import type { Connection } from '../store/connection.ts';
import { integer, oneOf, optionalText, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { AudioFolder } from './audio-files.ts';

export type CachedSpeechStore = ReturnType<typeof createCachedSpeech>;

export interface CachedWriting {
  readonly output: Output;
  /** Marks the audio as completely stored. Call it in the transaction that completes the billed request. */
  ready(db: Connection, quotaRemaining: number): CachedRecord;
  /** Deletes the audio; never throws. */
  discard(): Promise<void>;
}

interface NewCachedSpeech {
  /** Id of the billed request for which the audio was made. */
  readonly id: string;
  readonly format: SpeechFormat;
  readonly creditsUsed: number;
  /** Ranges of the text that the voice left out, in the format of `X-Foley-Unspoken`; empty if there are none. */
  readonly unspoken: string;
}

export interface CachedRecord extends NewCachedSpeech {
  readonly quotaRemaining: number;
  /** Expiry time in milliseconds since the epoch. */
  readonly expiresAt: number;
}

const LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** Creates the store of audio that clients download later through a URL (docs/api/speech.md#v1, `cache`). */
export function createCachedSpeech({
  store,
  audio: folder,
  clock,
}: {
  readonly store: Store;
  readonly audio: AudioFolder;
  readonly clock: Clock;
}) {
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => db.run('DELETE FROM cached_speech WHERE id = ?', [id]));
  };
  const findRecord = (db: Connection, id: string): CachedRecord | undefined => {
    const row = db.get(
      'SELECT * FROM cached_speech WHERE quota_remaining IS NOT NULL AND expires_at > ? AND id = ?',
      [clock.now(), id],
    );
    if (row === undefined) return undefined;
    return {
      id,
      format: oneOf(SPEECH_FORMATS, row, 'format'),
      creditsUsed: integer(row, 'credits_used'),
      quotaRemaining: integer(row, 'quota_remaining'),
      unspoken: optionalText(row, 'unspoken') ?? '',
      expiresAt: integer(row, 'expires_at'),
    };
  };
  return {
    /** Creates a file for the audio of a billed request. @throws Failure when the file cannot be written */
    async open({ id, format, creditsUsed, unspoken }: NewCachedSpeech): Promise<CachedWriting> {
      const expiresAt = clock.now() + LIFETIME_MS;
      // Recorded before the file exists, so that a sweep deletes the file even after a crash.
      const row = { id, format, credits_used: creditsUsed, unspoken, expires_at: expiresAt };
      store.write((db) => db.insert('cached_speech', row));
      const discard = (): Promise<void> => remove(id).catch(() => undefined);
      try {
        const output = await folder.create(id, fileOf(format));
        const ready = (db: Connection, quotaRemaining: number): CachedRecord => {
          db.run('UPDATE cached_speech SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
          return { id, format, creditsUsed, quotaRemaining, unspoken, expiresAt };
        };
        return { output, ready, discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    /** Returns the record of the audio stored for this idempotency key; undefined if none is stored. */
    findByKey: (key: OperationKey): CachedRecord | undefined =>
      store.read((db) => {
        const operation = findByKey(db, key);
        return operation === undefined ? undefined : findRecord(db, text(operation, 'id'));
      }),
    async find(id: string) {
      const record = store.read((db) => findRecord(db, id));
      const audio = record && (await folder.find(id, fileOf(record.format)));
      return record === undefined || audio === undefined ? undefined : { record, audio };
    },
    async sweep(): Promise<void> {
      const expired = store.read((db) =>
        db.all('SELECT id FROM cached_speech WHERE expires_at <= ?', [clock.now()]),
      );
      for (const row of expired) await remove(text(row, 'id'));
    },
  };
}

function fileOf(format: SpeechFormat): string {
  return `speech.${format}`;
}
