import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hasErrno, stateFailure, outputFailure } from '../../durable/file-failures.ts';
import { randomHex, removeQuietly, writeAll } from '../../durable/files.ts';
import type { System } from '../../system/system.ts';
import { Log, ownerRecord, retireLog } from '../../durable/log.ts';
import { ensurePrivateFolder, openOwnFile } from '../../durable/own-files.ts';
import type { FileSystem } from '../../system/file-system.ts';
import { Failure } from '../../errors/failure.ts';
import type { PurchaseMetadata, PurchaseState } from '../../paid/purchase.ts';
import type { Shard } from '../plan/shard.ts';
import type { JournalIndex, ReadJournals, ItemAbout, ItemStatus, ItemStep } from './journal.ts';
import { BATCH_FOLDER, PART_ID, readJournals, withState } from './journal.ts';
import { namespaceSecret, openSecret } from './keys.ts';
import type { BatchSecret } from './keys.ts';
import type { Lock } from './lock.ts';
import { lockBatch } from './lock.ts';
import { markUnfinished } from './unfinished.ts';

interface BatchFolderOptions {
  readonly system: System;
  readonly outputDir: string;
  readonly outputFlag: string;
  /**
   * True if this command created the output folder. `close` removes such a folder if no output was recorded in it. A
   * command that runs only a shard of the batch never removes the folder.
   */
  readonly isNewFolder: boolean;
  readonly copies: string;
  readonly shard: Shard | undefined;
  readonly namespace: string | undefined;
  readonly redo: string | undefined;
}

/** Returns the folder for saved audio. foley saves billed audio there before it overwrites an output file. */
export function savedAudioFolder(outputDir: string): string {
  return join(outputDir, BATCH_FOLDER, 'kept');
}

/**
 * Reads the journal of an output folder and its copy. Does not lock the folder or create files.
 * @throws Failure of kind `state` if the journal cannot be read
 * @throws Failure of kind `output` if a parent of the output folder is a file
 */
export async function readBatchFolder(
  outputDir: string,
  outputFlag: string,
  copies: string,
  files: FileSystem,
): Promise<{ readonly index: JournalIndex; readonly copyFolder: string }> {
  await files.stat(outputDir).catch((error: unknown) => {
    if (hasErrno(error, 'ENOTDIR')) throw outputFailure(outputDir, error, 'opening', outputFlag);
  });
  // A batch whose parent folder is missing has no copy.
  const copyFolder = await copyFolderOf(outputDir, copies, files).catch(() =>
    join(copies, 'missing'),
  );
  const journals = join(outputDir, BATCH_FOLDER, 'journal');
  const { index } = await readJournals([copyFolder, journals], files, copyFolder);
  return { index, copyFolder };
}

/**
 * Opens and locks the batch of an output folder, or one shard of it. Removes temporary files of killed processes.
 * @throws Failure of kind `state` if another process runs the batch, or if the saved state of the batch is not usable
 * @throws Failure of kind `output` if the folder is not writable
 */
export async function openBatchFolder(options: BatchFolderOptions): Promise<BatchFolder> {
  const { files } = options.system;
  const { namespace, outputDir } = options;
  const folder = join(outputDir, BATCH_FOLDER);
  const journals = join(folder, 'journal');
  await makeFolders(folder, options);
  const lock = await lockFolder(folder, journals, options);
  let journal: Log | undefined;
  try {
    const copyFolder = await copyFolderOf(outputDir, options.copies, files);
    const read = await readJournals([copyFolder, journals], files, copyFolder);
    const isExclusive = lock.name === 'all' && !lock.hasOtherShards;
    const temporaries = await makeTemporaries(folder, { ...options, isExclusive, own: lock.name });
    const secret =
      namespace === undefined
        ? await openSecret({ system: options.system, folder, copyFolder, temporaries })
        : { secret: namespaceSecret(namespace), isCopied: true };
    const run = beginRun(journals, read, options);
    journal = run.journal;
    // The folder entry is synced with the first items, before any request.
    await journal.append([]);
    const copy = new Log(options.system, {
      path: join(copyFolder, `outputs-${run.id}.jsonl`),
      head: [],
      prepare: () => ensurePrivateFolder(copyFolder, files),
    });
    if (isExclusive) {
      const { index } = read;
      const records = () => [...index.statuses(), { outputs: index.outputs() }];
      await compact(read, { system: options.system, folder: journals, into: journal, records });
      const copied = { folder: copyFolder, into: copy, records: () => index.copiedRecords() };
      // The batch works without the copy.
      await compact(read, { system: options.system, ...copied }).catch(() => undefined);
    }
    const mark = await markUnfinished({ copyFolder, outputDir, shard: lock.name }, options.system);
    const folders = { copyFolder, temporaries };
    const parts = { ...secret, ...run, ...folders, copy, isExclusive, lock, mark, read };
    return new BatchFolder(options, parts);
  } catch (error) {
    await journal?.close().catch(() => undefined);
    await lock.release();
    if (error instanceof Failure && error.exit === 'output') throw error;
    throw stateFailure('the batch journal', folder, error);
  }
}

