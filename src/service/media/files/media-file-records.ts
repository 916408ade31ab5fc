import type { Connection } from '../../store/connection.ts';
import { text } from '../../store/connection.ts';

/** A file that was made and may be fetched by whoever has a signed link to it. */
export interface MediaFileRecord {
  readonly id: string;
  /** The folder in which it is: that of its job. */
  readonly folder: string;
  readonly name: string;
  readonly contentType: string;
}

/** Notes a file that is there, inside the caller's transaction. */
export function writeMediaFile(db: Connection, record: MediaFileRecord): void {
  const { contentType, folder, id, name } = record;
  db.run('INSERT INTO media_file (id, folder, name, content_type) VALUES (?, ?, ?, ?)', [
    id,
    folder,
    name,
    contentType,
  ]);
}

export function readMediaFile(db: Connection, id: string): MediaFileRecord | undefined {
  const row = db.get('SELECT * FROM media_file WHERE id = ?', [id]);
  if (row === undefined) return undefined;
  const [folder, name, contentType] = [
    text(row, 'folder'),
    text(row, 'name'),
    text(row, 'content_type'),
  ];
  return { id, folder, name, contentType };
}

/** Whether anything in a folder is needed: it has a job, or a file that may be fetched. */
export function isFolderNeeded(db: Connection, folder: string): boolean {
  const job = db.get('SELECT 1 AS found FROM media_job WHERE id = ?', [folder]);
  return (
    job !== undefined ||
    db.get('SELECT 1 AS found FROM media_file WHERE folder = ?', [folder]) !== undefined
  );
}
