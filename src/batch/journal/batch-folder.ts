import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateFailure, outputFailure } from '../../durable/file-failures.ts';
import { randomHex } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import { Log, ownerRecord, retireLog } from '../../durable/log.ts';
import { ensurePrivateFolder, openOwnFile } from '../../durable/own-files.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Processes } from '../../effects/processes.ts';
import { BATCH_FOLDER } from '../plan/name-template.ts';
import type { Shard } from '../plan/shard.ts';
import type {
  JournalIndex,
  ReadJournals,
  ItemAbout,
  ItemFacts,
  ItemStatus,
  ItemStep,
} from './journal.ts';
import { readJournals } from './journal.ts';
import { namespaceSecret, openSecret } from './keys.ts';
import type { BatchSecret, SecretPlaces } from './keys.ts';
import type { Lock } from './lock.ts';
import { lockBatch } from './lock.ts';
import type { UnfinishedMark } from './unfinished.ts';
import { markUnfinished } from './unfinished.ts';

/** What a batch knows and writes down, in `.foley` in its output folder. */
export interface BatchFolder {
  readonly index: JournalIndex;
  readonly secret: Uint8Array;
  /** Whether the secret lies in a second place too. */
  readonly isCopied: boolean;
  /** Damaged lines that were passed over. */
  readonly garbled: number;
  /** For temporary files; on the disk of the outputs. */
  readonly temporaries: string;
  /** Audio that was replaced by that of another item, by its hash. */
  readonly kept: string;
  /** No other process works in this folder. */
  readonly isAlone: boolean;
  /** Stays the same over runs that go on with an interrupted `--redo`. */
  readonly redoToken: string;
  /** Notes which names are about to be given to files; on the disk when this resolves. Throws exit 32. */
  claim(outputs: readonly string[]): Promise<void>;
  /** Writes items down; they are on the disk when this resolves, so only then may they be sent. */
  plan(steps: readonly ItemStep[]): Promise<void>;
  /** Notes how far an item got; written when this resolves. Throws exit 32. */
  note(status: ItemStatus, state: ItemStep['state'], facts?: ItemFacts): Promise<ItemStatus>;
  /** The same, and it is on the disk when this resolves. */
  noteDurably(status: ItemStatus, state: ItemStep['state'], facts?: ItemFacts): Promise<ItemStatus>;
  /** Notes that an item has its name; written with what is noted next, since it only saves a look. */
  notePublished(status: ItemStatus, facts: ItemFacts): ItemStatus;
  /** Notes a further name that audio is about to get, with its captions; written when this resolves. Throws exit 32. */
  noteReused(status: ItemStatus, files: OutputFiles): Promise<ItemStatus>;
  /** Notes that everything was done, so that a later `--redo` of the same items is another one. */
  end(): Promise<void>;
  /** Gives the folder free. Never throws. */
  close(): Promise<void>;
}

/** The names that an item's files have below the output folder. */
type OutputFiles = Pick<ItemAbout, 'besides' | 'output'>;

/** Where audio is kept that was replaced by that of another item. */
export function keptFolder(outputDir: string): string {
  return join(outputDir, BATCH_FOLDER, 'kept');
}

/**
 * What is written down in an output folder, for who only looks; locks and makes nothing.
 * @throws Failure (state)
 */
export async function readBatchFolder(outputDir: string, files: FileSystem): Promise<JournalIndex> {
  const folder = join(outputDir, BATCH_FOLDER);
  return (await readJournals([join(folder, 'journal')], files)).index;
}

/**
 * Opens the batch of an output folder, or a share of it, and tidies up what a killed one left.
 * @throws Failure: state (32) when somebody else works there, or when it is damaged or of a newer foley;
 *   output (30) when nothing can be made in the folder
 */
export async function openBatchFolder(options: BatchFolderOptions): Promise<BatchFolder> {
  const folder = join(options.outputDir, BATCH_FOLDER);
  const journals = join(folder, 'journal');
  await makeFolders(folder, ['journal', 'locks', 'tmp'], options);
  const lock = await lockIn(folder, journals, options);
  let opened: OpenRun | undefined;
  try {
    const copyFolder = join(options.copies, await folderDigest(options));
    const read = await readJournals([copyFolder, journals], options.files);
    const temporaries = await clearTemporaries(folder, lock, options);
    const places = { ...options, folder, copyFolder, temporaries };
    const { isCopied, secret } = await secretOf(options.namespace, places);
    const run = (opened = await beginRun(journals, copyFolder, read.index, options));
    if (lock.name === 'all' && !lock.hasNeighbours) {
      await compact(read, { journals, into: run.journal, ...options });
    }
    const place = { copyFolder, outputDir: options.outputDir, share: lock.name };
    const mark = await markUnfinished(place, options);
    return new OpenFolder(options, { lock, run, temporaries, secret, isCopied, read, mark });
  } catch (error) {
    await opened?.journal.close().catch(() => undefined);
    await lock.release();
    throw stateFailure('the journal of this batch', folder, error);
  }
}

