import type { FileHandle } from 'node:fs/promises';
import { journalLine } from '../../files/journal-lines.ts';
import { syncFile } from '../../files/durability.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { writeAll } from '../../files/file-writer.ts';

type Line = Readonly<Record<string, unknown>>;

/** A file of checksummed lines that one process writes: what comes while it writes leaves together. */
export interface LineFile {
  /** Resolves when the lines are in the file. Throws the system's error. */
  append(lines: readonly Line[]): Promise<void>;
  /** Takes lines that leave with the next ones, or when the file is closed. */
  queue(lines: readonly Line[]): void;
  /** Resolves when all that was appended is on the disk; those who ask at once share one sync. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A new file of this name, 0600. Throws the system's error. */
export async function createLineFile(path: string, files: FileSystem): Promise<LineFile> {
  return new AppendedFile(await files.open(path, 'wx', 0o600));
}

class AppendedFile implements LineFile {
  readonly #file: FileHandle;
  #waiting: Buffer[] = [];
  /** Settles when what waits now has been written. */
  #next: Promise<void> | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;
  #syncing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  queue(lines: readonly Line[]): void {
    for (const line of lines) this.#waiting.push(journalLine(line));
  }

  append(lines: readonly Line[]): Promise<void> {
    this.queue(lines);
    this.#next ??= this.#after(this.#underWay, () => this.#write());
    return this.#next;
  }

  sync(): Promise<void> {
    this.#nextSync ??= this.#after(this.#syncing, () => this.#syncNow());
    return this.#nextSync;
  }

  async close(): Promise<void> {
    if (this.#waiting.length > 0) await this.append([]).catch(() => undefined);
    await this.#underWay.catch(() => undefined);
    await this.#syncing.catch(() => undefined);
    await this.#file.close();
  }

  async #after(earlier: Promise<void>, work: () => Promise<void>): Promise<void> {
    await earlier.catch(() => undefined);
    return work();
  }

  #write(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#underWay = writeAll(this.#file, bytes);
    this.#next = undefined;
    return this.#underWay;
  }

  #syncNow(): Promise<void> {
    this.#nextSync = undefined;
    this.#syncing = this.#underWay.then(() => syncFile(this.#file));
    return this.#syncing;
  }
}
