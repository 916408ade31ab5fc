import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { hasErrno } from '../../files/errno.ts';
import { parseJournal } from '../../files/journal-lines.ts';
import { readOwnText, RECORD_BYTES } from '../../files/own-files.ts';
import { newerStateFailure, stateFailure } from '../../files/state-failures.ts';
import { JournalIndex } from './journal-index.ts';

/** A journal file that was read. */
export interface JournalFile {
  readonly path: string;
  /** Lines that are torn or damaged. */
  readonly garbled: number;
  /** Whether the last line was cut off. */
  readonly isTorn: boolean;
  readonly bytes: number;
}

export interface ReadJournals {
  readonly index: JournalIndex;
  readonly files: readonly JournalFile[];
}

/**
 * Everything that was written down in these folders, the oldest file first; a folder that is not there
 * holds nothing. Torn and damaged lines are counted and passed over.
 * @throws Failure (state) when a journal cannot be read, or a newer foley wrote in it
 */
export async function readJournals(
  folders: readonly string[],
  files: FileSystem,
): Promise<ReadJournals> {
  const index = new JournalIndex();
  const read: JournalFile[] = [];
  for (const folder of folders) {
    for (const name of await namesIn(folder, files)) {
      const file = await readInto(index, path.join(folder, name), files);
      if (file !== undefined) read.push(file);
    }
  }
  return { index, files: read };
}

async function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure('the journal of this batch', folder, error);
  });
  return names.filter((name) => name.endsWith('.jsonl')).toSorted((a, b) => (a < b ? -1 : 1));
}

/** Undefined when somebody else removed it meanwhile. */
async function readInto(
  index: JournalIndex,
  file: string,
  files: FileSystem,
): Promise<JournalFile | undefined> {
  const content = await readOwnText(file, RECORD_BYTES, files).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw stateFailure('the journal of this batch', file, error);
  });
  if (content === undefined) return undefined;
  const { garbled, isNewer, isTorn, records } = parseJournal(content);
  if (isNewer) throw newerStateFailure('the journal of this batch', file);
  const strange = records.filter((record) => !index.add(record)).length;
  return { path: file, garbled: garbled + strange, isTorn, bytes: content.length };
}
