import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Processes } from '../effects/processes.ts';
import { removeQuietly } from './debris.ts';
import { syncFile, syncFolder } from './durability.ts';
import type { FileDeps } from './file-deps.ts';
import { randomHex } from './file-deps.ts';
import { writeAll } from './file-writer.ts';
import { ownerRecord, readIntentFiles } from './intent-files.ts';
import { readOwnVersion, sweepIntents } from './intent-list.ts';
import { isSettled } from './intent-records.ts';
import type {
  IntentAbout,
  IntentFacts,
  IntentState,
  IntentStatus,
  IntentStep,
  OpenState,
  SettledState,
} from './intent-records.ts';
import { journalLine } from './journal-lines.ts';
import { ensurePrivateFolder } from './own-files.ts';
import type { Repetition } from './repeated-intents.ts';
import { leftOfTheSame } from './repeated-intents.ts';
import { stateFailure } from './state-failures.ts';

export { listDamagedJournals, listOpenIntents, sweepIntents } from './intent-list.ts';
export type { OpenIntent } from './intent-list.ts';
export type {
  IntentAbout,
  IntentFacts,
  IntentState,
  IntentStatus,
  OpenState,
  SettledState,
} from './intent-records.ts';

/** One operation that may cost credits. Its steps throw exit 32 when they cannot be written down. */
export interface Intent {
  readonly id: string;
  readonly state: IntentState;
  /**
   * Notes how far it got. `verified`, and `accepted` with a job's id, are on the disk when this resolves;
   * `accepted` alone soon after.
   */
  advance(state: OpenState, facts?: IntentFacts): Promise<void>;
  /** Notes how it ended. */
  settle(state: SettledState, facts?: IntentFacts): Promise<void>;
}

/**
 * What this process writes into the journal of operations that may cost credits: a file of its own, so
 * that no two write into one. When everything in it has come to its end, `close` removes it.
 */
export interface IntentJournal {
  /**
   * Writes an operation down; it is on the disk when this resolves, so only then may the request be
   * sent. Throws exit 32 when it cannot be, or when a newer foley uses the journal: nothing was sent.
   */
  begin(about: IntentAbout): Promise<Intent>;
  /** Goes on with an operation that another process left open. */
  resume(status: IntentStatus): Intent;
  /**
   * Notes that what dead commands left open of the very purchase that came to its end now is over with it.
   * @throws Failure (state)
   */
  settleRepeated(done: Repetition): Promise<void>;
  /** Closes the journal, and tidies up what has ended. Never throws. */
  close(): Promise<void>;
}

export interface IntentJournalOptions extends FileDeps {
  readonly folder: string;
  readonly processes: Processes;
}

/** The journal in `folder`, which is made, 0700, with the first operation. */
export function createIntentJournal(options: IntentJournalOptions): IntentJournal {
  return new Journal(options);
}

/** When a line must have reached the disk; `later` is whenever the system likes. */
type OnDisk = 'later' | 'now' | 'soon';

const SOON_MS = 50;

class Journal implements IntentJournal {
  readonly #options: IntentJournalOptions;
  readonly #path: string;
  readonly #intents: WrittenIntent[] = [];
  #file: FileHandle | undefined;
  #hasResumed = false;
  /** Settles when all that was to be written so far has been, or has failed. */
  #last: Promise<void> = Promise.resolve();
  /** Stops the sync that is due soon. */
  #waitingSync: (() => void) | undefined;

  constructor(options: IntentJournalOptions) {
    const { folder, clock, processes } = options;
    const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    this.#options = options;
    this.#path = path.join(folder, `${time}-${processes.self.pid}-${randomHex(options, 4)}.jsonl`);
  }

