import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import type { Liveness, ProcessIdentity, Processes } from '../effects/processes.ts';
import { hasErrno } from './errno.ts';
import type { IntentStep } from './intent-records.ts';
import { parseStep } from './intent-records.ts';
import { parseJournal } from './journal-lines.ts';
import { readOwnText, RECORD_BYTES } from './own-files.ts';

/** One file of the intent journal: what one process wrote. */
export interface IntentFile {
  readonly path: string;
  /** Whether its writer still runs; `unknown` when that cannot be told. */
  readonly writer: Liveness;
  readonly steps: readonly IntentStep[];
  /** Lines that are torn or damaged. */
  readonly garbled: number;
  /** Whether the last line was cut off. */
  readonly isTorn: boolean;
  /** Whether a later foley wrote in it. */
  readonly isNewer: boolean;
}

export const JOURNAL_EXTENSION = '.jsonl';

/** The line with which every file begins: who writes it. */
export function ownerRecord(owner: ProcessIdentity): Readonly<Record<string, unknown>> {
  return { owner };
}

/** Every file of the journal, the oldest first; none when there is no folder. Throws the system's error. */
export async function readIntentFiles(
  folder: string,
  { files, processes }: { readonly files: FileSystem; readonly processes: Processes },
  extensions: readonly string[] = [JOURNAL_EXTENSION],
): Promise<IntentFile[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  const read: IntentFile[] = [];
  const wanted = names.filter((name) => extensions.some((one) => name.endsWith(one)));
  for (const name of wanted.toSorted((a, b) => (a < b ? -1 : 1))) {
    const file = path.join(folder, name);
    const content = await contentOf(file, files);
    if (content !== undefined) read.push(readFile(file, content, processes));
  }
  return read;
}

function readFile(file: string, content: string, processes: Processes): IntentFile {
  const { records, garbled, isNewer, isTorn } = parseJournal(content);
  const steps = records.map((record) => parseStep(record)).filter((step) => step !== undefined);
  const owner = records
    .map((record) => parseIdentity(record['owner']))
    .find((one) => one !== undefined);
  const writer = owner === undefined ? 'unknown' : processes.liveness(owner);
  const strange = records.filter((record) => !('owner' in record)).length - steps.length;
  return { path: file, writer, steps, garbled: garbled + strange, isTorn, isNewer };
}

/** Undefined when somebody else removed the file meanwhile. */
async function contentOf(file: string, files: FileSystem): Promise<string | undefined> {
  try {
    return await readOwnText(file, RECORD_BYTES, files);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** An identity as it was written down; undefined for what is none. */
export function parseIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const pid = fields.get('pid');
  const host = fields.get('host');
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
  return {
    pid,
    host,
    bootId: textIn(fields, 'bootId'),
    pidNamespace: textIn(fields, 'pidNamespace'),
    processStart: textIn(fields, 'processStart'),
  };
}

function textIn(fields: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === 'string' ? value : undefined;
}
