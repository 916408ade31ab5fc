import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { removeQuietly } from '../../files/debris.ts';
import { hasErrno } from '../../files/errno.ts';
import { ensurePrivateFolder } from '../../files/own-files.ts';
import { stateFailure } from '../../files/state-failures.ts';
import { BATCH_FOLDER } from '../plan/output-name.ts';
import { compact } from './compact.ts';
import type { JournalIndex } from './journal-index.ts';
import type { LineFile } from './line-file.ts';
import { createLineFile } from './line-file.ts';
import type { Lock } from './lock.ts';
import type { BatchFolderOptions, OpenRun } from './open-folder.ts';
import {
  beginRun,
  clearTemporaries,
  folderDigest,
  lockIn,
  makeFolders,
  secretOf,
} from './open-folder.ts';
import { readJournals } from './read-journals.ts';
import type { ItemAbout, ItemFacts, ItemStatus, ItemStep } from './records.ts';
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
  /** The same for audio that got a further name, with its captions. */
  noteReused(status: ItemStatus, files: OutputFiles, facts: ItemFacts): ItemStatus;
  /** Notes that everything was done, so that a later `--redo` of the same items is another one. */
  end(): Promise<void>;
  /** Gives the folder free. Never throws. */
  close(): Promise<void>;
}

/** The names that an item's files have below the output folder. */
export type OutputFiles = Pick<ItemAbout, 'besides' | 'output'>;

/** Where audio is kept that was replaced by that of another item. */
export function keptFolder(outputDir: string): string {
  return path.join(outputDir, BATCH_FOLDER, 'kept');
}

/**
 * What is written down in an output folder, for who only looks; locks and makes nothing.
 * @throws Failure (state)
 */
export async function readBatchFolder(outputDir: string, files: FileSystem): Promise<JournalIndex> {
  const folder = path.join(outputDir, BATCH_FOLDER);
  return (await readJournals([path.join(folder, 'journal')], files)).index;
}

/**
 * Opens the batch of an output folder, or a share of it, and tidies up what a killed one left.
 * @throws Failure: state (32) when somebody else works there, or when it is damaged or of a newer foley;
 *   output (30) when nothing can be made in the folder
 */
export async function openBatchFolder(options: BatchFolderOptions): Promise<BatchFolder> {
  const folder = path.join(options.outputDir, BATCH_FOLDER);
  const journals = path.join(folder, 'journal');
  await makeFolders(folder, ['journal', 'locks', 'tmp'], options);
  const lock = await lockIn(folder, journals, options);
  let opened: OpenRun | undefined;
  try {
    const copyFolder = path.join(options.copies, await folderDigest(options));
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
  #copy: Promise<LineFile | undefined> | undefined;

  constructor(options: BatchFolderOptions, parts: OpenParts) {
    const { isCopied, lock, mark, read, run, secret, temporaries } = parts;
    this.#mark = mark;
    this.#options = options;
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
    await this.#run.journal
      .append([{ outputs: fresh }])
      .catch((error: unknown) => this.#fail(error));
    await this.#run.journal.sync().catch((error: unknown) => this.#fail(error));
    this.index.add({ outputs: fresh });
  }

  async plan(steps: readonly ItemStep[]): Promise<void> {
    if (steps.length === 0) return;
    const outputs = steps.flatMap(({ about }) =>
      about === undefined ? [] : [about.output, ...(about.besides ?? [])],
    );
    const fresh = outputs.filter((output) => this.index.filesAt(output) === undefined);
    await this.#noteOutputs(fresh);
    await this.#write(steps);
    await this.#run.journal.sync().catch((error: unknown) => this.#fail(error));
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
    const noted = await this.note(status, state, facts);
    await this.#run.journal.sync().catch((error: unknown) => this.#fail(error));
    return noted;
  }

  notePublished(status: ItemStatus, facts: ItemFacts): ItemStatus {
    const { body, generation, item } = status;
    const step = { item, body, generation, state: 'published', facts } as const;
    this.#run.journal.queue([step]);
    this.index.apply({ ...step, about: status.about });
    return { ...status, state: 'published', facts: { ...status.facts, ...facts } };
  }

  noteReused(status: ItemStatus, files: OutputFiles, facts: ItemFacts): ItemStatus {
    // Without its key and its service nothing can be told of it but its names, and those are claimed.
    if (status.about === undefined) return status;
    const step: ItemStatus = {
      ...status,
      state: 'published',
      about: { ...status.about, ...files },
      facts: { ...status.facts, ...facts },
    };
    this.#run.journal.queue([{ ...step }]);
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
    const copy = await this.#copy;
    await copy?.close().catch(() => undefined);
    const { files } = this.#options;
    await files.rm(this.temporaries, { recursive: true, force: true }).catch(() => undefined);
    await this.#lock.release().catch(() => undefined);
  }

  async #write(steps: readonly ItemStep[]): Promise<void> {
    const lines = steps.map((step) => ({ ...step }));
    await this.#run.journal.append(lines).catch((error: unknown) => this.#fail(error));
  }

  /** A second place in which our own files are known; it may be missing. */
  async #noteOutputs(outputs: readonly string[]): Promise<void> {
    if (outputs.length === 0) return;
    this.#copy ??= this.#openCopy();
    const copy = await this.#copy;
    await copy?.append([{ outputs }]).catch(() => undefined);
  }

  async #openCopy(): Promise<LineFile | undefined> {
    const { files } = this.#options;
    const { copyFile } = this.#run;
    try {
      await ensurePrivateFolder(path.dirname(copyFile), files);
      return await createLineFile(copyFile, files);
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) await removeQuietly(copyFile, this.#options);
      return undefined;
    }
  }

  #fail(error: unknown): never {
    throw stateFailure('the journal of this batch', this.#options.outputDir, error);
  }
}
