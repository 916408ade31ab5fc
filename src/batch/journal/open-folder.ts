import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Processes } from '../../effects/processes.ts';
import { syncFolder } from '../../files/durability.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import { randomHex } from '../../files/file-deps.ts';
import { outputFailure } from '../../files/output-failures.ts';
import { ensurePrivateFolder, openOwnFile } from '../../files/own-files.ts';
import { stateFailure } from '../../files/state-failures.ts';
import { BATCH_FOLDER } from '../plan/output-name.ts';
import type { Shard } from '../plan/shard.ts';
import type { JournalIndex } from './journal-index.ts';
import { namespaceSecret } from './keys.ts';
import type { LineFile } from './line-file.ts';
import { createLineFile } from './line-file.ts';
import type { Lock } from './lock.ts';
import { lockBatch } from './lock.ts';
import type { BatchSecret, SecretPlaces } from './secret.ts';
import { openSecret } from './secret.ts';

export interface BatchFolderOptions extends FileDeps {
  /** Where the outputs go; it is there. */
  readonly outputDir: string;
  /** In the state folder, for the copies of all batches. */
  readonly copies: string;
  readonly processes: Processes;
  readonly shard: Shard | undefined;
  /** `--idempotency-namespace`. */
  readonly namespace: string | undefined;
  /** A digest of what is to be bought again, undefined for nothing. */
  readonly redo: string | undefined;
}

/**
 * Locks the batch of a folder, or a share of it.
 * @throws Failure (state)
 */
export async function lockIn(
  folder: string,
  journals: string,
  options: BatchFolderOptions,
): Promise<Lock> {
  const lastNote = async (): Promise<number | undefined> => {
    const names = await options.files.readdir(journals);
    const stats = names.map((name) => options.files.stat(path.join(journals, name)));
    const times = (await Promise.all(stats)).map(({ mtimeMs }) => mtimeMs);
    return times.length === 0 ? undefined : Math.max(...times);
  };
  try {
    return await lockBatch({ ...options, folder: path.join(folder, 'locks'), lastNote });
  } catch (error) {
    throw stateFailure('the lock of this batch', folder, error);
  }
}

/** The same for a folder under whatever name it is called. Throws the system's error. */
export async function folderDigest({ files, outputDir }: BatchFolderOptions): Promise<string> {
  const real = await files.realpath(outputDir);
  return createHash('sha256').update(real).digest('hex').slice(0, 32);
}

/**
 * The secret of `--idempotency-namespace`, else that of the folder.
 * @throws Failure (state)
 */
export async function secretOf(
  namespace: string | undefined,
  places: SecretPlaces,
): Promise<BatchSecret> {
  if (namespace === undefined) return openSecret(places);
  return { secret: namespaceSecret(namespace), isCopied: true };
}

/**
 * Makes what a batch needs in its output folder, and so finds out whether it may.
 * @throws Failure (output)
 */
export async function makeFolders(
  folder: string,
  names: readonly string[],
  { files, outputDir }: BatchFolderOptions,
): Promise<void> {
  try {
    await ensurePrivateFolder(folder, files);
    for (const name of names) await ensurePrivateFolder(path.join(folder, name), files);
    await ignoreIn(folder, files);
    await files.access(outputDir, constants.W_OK);
  } catch (error) {
    throw outputFailure(path.join(outputDir, BATCH_FOLDER), error, 'opening', '--output-dir');
  }
}

/** What is in the folder is nothing for a repository. */
async function ignoreIn(folder: string, files: FileSystem): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const ignore = await openOwnFile(path.join(folder, '.gitignore'), flags, files);
  try {
    const { size } = await ignore.stat();
    if (size === 0) await ignore.write('*\n');
  } finally {
    await ignore.close();
  }
}

/**
 * Removes what a batch that was killed left, which is nobody's any more under this lock, and gives the
 * folder for what is made now. Throws the system's error.
 */
export async function clearTemporaries(
  folder: string,
  lock: Lock,
  options: BatchFolderOptions,
): Promise<string> {
  const all = path.join(folder, 'tmp');
  const own = path.join(all, lock.name);
  const isAlone = lock.name === 'all' && !lock.hasNeighbours;
  await options.files.rm(isAlone ? all : own, { recursive: true, force: true });
  await ensurePrivateFolder(own, options.files);
  return own;
}

/** A run that has begun to write. */
export interface OpenRun {
  readonly id: string;
  /** Of the interrupted `--redo` that it goes on with, else its own. */
  readonly token: string;
  readonly journal: LineFile;
  /** Where the names of its outputs are noted a second time. */
  readonly copyFile: string;
}

/** Begins a journal file of this process. Throws the system's error. */
export async function beginRun(
  journals: string,
  copyFolder: string,
  index: JournalIndex,
  options: BatchFolderOptions,
): Promise<OpenRun> {
  const { clock, files, processes, redo } = options;
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const id = `${time}-${processes.self.pid}-${randomHex(options, 4)}`;
  const token = (redo === undefined ? undefined : index.interruptedRedo(redo)) ?? id;
  const journal = await createLineFile(path.join(journals, `${id}.jsonl`), files);
  try {
    await journal.append([{ owner: processes.self }, { run: id, redo: redo ?? null, token }]);
    await syncFolder(files, journals);
  } catch (error) {
    await journal.close().catch(() => undefined);
    throw error;
  }
  return { id, token, journal, copyFile: path.join(copyFolder, `outputs-${id}.jsonl`) };
}
