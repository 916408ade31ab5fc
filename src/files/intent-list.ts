import type { FileSystem } from '../effects/file-system.ts';
import type { Liveness, Processes } from '../effects/processes.ts';
import { hasErrno } from './errno.ts';
import type { IntentFile } from './intent-files.ts';
import { JOURNAL_EXTENSION, readIntentFiles } from './intent-files.ts';
import type { IntentStatus } from './intent-records.ts';
import { isSettled, mergeSteps } from './intent-records.ts';
import { newerStateFailure, stateFailure } from './state-failures.ts';

/** An operation that may have cost credits and did not come to its end. */
export interface OpenIntent extends IntentStatus {
  /** Whether the command that began it still runs; one that does is not to be touched. */
  readonly writer: Liveness;
}

export interface OpenIntents {
  /** The oldest first. */
  readonly open: readonly OpenIntent[];
  /** Lines of the journal that could not be read. */
  readonly garbled: number;
}

export interface IntentFolder {
  readonly folder: string;
  readonly files: FileSystem;
  readonly processes: Processes;
}

/**
 * What interrupted commands left open. Torn and damaged lines are counted and passed over. Throws exit
 * 32 when the journal cannot be read, or when a newer foley wrote in it.
 */
export async function listOpenIntents(options: IntentFolder): Promise<OpenIntents> {
  const read = await readOwnVersion(options);
  const open = mergeSteps(read.flatMap((file) => file.steps))
    .filter(({ state }) => !isSettled(state))
    .map((status) => withWriter(status, read));
  return { open, garbled: read.reduce((sum, file) => sum + file.garbled, 0) };
}

/** A file of the journal with damaged lines. */
export interface DamagedJournal {
  readonly path: string;
  readonly garbled: number;
  /** Operations of which something can still be read. */
  readonly operations: number;
  /** Operations that did not come to their end. */
  readonly open: number;
}

/**
 * The files of ended processes with damaged lines, those that were put aside for it included; a line that was
 * cut off when its writer was killed is none. Throws exit 32 as above.
 */
export async function listDamagedJournals(
  options: IntentFolder,
): Promise<readonly DamagedJournal[]> {
  const read = await readOwnVersion(options, [JOURNAL_EXTENSION, ASIDE_EXTENSION]);
  const open = new Set(
    mergeSteps(read.flatMap((file) => file.steps))
      .filter(({ state }) => !isSettled(state))
      .map(({ id }) => id),
  );
  return read
    .filter(({ garbled, isTorn, writer }) => garbled > (isTorn ? 1 : 0) && writer !== 'alive')
    .map(({ garbled, path: file, steps }) => {
      const ids = new Set(steps.map(({ id }) => id));
      const isOpen = (id: string): boolean => file.endsWith(JOURNAL_EXTENSION) && open.has(id);
      return {
        path: file,
        garbled,
        operations: ids.size,
        open: [...ids].filter((id) => isOpen(id)).length,
      };
    });
}

/** Every file of the journal; throws exit 32 when a newer foley wrote one of them. */
export async function readOwnVersion(
  options: IntentFolder,
  extensions?: readonly string[],
): Promise<IntentFile[]> {
  const read = await readIntentFiles(options.folder, options, extensions).catch(
    (error: unknown) => {
      throw stateFailure('the journal', options.folder, error);
    },
  );
  const newer = read.find((file) => file.isNewer);
  if (newer !== undefined) throw newerStateFailure('the journal', newer.path);
  return read;
}

/**
 * Removes the files, of processes that have ended, in which nothing is open any more. One with damaged
 * lines is kept as `….corrupt`: what they said may matter to somebody. Throws the system's error.
 */
export async function sweepIntents(options: IntentFolder): Promise<void> {
  const read = await readOwnVersion(options);
  const open = new Set(
    mergeSteps(read.flatMap((file) => file.steps))
      .filter(({ state }) => !isSettled(state))
      .map(({ id }) => id),
  );
  // The oldest first: what a later file settles was begun in an earlier one, which must go before it.
  for (const file of read) {
    // Somebody of whom nothing is known may be about to write down the first.
    const mayBegin = file.writer === 'unknown' && file.steps.length === 0;
    const isOver = file.writer !== 'alive' && file.steps.every(({ id }) => !open.has(id));
    if (!isOver || mayBegin) continue;
    if (file.garbled > 0) await options.files.rename(file.path, `${file.path}${ASIDE_EXTENSION}`);
    else await unlinkIfThere(file.path, options.files);
  }
}

/** Of a journal with damaged lines in which nothing is open. */
const ASIDE_EXTENSION = '.corrupt';

function withWriter(status: IntentStatus, read: readonly IntentFile[]): OpenIntent {
  return { ...status, writer: writerOf(status.id, read) };
}

function writerOf(id: string, read: readonly IntentFile[]): Liveness {
  const writers = read
    .filter((file) => file.steps.some((step) => step.id === id))
    .map((file) => file.writer);
  return (
    writers.find((one) => one === 'alive') ?? writers.find((one) => one === 'unknown') ?? 'dead'
  );
}

async function unlinkIfThere(file: string, files: FileSystem): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}
