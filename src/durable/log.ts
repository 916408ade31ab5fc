import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileSystem } from '../effects/file-system.ts';
import type { Liveness, ProcessIdentity, Processes } from '../effects/processes.ts';
import { hasErrno, newerStateFailure, stateFailure } from './file-failures.ts';
import type { FileDeps } from './files.ts';
import { removeQuietly, syncFile, syncFolder, writeAll } from './files.ts';
import { openOwnFile, readOwnText, RECORD_BYTES } from './own-files.ts';

/**
 * The log file format of intents, long texts and batches: one checksummed JSON record per line, appended by
 * one process. The users of a log define the records and fold them into state.
 */

/** The version of the lines that this foley writes, and the newest version that it reads. */
const LOG_VERSION = 1;

export const LOG_EXTENSION = '.jsonl';

/** Extension of a finished log that is retained because some of its lines are damaged. */
export const CORRUPT_EXTENSION = '.corrupt';

export type LogRecord = Readonly<Record<string, unknown>>;

interface LogContent {
  readonly records: readonly LogRecord[];
  /** Number of torn or damaged lines. */
  readonly garbled: number;
  /** The last line is incomplete: the process was killed before anything depended on that line. */
  readonly isTorn: boolean;
  /** At least one intact line has a later version. */
  readonly isNewer: boolean;
}

export interface LogFile extends LogContent {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Encodes a record as version, checksum and JSON. The line starts with a line feed, so that it stays
 * separate from an incomplete line before it.
 */
export function logLine(record: LogRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`\nv${LOG_VERSION} ${checksum(LOG_VERSION, json)} ${json}\n`);
}

/** Decodes lines. Counts damaged lines, and skips lines of later versions, which have the same line format. */
export function parseLog(content: string): LogContent {
  const records: LogRecord[] = [];
  let garbled = 0;
  let isNewer = false;
  let isGarbledLast = false;
  for (const line of content.split('\n')) {
    if (line === '') continue;
    const [, version, sum, json = ''] = /^v(\d{1,6}) ([0-9a-f]{8}) (.*)$/s.exec(line) ?? [];
    const number = Number(version);
    const isWhole = sum !== undefined && sum === checksum(number, json);
    const record = isWhole ? parseObject(json) : undefined;
    isGarbledLast = record === undefined && !isWhole;
    if (isWhole && number > LOG_VERSION) isNewer = true;
    else if (record === undefined) garbled += 1;
    else records.push(record);
  }
  const isTorn = garbled > 0 && !content.endsWith('\n') && isGarbledLast;
  return { records, garbled, isTorn, isNewer };
}

function checksum(version: number, json: string): string {
  return crc32(`v${version} ${json}`).toString(16).padStart(8, '0');
}

function parseObject(json: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a log file; undefined when it does not exist.
 * @param what the log is called in messages
 * @throws Failure (state)
 */
export async function readLog(
  file: string,
  what: string,
  files: FileSystem,
): Promise<LogFile | undefined> {
  try {
    const content = await readOwnText(file, RECORD_BYTES, files);
    return { ...parseLog(content), path: file, bytes: content.length };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw stateFailure(what, file, error);
  }
}

/**
 * Reads the log files of a folder, the oldest first; none when the folder does not exist.
 * @throws Failure (state), also for a log of a later version
 */
export async function* readLogs(
  folder: string,
  what: string,
  files: FileSystem,
  extensions: readonly string[] = [LOG_EXTENSION],
): AsyncGenerator<LogFile, void, undefined> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure(what, folder, error);
  });
  const wanted = names.filter((name) => extensions.some((one) => name.endsWith(one)));
  for (const name of wanted.toSorted((a, b) => (a < b ? -1 : 1))) {
    const log = await readLog(path.join(folder, name), what, files);
    if (log?.isNewer === true) throw newerStateFailure(what, log.path);
    if (log !== undefined) yield log;
  }
}

/** Removes a log whose records are no longer needed, or renames it when it has damaged lines. */
export async function retireLog(
  { garbled, path: file }: Pick<LogFile, 'garbled' | 'path'>,
  deps: FileDeps,
): Promise<void> {
  if (garbled > 0) await deps.files.rename(file, `${file}${CORRUPT_EXTENSION}`);
  else await removeQuietly(file, deps);
}

/** The record that names the process that writes a log. */
export function ownerRecord(owner: ProcessIdentity): LogRecord {
  return { owner };
}

/** Returns whether the last owner of a log is still running. */
export function writerOf(records: readonly LogRecord[], processes: Processes): Liveness {
  const owner = records
    .map((record) => parseIdentity(record['owner']))
    .findLast((one) => one !== undefined);
  return owner === undefined ? 'unknown' : processes.liveness(owner);
}

/** Parses the identity of a process; undefined when it is invalid. */
export function parseIdentity(value: unknown): ProcessIdentity | undefined {
  return isIdentity(value) ? value : undefined;
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return hasShape(value, {
    pid: 'number',
    host: 'string',
    bootId: 'string|undefined',
    pidNamespace: 'string|undefined',
    processStart: 'string|undefined',
  });
}

/**
 * Returns whether the fields of a record have these types; other fields are ignored.
 * @param shape the allowed types of each field, such as `string|null`
 */
