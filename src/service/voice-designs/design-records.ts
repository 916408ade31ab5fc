import { engineOf, engineValues, familyIn } from '../personal-voices/voice-records.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, text } from '../store/connection.ts';
import type { ProposedVoice } from './propose-voices.ts';

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

export interface CandidateRecord extends ProposedVoice {
  readonly id: string;
}

/** Notes a design that is going to be made, so that what is stored for it is removed whatever happens. */
export function announceDesign(
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
export function completeDesign(
  db: Connection,
  { id, quotaRemaining, candidates }: Pick<DesignRecord, 'id' | 'quotaRemaining' | 'candidates'>,
): void {
  db.run('UPDATE voice_design SET quota_remaining = ? WHERE id = ?', [quotaRemaining, id]);
  for (const [number, candidate] of candidates.entries()) {
    const { description, family, language, engine } = candidate;
    db.run(
      `INSERT INTO voice_candidate (design_id, number, id, description, family, language, engine,
         engine_voice, pitch, speed, melody, formants) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, number, candidate.id, description, family, language, ...engineValues(engine)],
    );
  }
}

export function forgetDesign(db: Connection, id: string): void {
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
export function findExpiredDesigns(db: Connection, now: number): readonly string[] {
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
