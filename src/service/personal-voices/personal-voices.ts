import { PERSONAL_VOICES_MAX } from '../../contract/limits.ts';
import type { MadeVoices } from '../catalogue/catalogue.ts';
import { ServiceError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { showText } from '../wording/show-value.ts';
import type { PersonalVoice } from './voice-records.ts';
import {
  countVoices,
  deleteVoice,
  findVoice,
  insertVoice,
  isInUse,
  listVoices,
} from './voice-records.ts';

/** The voices that accounts made, in every process on the same data (spec section 2.1). */
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