interface OpenParts extends BatchSecret, BatchRun {
  readonly lock: Lock;
  readonly isExclusive: boolean;
  readonly copyFolder: string;
  readonly temporaries: string;
  readonly copy: Log;
  readonly mark: string;
  readonly read: ReadJournals;
}

/** The state of a batch, stored in `.foley` inside the output folder. */
export class BatchFolder {
  readonly index: JournalIndex;
  readonly secret: Uint8Array;
  /** False if the secret for idempotency keys is stored only in the output folder. */
  readonly isCopied: boolean;
  /** Number of damaged journal lines that were skipped. */
  readonly garbled: number;
  /** Folder for temporary files, on the same disk as the outputs. */
  readonly temporaries: string;
  /** Folder of this batch inside the state folder. */
  readonly copyFolder: string;
  /** True if this process has locked the whole batch, not only one shard. */
  readonly isExclusive: boolean;
  /**
   * Identifies this command. When a `--redo` command is interrupted, the next command with the same `--redo` items
   * continues it and gets the same token.
   */
  readonly redoToken: string;
  readonly #options: BatchFolderOptions;
  readonly #parts: OpenParts;

  constructor(options: BatchFolderOptions, parts: OpenParts) {
    this.#options = options;
    this.#parts = parts;
    this.index = parts.read.index;
    this.secret = parts.secret;
    this.isCopied = parts.isCopied;
    this.garbled = parts.read.files.reduce((sum, file) => sum + file.garbled, 0);
    this.temporaries = parts.temporaries;
    this.copyFolder = parts.copyFolder;
    this.isExclusive = parts.isExclusive;
    this.redoToken = parts.token;
  }

  /**
   * Records the names of output files that are about to be created. Resolves when the record is on disk.
   * @throws Failure of kind `state`
   */
  async claim(outputs: readonly string[]): Promise<void> {
    const fresh = await this.#copyNew(outputs);
    if (fresh.length === 0) return;
    await this.#write([{ outputs: fresh }], 'now');
    this.index.add({ outputs: fresh });
  }

