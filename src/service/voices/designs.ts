import type { FamilyId } from '../../contract/families.ts';
import { DESIGN_LIFETIME_HOURS } from '../../contract/limits.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Output } from '../../durable/output.ts';
import type { Clock } from '../../effects/clock.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import { engineOf, engineValues, familyIn } from './personal-voices.ts';
import type { EngineSource } from './voices.ts';

/** Designs of every account, for as long as they are kept (docs/api/voice-design.md). */
export interface Designs {
  /** Makes room for a design under the id of its operation. */
  begin(design: Pick<DesignRecord, 'id' | 'accountId' | 'characters' | 'credits'>): DesignWriting;
  /** A design of the account, while it is there. */
  find(accountId: string, id: string): DesignRecord | undefined;
  /** The preview of a candidate, while it is there. */
  preview(design: DesignRecord, candidate: CandidateRecord): Promise<StoredAudio | undefined>;
  /** Removes what has expired. */
  sweep(): Promise<void>;
}

/** A design on its way into the store. */
export interface DesignWriting {
  /** Opens the preview of a candidate to be written. @throws Failure when it cannot be */
  create(candidateId: string): Promise<Output>;
  /** Part of the transaction that completes the operation; gives what there is then. */
  ready(db: Connection, made: Pick<DesignRecord, 'quotaRemaining' | 'candidates'>): DesignRecord;
  /** Removes what there is of it; never throws. */
  discard(): Promise<void>;
}

interface DesignsDeps {
  readonly store: Store;
  readonly folder: AudioFolder;
  readonly clock: Clock;
}

const KEPT_MS = DESIGN_LIFETIME_HOURS * 60 * 60 * 1_000;

export function createDesigns({ store, folder, clock }: DesignsDeps): Designs {
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => forgetDesign(db, id));
  };
  return {
    begin(request) {
      const { id } = request;
      const createdAt = clock.now();
      const design = { ...request, createdAt, expiresAt: createdAt + KEPT_MS };
      store.write((db) => announceDesign(db, design));
      return {
        create: (candidateId) => folder.create(id, fileOf(candidateId)),
        ready(db, made) {
          completeDesign(db, { id, ...made });
          return { ...design, ...made };
        },
        discard: () => remove(id).catch(() => undefined),
      };
    },
    find: (accountId, id) =>
      store.read((db) => findDesign(db, { id, accountId, now: clock.now() })),
    preview: (design, candidate) => folder.find(design.id, fileOf(candidate.id)),
    async sweep() {
      for (const id of store.read((db) => findExpiredDesigns(db, clock.now()))) await remove(id);
    },
  };
}

function fileOf(candidateId: string): string {
  return `${candidateId}.${PREVIEW_FORMAT}`;
}

/** A design that is there for a while. */
export interface DesignRecord {
  /** That of the operation that paid for it. */
  readonly id: string;
  readonly accountId: string;
  /** Of all previews together. */
  readonly characters: number;
  readonly credits: number;
  readonly quotaRemaining: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly candidates: readonly CandidateRecord[];
}

/** A voice that a design proposes. */
export interface CandidateRecord {
  readonly id: string;
  readonly family: FamilyId;
  /** Of the engine's voice. */
  readonly language: string;
  readonly engine: EngineSource;
  /** What was made of the prompt, in plain words. */
  readonly description: string;
}

/** Notes a design that is going to be made, so that what is stored for it is removed whatever happens. */
function announceDesign(
  db: Connection,
  design: Omit<DesignRecord, 'candidates' | 'quotaRemaining'>,
): void {
  const { id, accountId, characters, credits, createdAt, expiresAt } = design;
  db.run(
    `INSERT INTO voice_design (id, account_id, characters, credits, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [id, accountId, characters, credits, createdAt, expiresAt],
  );
}

/** Notes that its previews are there. */
function completeDesign(
  db: Connection,
  { id, quotaRemaining, candidates }: Pick<DesignRecord, 'id' | 'quotaRemaining' | 'candidates'>,
): void {
  db.run('UPDATE voice_design SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
  for (const [number, candidate] of candidates.entries()) {
    const { description, family, language, engine } = candidate;
    db.run(
      `INSERT INTO voice_candidate (design_id, number, id, description, family, language, engine,
         engine_voice, pitch, speed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, number, candidate.id, description, family, language, ...engineValues(engine)],
    );
  }
}

function forgetDesign(db: Connection, id: string): void {
  db.run('DELETE FROM voice_candidate WHERE design_id = ?', [id]);
  db.run('DELETE FROM voice_design WHERE id = ?', [id]);
}

/** A design of the account that is ready and has not expired. */
export function findDesign(
  db: Connection,
  { id, accountId, now }: Pick<DesignRecord, 'id' | 'accountId'> & { readonly now: number },
): DesignRecord | undefined {
  const row = db.get(
    `SELECT * FROM voice_design
     WHERE id = ? AND account_id = ? AND quota_remaining IS NOT NULL AND expires_at > ?`,
    [id, accountId, now],
  );
  return row === undefined ? undefined : designOf(db, row);
}

/** Ids of everything whose time is over, finished or not. */
function findExpiredDesigns(db: Connection, now: number): readonly string[] {
  return db
    .all('SELECT id FROM voice_design WHERE expires_at <= ?', [now])
    .map((row) => text(row, 'id'));
}

function designOf(db: Connection, row: Row): DesignRecord {
  const id = text(row, 'id');
  const rows = db.all('SELECT * FROM voice_candidate WHERE design_id = ? ORDER BY number', [id]);
  return {
    id,
    accountId: text(row, 'account_id'),
    characters: integer(row, 'characters'),
    credits: integer(row, 'credits'),
    quotaRemaining: integer(row, 'quota_remaining'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
    candidates: rows.map((candidate) => ({
      id: text(candidate, 'id'),
      description: text(candidate, 'description'),
      family: familyIn(candidate),
      language: text(candidate, 'language'),
      engine: engineOf(candidate),
    })),
  };
}
