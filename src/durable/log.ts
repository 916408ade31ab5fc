import { constants } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import type { Liveness, ProcessIdentity, Processes } from '../system/processes.ts';
import { hasErrno, newerStateFailure, stateFailure } from './file-failures.ts';
import type { System } from '../system/system.ts';
import { removeQuietly, syncFile, syncFolder, writeAll } from './files.ts';
import { openOwnFile, readOwnText, RECORD_BYTES } from './own-files.ts';

// The log file format of intents, long texts and batches: one JSON record with a checksum per line, appended by one
// process. Each kind of log defines its own records and merges them into its state.

// The version of the line format that this foley writes; it also reads earlier versions.
const LOG_VERSION = 2;

export const LOG_EXTENSION = '.jsonl';

/** Extension of a finished log file that foley keeps because some of its lines are damaged. */
export const CORRUPT_EXTENSION = '.corrupt';

export type LogRecord = Readonly<Record<string, unknown>>;

interface LogContent {
  readonly records: readonly LogRecord[];
  readonly garbled: number;
  // True if the last line is incomplete, because the process was killed while writing it. The line is then ignored.
  readonly isTorn: boolean;
  readonly isNewer: boolean;
}

export interface LogFile extends LogContent {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Encodes a record as a line: version, checksum, JSON. Starts with a line feed, to separate the record from an
 * incomplete earlier line.
 */
export function logLine(record: LogRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`\nv${LOG_VERSION} ${checksum(LOG_VERSION, json)} ${json}\n`);
}

/** Decodes the lines of a log. Counts damaged lines, and skips lines that a newer version of foley wrote. */
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
 * Reads a log file. Returns undefined if the file does not exist.
 * @param what names the log in messages
 * @throws Failure of kind `state`
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
 * Reads the log files of a folder, oldest first. Yields no files if the folder does not exist.
 * @throws Failure of kind `state` if a log file cannot be read, or a newer version of foley wrote it
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

/** Removes a log file that is no longer needed. If the file has damaged lines, renames it to `….corrupt` instead. */
export async function retireLog(
  system: System,
  { garbled, path: file }: Pick<LogFile, 'garbled' | 'path'>,
): Promise<void> {
  if (garbled > 0) await system.files.rename(file, `${file}${CORRUPT_EXTENSION}`);
  else await removeQuietly(system, file);
}

/** Returns the record that identifies the process that writes to a log. */
export function ownerRecord(owner: ProcessIdentity): LogRecord {
  return { owner };
}

/** Returns whether the last process that wrote to a log is still running. */
export function writerOf(records: readonly LogRecord[], processes: Processes): Liveness {
  const owner = records
    .map((record) => parseIdentity(record['owner']))
    .findLast((one) => one !== undefined);
  return owner === undefined ? 'unknown' : processes.liveness(owner);
}

/** Parses a recorded process identity; returns undefined for an invalid one. */
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
 * Returns whether the fields of a record have the given types; ignores other fields.
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

/** When a record is synced to the disk: `later` (the system decides), `soon` (within 50 ms) or `now` (at once). */
export type Durability = 'later' | 'soon' | 'now';

const SOON_MS = 50;

export interface LogOptions {
  readonly path: string;
  /** The first records of this process, written once before all its other records. */
  readonly head: readonly LogRecord[];
  /** Whether to append to an existing file. If false, the file must not exist yet. */
  readonly isResumed?: boolean;
  /** Called before the log file is created or opened, for example to create the folder. */
  readonly prepare?: () => Promise<unknown>;
}

/**
 * Appends records to a log file (0600) that only this process writes. Combines the records that arrive during a
 * write. Methods throw the system error.
 */
export class Log {
  readonly #system: System;
  readonly #options: LogOptions;
  #file: FileHandle | undefined;
  #waiting: Buffer[] = [];
  // Size of the file after all queued records are written; NaN after a failed write.
  #end: number;
  #mustSync = false;
  #tail: Promise<unknown> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;
  #soonWrite: Promise<void> | undefined;
  #beforeWrite: ((write: Promise<void>) => void) | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;
  #cancelSoon: (() => void) | undefined;
  #writes = 0;
  #syncedWrites = 0;

  constructor(system: System, options: LogOptions) {
    this.#system = system;
    this.#options = options;
    this.#end = options.isResumed === true ? Number.NaN : headOf(options).length;
  }

  /** Whether at least one write has succeeded. */
  get isBegun(): boolean {
    return this.#writes > 0;
  }

  /** Queues records to be written with the next append, or when the log is closed. */
  queue(records: readonly LogRecord[]): void {
    for (const record of records) {
      const line = logLine(record);
      this.#waiting.push(line);
      this.#end += line.length;
    }
  }

  /** Writes records. Returns the file offset after these records, or NaN if the offset is unknown. */
  async append(records: readonly LogRecord[], durability: Durability = 'later'): Promise<number> {
    this.queue(records);
    const end = this.#end;
    this.#mustSync ||= durability === 'now';
    this.#nextWrite ??= this.#enqueue(() => this.#write());
    this.#beforeWrite?.(this.#nextWrite);
    await this.#nextWrite;
    if (durability === 'now') await this.sync();
    if (durability === 'soon') {
      this.#cancelSoon ??= this.#system.clock.after(SOON_MS, () => {
        void this.sync().catch(() => undefined);
      });
    }
    return Number.isNaN(this.#end) ? this.#end : end;
  }

  /** Writes records with the next append, or after 50 ms. Resolves when they are written. */
  appendSoon(records: readonly LogRecord[]): Promise<void> {
    this.queue(records);
    this.#soonWrite ??= new Promise((resolve, reject) => {
      const cancel = this.#system.clock.after(SOON_MS, () => {
        void this.append([]).catch(() => undefined);
      });
      this.#beforeWrite = (write) => {
        cancel();
        this.#soonWrite = undefined;
        this.#beforeWrite = undefined;
        write.then(resolve, reject);
      };
    });
    return this.#soonWrite;
  }

  /** Resolves when all appended records are on the disk. Concurrent calls share one sync. */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncing.then(() => {
      this.#nextSync = undefined;
      const synced = this.#tail.then(() => this.#syncWrites());
      this.#syncing = synced.catch(() => undefined);
      return synced;
    });
    return this.#nextSync;
  }

  /** Overwrites bytes of an earlier record. Ignores errors, because the file is removed later. */
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
    const { files } = this.#system;
    const { isResumed, path: file, prepare } = this.#options;
    await prepare?.();
    if (isResumed !== true) return files.open(file, 'wx', 0o600);
    return openOwnFile(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, files);
  }

  // The first sync includes the folder. Doing both at once takes hardly longer.
  async #syncWrites(): Promise<void> {
    this.#cancelSoon?.();
    this.#cancelSoon = undefined;
    const file = this.#file;
    const writes = this.#writes;
    if (file === undefined || writes === this.#syncedWrites) return;
    const { isResumed, path: name } = this.#options;
    const isNew = this.#syncedWrites === 0 && isResumed !== true;
    await Promise.all([
      syncFile(file),
      isNew ? syncFolder(this.#system.files, path.dirname(name)) : undefined,
    ]);
    this.#syncedWrites = Math.max(this.#syncedWrites, writes);
  }

  // Called after a failed first write. Removes the file if this process created it.
  async #discard(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#writes = 0;
    if (file === undefined) return;
    await file.close().catch(() => undefined);
    if (this.#options.isResumed !== true) await removeQuietly(this.#system, this.#options.path);
  }
}

function headOf({ head }: LogOptions): Buffer {
  return Buffer.concat(head.map((record) => logLine(record)));
}