  /**
   * Records items before their requests are sent. Resolves when the records are on disk.
   * @throws Failure of kind `state`
   */
  async plan(steps: readonly ItemStep[]): Promise<void> {
    if (steps.length === 0) return;
    await this.#copyNew(
      steps.flatMap(({ about }) =>
        about === undefined ? [] : [about.output, ...(about.besides ?? [])],
      ),
    );
    await this.#write(steps, 'now');
    for (const step of steps) this.index.apply(step);
  }

  /**
   * Records a new state of an item, and returns the new status.
   * @param durability if `now`, the promise resolves when the record is on disk
   * @throws Failure of kind `state`
   */
  async note(
    status: ItemStatus,
    state: PurchaseState,
    facts: PurchaseMetadata,
    durability?: 'now',
  ): Promise<ItemStatus> {
    const { body, generation, item } = status;
    const step = { item, body, generation, state, facts };
    await this.#write([step], durability);
    if (item === PART_ID) this.index.apply(step);
    return withState(status, state, facts);
  }

  /**
   * Records a new state of an item together with the next record, or after 50 ms, and returns the new status. If foley is
   * killed before, the record is missing.
   * @param onFailure called with a Failure of kind `state` if the record cannot be written
   */
  noteSoon(
    status: ItemStatus,
    state: PurchaseState,
    facts: PurchaseMetadata,
    onFailure: (failure: Failure) => void,
  ): ItemStatus {
    const { body, generation, item } = status;
    const step = { item, body, generation, state, facts };
    this.#parts.journal
      .appendSoon([step])
      .catch((error: unknown) => onFailure(this.#writeFailure(error)));
    if (item === PART_ID) this.index.apply(step);
    return withState(status, state, facts);
  }

  /**
   * Records that an audio file was renamed to its final name. A crash may lose the record; the next `foley batch` then
   * recognizes the file by its hash.
   */
  notePublished(status: ItemStatus, facts: PurchaseMetadata): ItemStatus {
    const { about, body, generation, item } = status;
    const step = { item, body, generation, state: 'published', facts } as const;
    this.#parts.journal.queue([step]);
    this.index.apply({ ...step, about });
    const published = withState(status, 'published', facts);
    this.#copyDelivered(published);
    return published;
  }

  /**
   * Records new file names for existing audio. Called before the audio is moved or copied.
   * @throws Failure of kind `state`
   */
  async noteReused(
    status: ItemStatus,
    files: Pick<ItemAbout, 'besides' | 'output'>,
  ): Promise<ItemStatus> {
    // Without the key and the origin, the step would record only output names, which are recorded already.
    if (status.about === undefined) return status;
    const step = { ...status, state: 'published', about: { ...status.about, ...files } } as const;
    await this.#write([step]);
    this.index.apply(step);
    return step;
  }

  /**
   * Records that this command has finished. If a later command has the same `--redo` items, it requests them again
   * instead of continuing this command.
   */
  async end(): Promise<void> {
    const { id, journal, mark } = this.#parts;
    await journal.append([{ run: id, ended: true }]).catch(() => undefined);
    await journal.sync().catch(() => undefined);
    await removeQuietly(this.#options.system, mark);
  }

  /** Closes the journal, removes temporary files and releases the lock. Never throws. */
  async close(): Promise<void> {
    const { copy, isExclusive, journal, lock, mark } = this.#parts;
    await journal.close().catch(() => undefined);
    await copy.close().catch(() => undefined);
    const { files } = this.#options.system;
    const { isNewFolder, outputDir } = this.#options;
    const isUnused = isNewFolder && isExclusive && this.index.outputs().length === 0;
    const removed = isUnused ? outputDir : this.temporaries;
    await files.rm(removed, { recursive: true, force: true }).catch(() => undefined);
    if (isUnused) await removeQuietly(this.#options.system, mark);
    await lock.release().catch(() => undefined);
  }

  // A copy in the state folder, in case the output folder is deleted.
  #copyDelivered(status: ItemStatus): void {
    const { body, facts, generation } = status;
    const known = this.index.deliveredOf(body);
    const isSame = known?.facts.sha256 === facts.sha256 && known?.facts.jobId === facts.jobId;
    if (isSame && known?.generation === generation) return;
    this.#parts.copy.appendSoon([{ ...status }]).catch(() => undefined);
  }

  async #write(records: readonly object[], durability?: 'now'): Promise<void> {
    try {
      await this.#parts.journal.append(
        records.map((record) => ({ ...record })),
        durability,
      );
    } catch (error) {
      throw this.#writeFailure(error);
    }
  }

  #writeFailure(error: unknown): Failure {
    return stateFailure('the batch journal', this.#options.outputDir, error);
  }

  async #copyNew(outputs: readonly string[]): Promise<readonly string[]> {
    const fresh = outputs.filter((output) => this.index.filesAt(output) === undefined);
    if (fresh.length > 0)
      await this.#parts.copy.append([{ outputs: fresh }]).catch(() => undefined);
    return fresh;
  }
}

async function lockFolder(
  folder: string,
  journals: string,
  options: BatchFolderOptions,
): Promise<Lock> {
  const lastActivity = async (): Promise<number | undefined> => {
    const names = await options.system.files.readdir(journals);
    const stats = names.map((name) => options.system.files.stat(join(journals, name)));
    const times = (await Promise.all(stats)).map(({ mtimeMs }) => mtimeMs);
    return times.length === 0 ? undefined : Math.max(...times);
  };
  try {
    return await lockBatch(options.system, {
      folder: join(folder, 'locks'),
      shard: options.shard,
      lastActivity,
    });
  } catch (error) {
    throw stateFailure('the batch lock', folder, error);
  }
}