interface OpenParts {
  readonly lock: Lock;
  readonly run: OpenRun;
  readonly temporaries: string;
  readonly secret: Uint8Array;
  readonly isCopied: boolean;
  readonly mark: UnfinishedMark;
  readonly read: Awaited<ReturnType<typeof readJournals>>;
}

class OpenFolder implements BatchFolder {
  readonly index: JournalIndex;
  readonly secret: Uint8Array;
  readonly isCopied: boolean;
  readonly garbled: number;
  readonly temporaries: string;
  readonly kept: string;
  readonly isAlone: boolean;
  readonly redoToken: string;
  readonly #options: BatchFolderOptions;
  readonly #lock: Lock;
  readonly #run: OpenRun;
  readonly #mark: UnfinishedMark;
  readonly #copy: Log;

  constructor(options: BatchFolderOptions, parts: OpenParts) {
    const { isCopied, lock, mark, read, run, secret, temporaries } = parts;
    this.#mark = mark;
    this.#options = options;
    const copyFolder = dirname(run.copyFile);
    this.#copy = new Log({
      ...options,
      path: run.copyFile,
      head: [],
      prepare: () => ensurePrivateFolder(copyFolder, options.files),
    });
    this.#lock = lock;
    this.#run = run;
    this.index = read.index;
    this.secret = secret;
    this.isCopied = isCopied;
    this.garbled = read.files.reduce((sum, file) => sum + file.garbled, 0);
    this.temporaries = temporaries;
    this.kept = keptFolder(options.outputDir);
    this.isAlone = lock.name === 'all' && !lock.hasNeighbours;
    this.redoToken = run.token;
  }

  async claim(outputs: readonly string[]): Promise<void> {
    const fresh = outputs.filter((output) => this.index.filesAt(output) === undefined);
    if (fresh.length === 0) return;
    await this.#noteOutputs(fresh);
    await this.#write([{ outputs: fresh }], 'now');
    this.index.add({ outputs: fresh });
  }

  async plan(steps: readonly ItemStep[]): Promise<void> {
    if (steps.length === 0) return;
    const outputs = steps.flatMap(({ about }) =>
      about === undefined ? [] : [about.output, ...(about.besides ?? [])],
    );
    const fresh = outputs.filter((output) => this.index.filesAt(output) === undefined);
    await this.#noteOutputs(fresh);
    await this.#write(steps, 'now');
    for (const step of steps) this.index.apply(step);
  }

  async note(status: ItemStatus, state: ItemStep['state'], facts?: ItemFacts): Promise<ItemStatus> {
    const { body, generation, item } = status;
    await this.#write([{ item, body, generation, state, facts }]);
    return { ...status, state, facts: { ...status.facts, ...facts } };
  }

  async noteDurably(
    status: ItemStatus,
    state: ItemStep['state'],
    facts?: ItemFacts,
  ): Promise<ItemStatus> {
    const { body, generation, item } = status;
    await this.#write([{ item, body, generation, state, facts }], 'now');
    return { ...status, state, facts: { ...status.facts, ...facts } };
  }

  notePublished(status: ItemStatus, facts: ItemFacts): ItemStatus {
    const { body, generation, item } = status;
    const step = { item, body, generation, state: 'published', facts } as const;
    this.#run.journal.queue([step]);
    this.index.apply({ ...step, about: status.about });
    return { ...status, state: 'published', facts: { ...status.facts, ...facts } };
  }

  async noteReused(status: ItemStatus, files: OutputFiles): Promise<ItemStatus> {
    // Without its key and its service nothing can be told of it but its names, and those are claimed.
    if (status.about === undefined) return status;
    const step = { ...status, state: 'published', about: { ...status.about, ...files } } as const;
    await this.#write([step]);
    this.index.apply(step);
    return step;
  }

  async end(): Promise<void> {
    const { id, journal } = this.#run;
    await journal.append([{ run: id, ended: true }]).catch(() => undefined);
    await journal.sync().catch(() => undefined);
    await this.#mark.remove();
  }

  async close(): Promise<void> {
    await this.#run.journal.close().catch(() => undefined);
    await this.#copy.close().catch(() => undefined);
    const { files } = this.#options;
    await files.rm(this.temporaries, { recursive: true, force: true }).catch(() => undefined);
    await this.#lock.release().catch(() => undefined);
  }

  async #write(records: readonly object[], durability?: 'now'): Promise<void> {
    try {
      await this.#run.journal.append(
        records.map((record) => ({ ...record })),
        durability,
      );
    } catch (error) {
      throw stateFailure('the journal of this batch', this.#options.outputDir, error);
    }
  }

  /** A second place in which our own files are known; it may be missing. */
  async #noteOutputs(outputs: readonly string[]): Promise<void> {
    if (outputs.length > 0) await this.#copy.append([{ outputs }]).catch(() => undefined);
  }
}

