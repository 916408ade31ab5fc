import type { FileDeps } from '../../files/file-deps.ts';
import { removeQuietly } from '../../files/debris.ts';
import { syncFolder } from '../../files/durability.ts';
import type { LineFile } from './line-file.ts';
import type { JournalFile, ReadJournals } from './read-journals.ts';

export interface CompactOptions extends FileDeps {
  readonly journals: string;
  /** Of this process; what is still true goes into it. */
  readonly into: LineFile;
}

const MOST_FILES = 24;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Brings the journals of earlier runs together, once there are many; only for who works in the folder
 * alone. A file with damaged lines is kept as `….corrupt`: what they said may matter to somebody. Throws
 * the system's error, and then nothing was removed that is not written down anew.
 */
export async function compact(
  { files: read, index }: ReadJournals,
  { files, into, journals, ...deps }: CompactOptions,
): Promise<void> {
  const own = read.filter((file) => file.path.startsWith(journals));
  const bytes = own.reduce((sum, file) => sum + file.bytes, 0);
  if (own.length <= MOST_FILES && bytes <= MOST_BYTES) return;
  if (bytes > MOST_BYTES && own.length < 2) return;
  const statuses = index.statuses();
  for (let at = 0; at < statuses.length; at += LINES_AT_ONCE) {
    await into.append(statuses.slice(at, at + LINES_AT_ONCE).map((status) => ({ ...status })));
  }
  await into.append([{ outputs: index.outputs() }]);
  await into.sync();
  await syncFolder(files, journals);
  for (const file of own) await forget(file, { files, ...deps });
}

const LINES_AT_ONCE = 1000;

async function forget({ garbled, path }: JournalFile, deps: FileDeps): Promise<void> {
  if (garbled > 0) await deps.files.rename(path, `${path}.corrupt`);
  else await removeQuietly(path, deps);
}