/** Returns the folder of a batch inside the state folder. @throws the system error */
async function copyFolderOf(outputDir: string, copies: string, files: FileSystem): Promise<string> {
  const real = await files.realpath(outputDir).catch(async (error: unknown) => {
    if (!hasErrno(error, 'ENOENT')) throw error;
    return join(await files.realpath(dirname(outputDir)), basename(outputDir));
  });
  return join(copies, createHash('sha256').update(real).digest('hex').slice(0, 32));
}

async function makeFolders(
  folder: string,
  { system: { files }, outputDir, outputFlag }: BatchFolderOptions,
): Promise<void> {
  try {
    await ensurePrivateFolder(folder, files);
    for (const name of ['journal', 'locks']) await ensurePrivateFolder(join(folder, name), files);
    await writeGitignore(folder, files);
    await files.access(outputDir, constants.W_OK);
  } catch (error) {
    throw outputFailure(folder, error, 'opening', outputFlag);
  }
}

// Runs under the lock, because it removes the files of killed processes.
async function makeTemporaries(
  folder: string,
  {
    system: { files },
    isExclusive,
    outputFlag,
    own,
  }: BatchFolderOptions & { readonly isExclusive: boolean; readonly own: string },
): Promise<string> {
  const all = join(folder, 'tmp');
  try {
    await ensurePrivateFolder(all, files);
    for (const name of isExclusive ? await files.readdir(all) : [own])
      await files.rm(join(all, name), { recursive: true, force: true });
    await ensurePrivateFolder(join(all, own), files);
    return join(all, own);
  } catch (error) {
    throw outputFailure(folder, error, 'opening', outputFlag);
  }
}

async function writeGitignore(folder: string, files: FileSystem): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const ignore = await openOwnFile(join(folder, '.gitignore'), flags, files);
  try {
    const { size } = await ignore.stat();
    if (size === 0) await writeAll(ignore, Buffer.from('*\n'));
  } finally {
    await ignore.close();
  }
}

interface BatchRun {
  readonly id: string;
  readonly token: string;
  readonly journal: Log;
}

function beginRun(
  journals: string,
  { files, index }: ReadJournals,
  options: BatchFolderOptions,
): BatchRun {
  const { clock, processes } = options.system;
  const { redo } = options;
  const names = files.filter((file) => dirname(file.path) === journals).map((file) => file.path);
  // Names in the order of the runs show which run was the latest, also if the clock was set back.
  const afterMs = Math.max(0, ...names.map((name) => runTimeOf(basename(name)) + 1_000));
  const time = new Date(Math.max(clock.now(), afterMs)).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const id = `${time}-${processes.self.pid}-${randomHex(options.system.random, 4)}`;
  const token = (redo === undefined ? undefined : index.interruptedRedo(redo)) ?? id;
  const journal = new Log(options.system, {
    path: join(journals, `${id}.jsonl`),
    head: [ownerRecord(processes.self), { run: id, redo: redo ?? null, token }],
  });
  return { id, token, journal };
}

// Returns the time in the name of a journal in milliseconds since the epoch; 0 for another name.
function runTimeOf(name: string): number {
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(name);
  const [, year, month, day, hour, minute, second] = (time ?? []).map(Number);
  return Date.UTC(year ?? 1970, (month ?? 1) - 1, day, hour, minute, second) || 0;
}

interface CompactOptions {
  readonly system: System;
  readonly folder: string;
  readonly into: Log;
  readonly records: () => readonly object[];
}

const MAX_FILES = 24;
const MAX_BYTES = 16 * 1024 * 1024;
const LINES_AT_ONCE = 1000;

// A journal with damaged lines is renamed to `….corrupt`, not removed. No error of the file system loses a record.
async function compact(
  { files: read }: ReadJournals,
  { folder, into, records, system }: CompactOptions,
): Promise<void> {
  const own = read.filter((file) => dirname(file.path) === folder);
  const bytes = own.reduce((sum, file) => sum + file.bytes, 0);
  if (own.length <= MAX_FILES && bytes <= MAX_BYTES) return;
  if (bytes > MAX_BYTES && own.length < 2) return;
  const all = records();
  for (let at = 0; at < all.length; at += LINES_AT_ONCE) {
    await into.append(all.slice(at, at + LINES_AT_ONCE).map((record) => ({ ...record })));
  }
  await into.append([], 'now');
  for (const file of own) await retireLog(system, file);
}
