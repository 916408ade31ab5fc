import type { Clock } from '../../effects/clock.ts';
import type { SpeechFormat } from '../../contract/schemas/speech.ts';
import type { Output } from '../../files/output.ts';
import type { AudioFolder } from '../audio-files/audio-folder.ts';
import type { StoredAudio } from '../audio-files/stored-audio.ts';
import type { Connection } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { CachedRecord } from './cached-speech-records.ts';
import {
  announce,
  findByKey,
  findExpired,
  findReady,
  forget,
  makeReady,
} from './cached-speech-records.ts';

/** Audio that is stored for a while to be downloaded (spec section 4.3, `cache`). */
export interface CachedSpeech {
  /** Makes room for the audio of an operation. @throws Failure when it cannot be written */
  open(audio: Omit<CachedRecord, 'quotaRemaining' | 'expiresAt'>): Promise<CachedWriting>;
  /** What the completed request with this key was answered with, while the audio is there. */
  findByKey(key: {
    readonly accountId: string;
    readonly idempotencyKey: string;
  }): CachedRecord | undefined;
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

export interface CachedAudio {
  readonly record: CachedRecord;
  readonly audio: StoredAudio;
}

export interface CachedSpeechDeps {
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
    findByKey: (key) => store.read((db) => findByKey(db, key, clock.now())),
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
