import type { Owner } from '../operations/owner.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';

/** Where jobs are that a process may leave behind. */
export type JobTable = 'job' | 'media_job';

/** A job that falls to this process. */
export interface OwnJob {
  readonly id: string;
  /** What it makes. */
  readonly kind: string;
}

/** What the jobs of speech make, all of them. */
export const SPEECH_KIND = 'speech';

const KIND_OF: Readonly<Record<JobTable, string>> = {
  job: `'${SPEECH_KIND}'`,
  media_job: 'kind',
};

/**
 * Jobs that have not ended and that nobody works on: given back, or of an owner that is gone. Those
 * of this process are among them, as far as it has lost sight of them.
 */
export function findLeftJobs(db: Connection, self: Owner, table: JobTable): readonly OwnJob[] {
  const owners = db.all(
    `SELECT * FROM owner WHERE id IN
       (SELECT owner_id FROM ${table} WHERE finished_at IS NULL AND owner_id IS NOT NULL)`,
  );
  const gone = new Set(
    owners.filter((row) => text(row, 'id') === self.id || self.isDead(row)).map((row) => row['id']),
  );
  const unfinished = db.all(
    `SELECT id, owner_id, ${KIND_OF[table]} AS kind FROM ${table} WHERE finished_at IS NULL
     ORDER BY number`,
  );
  return unfinished
    .filter((row) => row['owner_id'] === null || gone.has(row['owner_id']))
    .map((row) => ({ id: text(row, 'id'), kind: text(row, 'kind') }));
}