  async begin(about: IntentAbout): Promise<Intent> {
    const intent = new WrittenIntent(this, randomHex(this.#options, 8), 0, 'intent');
    await this.write(intent, { about }, 'now');
    this.#intents.push(intent);
    return intent;
  }

  resume({ id, generation, state }: IntentStatus): Intent {
    const intent = new WrittenIntent(this, id, generation, state);
    this.#intents.push(intent);
    this.#hasResumed = true;
    return intent;
  }

  async settleRepeated(done: Repetition): Promise<void> {
    for (const left of await leftOfTheSame(done, this.#options)) {
      await this.resume(left).settle('published');
    }
  }

  async close(): Promise<void> {
    this.#forgetSync();
    await this.#last;
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
    if (!this.#intents.every(({ state }) => isSettled(state))) return;
    // First what others began and we ended, then what says that it has ended.
    if (this.#hasResumed && !(await this.#isForgotten().catch(() => false))) return;
    if (file !== undefined) await removeQuietly(this.#path, this.#options);
  }

  /** Removes the files of others that are over; whether none is left that tells of what we ended. */
  async #isForgotten(): Promise<boolean> {
    await sweepIntents(this.#options);
    const ended = new Set(this.#intents.map(({ id }) => id));
    const others = await readIntentFiles(this.#options.folder, this.#options);
    return others.every(
      ({ path: file, steps }) => file === this.#path || steps.every(({ id }) => !ended.has(id)),
    );
  }

  /** Writes one step of an operation, after those before it. */
  write(
    { id, generation, state }: WrittenIntent,
    known: Pick<IntentStep, 'about' | 'facts'>,
    onDisk: OnDisk,
  ): Promise<void> {
    const at = new Date(this.#options.clock.now()).toISOString();
    const line = journalLine({ id, generation, state, at, ...known });
    const written = this.#last.then(() => this.#append(line, onDisk));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #append(line: Uint8Array, onDisk: OnDisk): Promise<void> {
    const isFirst = this.#file === undefined;
    try {
      const file = (this.#file ??= await this.#open());
      await writeAll(file, isFirst ? Buffer.concat([this.#head(), line]) : line);
      if (onDisk === 'soon') this.#syncSoon(file);
      if (onDisk === 'now') await this.#sync(file, isFirst);
    } catch (error) {
      // A file in which nothing was noted in time means nothing, and is not left behind.
      if (isFirst) await this.#discard();
      throw stateFailure('the journal', this.#options.folder, error);
    }
  }

  /** Two at once cost the disk hardly more than one. */
  async #sync(file: FileHandle, isFirst: boolean): Promise<void> {
    this.#forgetSync();
    const { files, folder } = this.#options;
    await Promise.all([syncFile(file), isFirst ? syncFolder(files, folder) : undefined]);
  }

  /** What comes within that time is often the end, and its own sync covers this one. */
  #syncSoon(file: FileHandle): void {
    this.#waitingSync ??= this.#options.clock.after(SOON_MS, () => {
      this.#waitingSync = undefined;
      this.#last = this.#last.then(() => syncFile(file)).catch(() => undefined);
    });
  }

  #forgetSync(): void {
    this.#waitingSync?.();
    this.#waitingSync = undefined;
  }

  async #open(): Promise<FileHandle> {
    const { folder, files } = this.#options;
    await Promise.all([readOwnVersion(this.#options), ensurePrivateFolder(folder, files)]);
    return files.open(this.#path, 'wx', 0o600);
  }

  #head(): Buffer {
    return journalLine(ownerRecord(this.#options.processes.self));
  }

  async #discard(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    await file.close().catch(() => undefined);
    await removeQuietly(this.#path, this.#options);
  }
}

class WrittenIntent implements Intent {
  readonly id: string;
  readonly generation: number;
  state: IntentState;
  readonly #journal: Journal;

  constructor(journal: Journal, id: string, generation: number, state: IntentState) {
    this.#journal = journal;
    this.id = id;
    this.generation = generation;
    this.state = state;
  }

  async advance(state: OpenState, facts?: IntentFacts): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, onDiskOf(state, facts));
  }

  async settle(state: SettledState, facts?: IntentFacts): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, 'later');
  }
}

function onDiskOf(state: OpenState, facts: IntentFacts | undefined): OnDisk {
  if (state === 'verified') return 'now';
  if (state !== 'accepted') return 'later';
  // Without its id a job cannot be fetched; of a stream it is the price that is noted.
  return facts?.jobId === undefined ? 'soon' : 'now';
}
