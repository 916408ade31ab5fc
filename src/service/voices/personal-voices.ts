import { FAMILIES } from '../../contract/families.ts';
import type { FamilyId } from '../../contract/families.ts';
import { PERSONAL_VOICES_MAX } from '../../contract/limits.ts';
import { showText } from '../http/wording.ts';
import { ServiceError } from '../service-error.ts';
import type { Connection, Row, SqlValue } from '../store/connection.ts';
import { integer, number, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { MadeVoices } from './catalogue.ts';
import type { CatalogueVoice, EngineSource, MadeVoice } from './voices.ts';

/** The voices that accounts made, in every process on the same data (docs/api/voices.md). */
export interface PersonalVoices extends MadeVoices {
  find(accountId: string, voiceId: string): PersonalVoice | undefined;
  /** @throws ServiceError 402 when the account may have no more voices */
  requireRoom(accountId: string): void;
  /**
   * Keeps a voice.
   * @throws ServiceError 402 when the account may have no more voices
   */
  add(voice: PersonalVoice, referenceText?: string): void;
  /**
   * Deletes a voice of the account; what was spoken with it stays.
   * @throws ServiceError 404 when the account has none with this id, 409 while a job needs it
   */
  remove(accountId: string, voiceId: string): void;
}

export function createPersonalVoices(store: Store): PersonalVoices {
  return {
    list: (accountId) => store.read((db) => listVoices(db, accountId)),
    find: (accountId, voiceId) => store.read((db) => findVoice(db, accountId, voiceId)),
    requireRoom: (accountId) => store.read((db) => requireRoom(db, accountId)),
    add: (voice, referenceText) => store.write((db) => keepVoice(db, voice, referenceText)),
    remove(accountId, voiceId) {
      store.write((db) => {
        const voice = findVoice(db, accountId, voiceId);
        if (voice?.made.accountId !== accountId) throw notTheirs(voiceId);
        if (isInUse(db, voiceId)) throw inUse();
        deleteVoice(db, voiceId);
      });
    },
  };
}

/**
 * Keeps a voice inside the caller's transaction.
 * @throws ServiceError 402 when the account may have no more voices
 */
export function keepVoice(db: Connection, voice: PersonalVoice, referenceText?: string): void {
  requireRoom(db, voice.made.accountId);
  insertVoice(db, voice, referenceText);
}

function requireRoom(db: Connection, accountId: string): void {
  const count = countVoices(db, accountId);
  if (count < PERSONAL_VOICES_MAX) return;
  throw new ServiceError(
    'ERR_VOICE_LIMIT_REACHED',
    `The account has ${count} voices, and may have no more; delete one first`,
    { details: { voices: count, allowed: PERSONAL_VOICES_MAX } },
  );
}

function notTheirs(voiceId: string): ServiceError {
  const message = `The account has no voice ${showText(voiceId)}; only its own can be deleted`;
  return new ServiceError('ERR_VOICE_NOT_FOUND', message);
}

function inUse(): ServiceError {
  const message = 'A job that has not ended speaks with this voice; delete it when that is done';
  return new ServiceError('ERR_VOICE_IN_USE', message);
}

/** A voice that an account made. */
export interface PersonalVoice extends CatalogueVoice {
  readonly made: MadeVoice;
}

/** Writes down a voice. */
export function insertVoice(
  db: Connection,
  voice: PersonalVoice,
  referenceText: string | undefined,
): void {
  const { id, name, family, primaryLanguage, languages, made } = voice;
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

/** The voice, if this account may use it. */
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

/** Every voice that this account may use, the oldest first. */
function listVoices(db: Connection, accountId: string): readonly PersonalVoice[] {
  return db
    .all(
      "SELECT * FROM personal_voice WHERE account_id = ? OR visibility = 'public' ORDER BY number",
      [accountId],
    )
    .map((row) => voiceOf(row));
}

/** How many voices this account has made. */
function countVoices(db: Connection, accountId: string): number {
  const row = db.get('SELECT COUNT(*) AS count FROM personal_voice WHERE account_id = ?', [
    accountId,
  ]);
  return row === undefined ? 0 : integer(row, 'count');
}

/** Whether there is a voice with this id. */
export function hasVoice(db: Connection, voiceId: string): boolean {
  return db.get('SELECT 1 FROM personal_voice WHERE id = ?', [voiceId]) !== undefined;
}

/** Whether a job still has to be spoken with it. */
function isInUse(db: Connection, voiceId: string): boolean {
  const sql = `SELECT 1 FROM job WHERE finished_at IS NULL AND kind = 'speech'
    AND json_extract(order_json, '$.voiceId') = ?`;
  return db.get(sql, [voiceId]) !== undefined;
}

/** Forgets a voice; what was spoken with it keeps its id. */
function deleteVoice(db: Connection, voiceId: string): void {
  db.run('DELETE FROM personal_voice WHERE id = ?', [voiceId]);
}

/** What a row tells of how a voice is made, in the order engine, engine_voice, pitch, speed. */
export function engineValues(engine: EngineSource): readonly SqlValue[] {
  const { name, voice, pitch, speed } = engine;
  return [name, voice, pitch, speed];
}

/** Reads what `engineValues` wrote. */
export function engineOf(row: Row): EngineSource {
  return {
    name: text(row, 'engine'),
    voice: text(row, 'engine_voice'),
    pitch: number(row, 'pitch'),
    speed: number(row, 'speed'),
  };
}

/** The engine family that is written in a row. */
export function familyIn(row: Row): FamilyId {
  const name = text(row, 'family');
  const family = FAMILIES.find(({ id }) => id === name);
  if (family === undefined) throw new TypeError(`family ${name} is unknown`);
  return family.id;
}

function voiceOf(row: Row): PersonalVoice {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    family: familyIn(row),
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
