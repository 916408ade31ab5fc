import { dirname, join } from 'node:path';
import { hasErrno } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import type { Clock } from '../../system/clock.ts';
import { endpointPath } from '../../contract/endpoint-lookup.ts';
import type { SignedLinks } from '../jobs/signed-links.ts';
import { createAudioFolder } from '../speech/audio-files.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';

export type MediaFolder = ReturnType<typeof createMediaFolder>;

/**
 * Creates the functions that manage the files of media jobs. The folder `media` next to the database contains one
 * folder for each job.
 */
export function createMediaFolder(databasePath: string, deps: System) {
  const { files } = deps;
  const root = join(dirname(databasePath), ROOT);
  const pathOf = (owner: string, name: string): string => join(root, owner, name);
  const list = async (folder: string): Promise<readonly string[]> => {
    try {
      return await files.readdir(folder);
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return [];
      throw error;
    }
  };
  return {
    ...createAudioFolder(databasePath, deps, ROOT),
    /** Returns the path of a file; the file need not exist. */
    pathOf,
    /** Creates the folder of a job unless it exists. @throws Failure if the folder cannot be created */
    prepare: (owner: string): Promise<void> => ensurePrivateFolder(join(root, owner), files),
    /** Flushes a completed temporary file to disk and renames the file to `name`. @throws errors of the file system */
    async publish(owner: string, draft: string, name: string): Promise<void> {
      const file = await files.open(pathOf(owner, draft), 'r+');
      try {
        await file.chmod(0o600);
        await file.sync();
      } finally {
        await file.close();
      }
      await files.rename(pathOf(owner, draft), pathOf(owner, name));
    },
    /** Lists the file names in the folder of a job; empty if the folder is missing. */
    list: (owner: string): Promise<readonly string[]> => list(join(root, owner)),
    /** Lists the job folders that have not changed since `timeMs`. @param timeMs milliseconds since the epoch */
    async unchangedSince(timeMs: number): Promise<readonly string[]> {
      const owners = await list(root);
      const changes = await Promise.all(owners.map((owner) => files.stat(join(root, owner))));
      return owners.filter((_, index) => (changes[index]?.mtimeMs ?? timeMs) < timeMs);
    },
  };
}

const ROOT = 'media';

interface MediaFileRecord {
  readonly id: string;
  /** Id of the job, which is also the name of its folder. */
  readonly folder: string;
  readonly name: string;
  readonly contentType: string;
}

/** Stores the record of a downloadable file, inside the caller's transaction. */
export function writeMediaFile(db: Connection, record: MediaFileRecord): void {
  const { contentType, folder, id, name } = record;
  const sql = 'INSERT INTO media_file (id, folder, name, content_type) VALUES (?, ?, ?, ?)';
  db.run(sql, [id, folder, name, contentType]);
}

/** Returns the record of a downloadable file; undefined for an unknown id. */
export function readMediaFile(db: Connection, id: string): MediaFileRecord | undefined {
  const row = db.get('SELECT * FROM media_file WHERE id = ?', [id]);
  if (row === undefined) return undefined;
  const [folder, name] = [text(row, 'folder'), text(row, 'name')];
  return { id, folder, name, contentType: text(row, 'content_type') };
}

/** Returns whether a folder must be kept, because it belongs to a stored job or contains a downloadable file. */
export function isFolderNeeded(db: Connection, folder: string): boolean {
  const sql =
    'SELECT 1 FROM job WHERE id = ? UNION ALL SELECT 1 FROM media_file WHERE folder = ? LIMIT 1';
  return db.get(sql, [folder, folder]) !== undefined;
}

// Every poll of the job returns a new link.
const LINK_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/**
 * Returns a function that creates a signed link to a file. The link is valid for a day. Its host is the host of
 * `requestUrl`, the URL of the API request.
 */
export function createMediaLink(clock: Clock, links: SignedLinks) {
  return (requestUrl: string, fileId: string): string => {
    const target = { taskId: fileId, download: false };
    const { expires, signature } = links.sign(target, clock.now() + LINK_LIFETIME_MS);
    const url = new URL(endpointPath('getMediaFile', { fileId }), requestUrl);
    url.search = new URLSearchParams({ expires: String(expires), signature }).toString();
    return url.href;
  };
}