export function hasShape(
  value: unknown,
  shape: Readonly<Record<string, string>>,
): value is LogRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return Object.entries(shape).every(([name, types]) => {
    const field = fields.get(name);
    return types.includes(field === null ? 'null' : typeof field);
  });
}

/** When records reach the disk: `later` lets the system decide, `soon` syncs within 50 ms. */
export type Durability = 'later' | 'soon' | 'now';

const SOON_MS = 50;

export interface LogOptions extends FileDeps {
  readonly path: string;
  /** The first records of this process; written with the first append. */
  readonly head: readonly LogRecord[];
  /** Appends to an existing file; by default the file must not exist. */
  readonly isResumed?: boolean;
  /** Runs before the file is created. */
  readonly prepare?: () => Promise<unknown>;
}

/**
 * Appends records to a log file that only this process writes. The first append opens the file (0600).
 * Records that arrive during a write are combined for the next write. Methods throw the system's error.
 */
export class Log {
  readonly #options: LogOptions;
  #file: FileHandle | undefined;
  #waiting: Buffer[] = [];
  /** Offset in the file after all queued records; NaN after a failed write. */
  #end: number;
  #mustSync = false;
  /** Settles after all writes so far. */
  #tail: Promise<unknown> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;
  #cancelSoon: (() => void) | undefined;
  #writes = 0;
  #syncedWrites = 0;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#end = options.isResumed === true ? Number.NaN : headOf(options).length;
  }

  /** Whether at least one write has succeeded. */
  get isBegun(): boolean {
    return this.#writes > 0;
  }

  /** Queues records, which are written with the next append or when the log is closed. */
  queue(records: readonly LogRecord[]): void {
    for (const record of records) {
      const line = logLine(record);
      this.#waiting.push(line);
      this.#end += line.length;
    }
  }

  /** Writes records and returns the offset of the end of the records, NaN if unknown. */
  async append(records: readonly LogRecord[], durability: Durability = 'later'): Promise<number> {
    this.queue(records);
    const end = this.#end;
    this.#mustSync ||= durability === 'now';
    this.#nextWrite ??= this.#enqueue(() => this.#write());
    await this.#nextWrite;
    if (durability === 'now') await this.sync();
    if (durability === 'soon') {
      this.#cancelSoon ??= this.#options.clock.after(SOON_MS, () => {
        void this.sync().catch(() => undefined);
      });
    }
    return Number.isNaN(this.#end) ? this.#end : end;
  }

  /** Resolves when all appended records are on the disk; concurrent calls share one sync. */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncing.then(() => {
      this.#nextSync = undefined;
      const synced = this.#tail.then(() => this.#syncWrites());
      this.#syncing = synced.catch(() => undefined);
      return synced;
    });
    return this.#nextSync;
  }

  /** Replaces bytes of an earlier record. Ignores errors: retiring the log removes the bytes too. */
  overwrite(bytes: Uint8Array, position: number): void {
    const write = async (): Promise<unknown> => this.#file?.write(bytes, 0, bytes.length, position);
    void this.#enqueue(write).catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#waiting.length > 0) await this.append([]).catch(() => undefined);
    await this.#tail;
    this.#cancelSoon?.();
    await this.#nextSync?.catch(() => undefined);
    await this.#syncing;
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #write(): Promise<void> {
    const isFirst = this.#file === undefined;
    const mustSync = this.#mustSync;
    const bytes = Buffer.concat(
      isFirst ? [headOf(this.#options), ...this.#waiting] : this.#waiting,
    );
    this.#nextWrite = undefined;
    this.#waiting = [];
    this.#mustSync = false;
    try {
      const file = (this.#file ??= await this.#open());
      await writeAll(file, bytes);
      this.#writes += 1;
      if (isFirst && mustSync) await this.#syncWrites();
    } catch (error) {
      this.#end = Number.NaN;
      if (isFirst) await this.#discard();
      throw error;
    }
  }

  async #open(): Promise<FileHandle> {
    const { files, isResumed, path: file, prepare } = this.#options;
    await prepare?.();
    if (isResumed !== true) return files.open(file, 'wx', 0o600);
    return openOwnFile(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, files);
  }

  /** Syncs the file, and the first time also the folder, concurrently: that takes hardly longer. */
  async #syncWrites(): Promise<void> {
    this.#cancelSoon?.();
    this.#cancelSoon = undefined;
    const file = this.#file;
    const writes = this.#writes;
    if (file === undefined || writes === this.#syncedWrites) return;
    const { files, isResumed, path: name } = this.#options;
    const isNew = this.#syncedWrites === 0 && isResumed !== true;
    await Promise.all([syncFile(file), isNew ? syncFolder(files, path.dirname(name)) : undefined]);
    this.#syncedWrites = Math.max(this.#syncedWrites, writes);
  }

  /** Closes a file whose first records could not be written; removes a new file. */
  async #discard(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#writes = 0;
    if (file === undefined) return;
    await file.close().catch(() => undefined);
    if (this.#options.isResumed !== true) await removeQuietly(this.#options.path, this.#options);
  }
}

function headOf({ head }: LogOptions): Buffer {
  return Buffer.concat(head.map((record) => logLine(record)));
}
