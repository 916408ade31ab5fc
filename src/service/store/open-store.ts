import { join } from 'node:path';
import type Libsql from 'libsql';
import type { Clock } from '../../effects/clock.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Connection } from './connection.ts';
import { createConnection, integer } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';

/** The service's database, shared by every process that uses the data directory. */
export interface Store {
  /** The database file. */
  readonly path: string;
  /**
   * Runs `work` as one immediate transaction: all of it happens or nothing.
   * @throws StoreError `locked` when another process holds the database for too long
   */
  write<Result>(work: (db: Connection) => Result): Result;
  /** Runs `work` over one consistent snapshot. */
  read<Result>(work: (db: Connection) => Result): Result;
  close(): void;
}

interface OpenStoreOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly files: FileSystem;
  /** How long to wait for another process's transaction; default 5 s. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 20;

/**
 * Opens the database in the data directory, made when missing (directory 0700, file 0600), and
 * brings its schema up to date.
 * @throws StoreError when the directory cannot be written, or the database is newer, locked or broken
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const path = join(options.dataDir, 'service.db');
  try {
    await prepareFile(options.dataDir, path, options.files);
    return await openDatabase(path, options);
  } catch (error) {
    throw isStoreFailure(error) ? toStoreError(error, path) : error;
  }
}

async function prepareFile(dataDir: string, path: string, files: FileSystem): Promise<void> {
  await files.mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    const file = await files.open(path, 'ax', 0o600);
    await file.close();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

async function openDatabase(path: string, options: OpenStoreOptions): Promise<Store> {
  const { Database } = await import('./sqlite.ts');
  const timeout = options.busyTimeoutMs ?? BUSY_TIMEOUT_MS;
  const database = new Database(path, { timeout });
  try {
    const db = createConnection(database);
    refuseNewer(db, path);
    await useWriteAheadLog(db, options.clock, timeout);
    const store = createStore(database, db, path);
    migrate(store, db);
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Changing the journal mode needs the file alone, and SQLite does not wait for that by itself. */
async function useWriteAheadLog(db: Connection, clock: Clock, timeoutMs: number): Promise<void> {
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    try {
      db.all('PRAGMA journal_mode = WAL');
      db.all('PRAGMA synchronous = NORMAL');
      return;
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline) throw error;
      await clock.sleep(BUSY_RETRY_MS);
    }
  }
}

function migrate(store: Store, db: Connection): void {
  if (schemaVersion(db) === MIGRATIONS.length) return;
  store.write((inside) => {
    refuseNewer(inside, store.path);
    for (const step of MIGRATIONS.slice(schemaVersion(inside))) inside.script(step);
    inside.script(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function refuseNewer(db: Connection, path: string): void {
  const version = schemaVersion(db);
  if (version <= MIGRATIONS.length) return;
  throw new StoreError(
    'newer',
    path,
    `${path} was made by a newer foley (schema ${version}; this one knows ${MIGRATIONS.length})`,
  );
}

function schemaVersion(db: Connection): number {
  const row = db.get('PRAGMA user_version');
  return row === undefined ? 0 : integer(row, 'user_version');
}

function createStore(database: Libsql.Database, db: Connection, path: string): Store {
  let isOpen = true;
  const transaction = <Result>(begin: string, work: (db: Connection) => Result): Result => {
    // The binding ends the whole process when a closed database is asked for anything.
    if (!isOpen) throw new Error(`${path} is closed`);
    try {
      database.exec(begin);
      const result = work(db);
      database.exec('COMMIT');
      return result;
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK');
      throw isBusy(error) ? toStoreError(error, path) : error;
    }
  };
  return {
    path,
    write: (work) => transaction('BEGIN IMMEDIATE', work),
    read: (work) => transaction('BEGIN', work),
    close() {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
}

/** Another connection holds what was asked for. */
function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** The file system or SQLite said no, rather than our own code being wrong. */
function isStoreFailure(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof Error && 'code' in error);
}

/** Gives the error that says what to do about a database or a directory that cannot be used. */
function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  if (isBusy(error)) {
    return new StoreError('locked', path, `${path} is held by another process`, error);
  }
  const code = codeOf(error);
  if (/^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(code)) {
    return new StoreError('corrupt', path, `${path} is not a database that foley can read`, error);
  }
  const reason = code === '' ? 'it cannot be opened' : code;
  return new StoreError('unwritable', path, `${path} cannot be written (${reason})`, error);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

type StoreErrorReason = 'unwritable' | 'newer' | 'locked' | 'corrupt' | 'no_binary';

/**
 * The data directory cannot be used: it cannot be written (`unwritable`), was made by a newer
 * foley (`newer`), is held by another process for too long (`locked`), does not hold together
 * (`corrupt`), or SQLite itself cannot be loaded (`no_binary`; the path is the package's name). The message names the file and says what to do.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  /** The file or directory that it is about. */
  readonly path: string;

  constructor(reason: StoreErrorReason, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.path = path;
  }
}
