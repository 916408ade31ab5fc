import type { Connection, Row, SqlValue } from '../store/connection.ts';
import { PERSONAL_VOICES_MAX } from '../../contract/limits.ts';
import { showText } from '../http/validation.ts';
import { ServiceError } from '../service-error.ts';
import { integer, number, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { CatalogueVoice, NewVoice, EngineSource } from './catalogue-voice.ts';
import { familyOf } from './catalogue-voice.ts';

/** Stores the custom (designed or cloned) voices of accounts (docs/api/voices.md). */
export class PersonalVoices {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the custom voices that the account can use, the oldest first. */
  list(accountId: string): readonly PersonalVoice[] {
    const sql =
      "SELECT * FROM personal_voice WHERE account_id = ? OR visibility = 'public' ORDER BY number";
    return this.#store.read((db) => db.all(sql, [accountId]).map((row) => voiceOf(row)));
  }

  find(accountId: string, voiceId: string): PersonalVoice | undefined {
    return this.#store.read((db) => findVoice(db, accountId, voiceId));
  }

  /**
   * Checks that the account can store another custom voice.
   * @throws ServiceError 402 if the account has reached the limit
   */
  requireCapacity(accountId: string): void {
    this.#store.read((db) => requireCapacity(db, accountId));
  }

  /** Stores a voice. @throws ServiceError 402 when the account has reached the voice limit */
  add(voice: PersonalVoice, referenceText?: string): void {
    this.#store.write((db) => storeVoice(db, voice, referenceText));
  }

  /**
   * Deletes a custom voice of the account. Existing audio is kept.
   * @throws ServiceError 404 when the account has no such voice, 409 while a job needs the voice
   */
  remove(accountId: string, voiceId: string): void {
    this.#store.write((db) => {
      if (findVoice(db, accountId, voiceId)?.made.accountId !== accountId) {
        const message = `The account has no voice ${showText(voiceId)}; an account can delete only its own voices`;
        throw new ServiceError('ERR_VOICE_NOT_FOUND', message);
      }
      if (isInUse(db, voiceId)) {
        const message = 'A running job uses this voice; delete the voice when the job has ended';
        throw new ServiceError('ERR_VOICE_IN_USE', message);
      }
      db.run('DELETE FROM personal_voice WHERE id = ?', [voiceId]);
    });
  }
}

function requireCapacity(db: Connection, accountId: string): void {
  const row = db.get('SELECT COUNT(*) AS count FROM personal_voice WHERE account_id = ?', [
    accountId,
  ]);
  const count = row === undefined ? 0 : integer(row, 'count');
  if (count < PERSONAL_VOICES_MAX) return;
  throw new ServiceError(
    'ERR_VOICE_LIMIT_REACHED',
    `The account has ${count} voices, the maximum; delete one first`,
    { details: { voices: count, allowed: PERSONAL_VOICES_MAX } },
  );
}

export interface PersonalVoice extends CatalogueVoice {
  readonly made: NewVoice;
}

/** Stores a voice in the caller's transaction. @throws ServiceError 402 at the voice limit of the account */
export function storeVoice(db: Connection, voice: PersonalVoice, referenceText?: string): void {
  const { id, name, family, primaryLanguage, languages, made } = voice;
  requireCapacity(db, made.accountId);
  db.run(
    `INSERT INTO personal_voice (id, account_id, name, description, visibility, reference_text,
       family, language, languages, engine, engine_voice, pitch, speed, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      made.accountId,
      name,
      made.description,
      made.visibility,
      referenceText ?? null,
      family,
      primaryLanguage,
      JSON.stringify(languages),
      ...engineValues(voice.engine),
      made.createdAt,
    ],
  );
}

/** Returns a custom voice; `undefined` if the account cannot use it. */
export function findVoice(
  db: Connection,
  accountId: string,
  voiceId: string,
): PersonalVoice | undefined {
  const row = db.get(
    "SELECT * FROM personal_voice WHERE id = ? AND (account_id = ? OR visibility = 'public')",
    [voiceId, accountId],
  );
  return row === undefined ? undefined : voiceOf(row);
}

/** Returns whether any account has a custom voice with this id. */
export function hasVoice(db: Connection, voiceId: string): boolean {
  return db.get('SELECT 1 FROM personal_voice WHERE id = ?', [voiceId]) !== undefined;
}

function isInUse(db: Connection, voiceId: string): boolean {
  const sql = `SELECT 1 FROM job WHERE finished_at IS NULL AND kind = 'speech'
    AND json_extract(order_json, '$.voiceId') = ?`;
  return db.get(sql, [voiceId]) !== undefined;
}

/** Converts an engine voice to the values of the database columns `engine`, `engine_voice`, `pitch` and `speed`. */
export function engineValues(engine: EngineSource): readonly SqlValue[] {
  const { name, voice, pitch, speed } = engine;
  return [name, voice, pitch, speed];
}

/** Reads an engine voice from the database columns `engine`, `engine_voice`, `pitch` and `speed`. */
export function engineOf(row: Row): EngineSource {
  return {
    name: text(row, 'engine'),
    voice: text(row, 'engine_voice'),
    pitch: number(row, 'pitch'),
    speed: number(row, 'speed'),
  };
}

function voiceOf(row: Row): PersonalVoice {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    family: familyOf({ family: text(row, 'family') }).id,
    primaryLanguage: text(row, 'language'),
    languages: languagesOf(text(row, 'languages')),
    engine: engineOf(row),
    made: {
      accountId: text(row, 'account_id'),
      description: text(row, 'description'),
      visibility: text(row, 'visibility') === 'public' ? 'public' : 'private',
      createdAt: integer(row, 'created_at'),
    },
  };
}

function languagesOf(json: string): readonly string[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value.map(String) : [];
}