interface BatchFolderOptions extends FileDeps {
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
async function lockIn(
  folder: string,
  journals: string,
  options: BatchFolderOptions,
): Promise<Lock> {
  const lastNote = async (): Promise<number | undefined> => {
    const names = await options.files.readdir(journals);
    const stats = names.map((name) => options.files.stat(join(journals, name)));
    const times = (await Promise.all(stats)).map(({ mtimeMs }) => mtimeMs);
    return times.length === 0 ? undefined : Math.max(...times);
  };
  try {
    return await lockBatch({ ...options, folder: join(folder, 'locks'), lastNote });
  } catch (error) {
    throw stateFailure('the lock of this batch', folder, error);
  }
}

/** The same for a folder under whatever name it is called. Throws the system's error. */
async function folderDigest({ files, outputDir }: BatchFolderOptions): Promise<string> {
  const real = await files.realpath(outputDir);
  return createHash('sha256').update(real).digest('hex').slice(0, 32);
}

/**
 * The secret of `--idempotency-namespace`, else that of the folder.
 * @throws Failure (state)
 */
async function secretOf(namespace: string | undefined, places: SecretPlaces): Promise<BatchSecret> {
  if (namespace === undefined) return openSecret(places);
  return { secret: namespaceSecret(namespace), isCopied: true };
}

/**
 * Makes what a batch needs in its output folder, and so finds out whether it may.
 * @throws Failure (output)
 */
async function makeFolders(
  folder: string,
  names: readonly string[],
  { files, outputDir }: BatchFolderOptions,
): Promise<void> {
  try {
    await ensurePrivateFolder(folder, files);
    for (const name of names) await ensurePrivateFolder(join(folder, name), files);
    await ignoreIn(folder, files);
    await files.access(outputDir, constants.W_OK);
  } catch (error) {
    throw outputFailure(join(outputDir, BATCH_FOLDER), error, 'opening', '--output-dir');
  }
}

/** What is in the folder is nothing for a repository. */
async function ignoreIn(folder: string, files: FileSystem): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const ignore = await openOwnFile(join(folder, '.gitignore'), flags, files);
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
async function clearTemporaries(
  folder: string,
  lock: Lock,
  options: BatchFolderOptions,
): Promise<string> {
  const all = join(folder, 'tmp');
  const own = join(all, lock.name);
  const isAlone = lock.name === 'all' && !lock.hasNeighbours;
  await options.files.rm(isAlone ? all : own, { recursive: true, force: true });
  await ensurePrivateFolder(own, options.files);
  return own;
}

/** A run that has begun to write. */
interface OpenRun {
  readonly id: string;
  /** Of the interrupted `--redo` that it goes on with, else its own. */
  readonly token: string;
  readonly journal: Log;
  /** Where the names of its outputs are noted a second time. */
  readonly copyFile: string;
}

/** Begins a journal file of this process. Throws the system's error. */
async function beginRun(
  journals: string,
  copyFolder: string,
  index: JournalIndex,
  options: BatchFolderOptions,
): Promise<OpenRun> {
  const { clock, processes, redo } = options;
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const id = `${time}-${processes.self.pid}-${randomHex(options, 4)}`;
  const token = (redo === undefined ? undefined : index.interruptedRedo(redo)) ?? id;
  const journal = new Log({
    ...options,
    path: join(journals, `${id}.jsonl`),
    head: [ownerRecord(processes.self), { run: id, redo: redo ?? null, token }],
  });
  // The folder's new name is synced with the first items, which is before anything is sent.
  await journal.append([]);
  return { id, token, journal, copyFile: join(copyFolder, `outputs-${id}.jsonl`) };
}

interface CompactOptions extends FileDeps {
  readonly journals: string;
  /** Of this process; what is still true goes into it. */
  readonly into: Log;
}

const MOST_FILES = 24;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Brings the journals of earlier runs together, once there are many; only for who works in the folder
 * alone. A file with damaged lines is kept as `….corrupt`: what they said may matter to somebody. Throws
 * the system's error, and then nothing was removed that is not written down anew.
 */
async function compact(
  { files: read, index }: ReadJournals,
  { into, journals, ...deps }: CompactOptions,
): Promise<void> {
  const own = read.filter((file) => file.path.startsWith(journals));
  const bytes = own.reduce((sum, file) => sum + file.bytes, 0);
  if (own.length <= MOST_FILES && bytes <= MOST_BYTES) return;
  if (bytes > MOST_BYTES && own.length < 2) return;
  const statuses = index.statuses();
  for (let at = 0; at < statuses.length; at += LINES_AT_ONCE) {
    await into.append(statuses.slice(at, at + LINES_AT_ONCE).map((status) => ({ ...status })));
  }
  await into.append([{ outputs: index.outputs() }], 'now');
  for (const file of own) await retireLog(file, deps);
}

const LINES_AT_ONCE = 1000;
