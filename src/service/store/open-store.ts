import { constants } from 'node:fs';
import { join } from 'node:path';
import type Libsql from 'libsql';
import type { Clock } from '../../system/clock.ts';
import type { FileSystem } from '../../system/file-system.ts';
import type { Connection } from './connection.ts';
import { createConnection, integer } from './connection.ts';
import { SCHEMA, SCHEMA_VERSION, UPDATES } from './schema.ts';

export type Store = ReturnType<typeof createStore>;

interface OpenStoreOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Maximum wait, in milliseconds, for a transaction of another process; default 5,000. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 20;

/**
 * Opens the database in the data directory and updates its schema. Creates the directory (mode 0700) and the database
 * file (mode 0600) if they are missing.
 * @throws StoreError if the database cannot be used; `reason` says why
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
  // SQLite opens a read-only database, and would fail at the first request.
  for (const place of [dataDir, path]) await files.access(place, constants.W_OK);
}

async function openDatabase(path: string, options: OpenStoreOptions): Promise<Store> {
  const { Database } = await import('./sqlite.ts');
  const timeout = options.busyTimeoutMs ?? BUSY_TIMEOUT_MS;
  const database = new Database(path, { timeout });
  try {
    const db = createConnection(database);
    refuseUnknown(db, path);
    await useWriteAheadLog(db, options.clock, timeout);
    const store = createStore(database, db, path);
    update(store, db);
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

// Retries, because this needs an exclusive lock, for which SQLite does not wait.
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

function update(store: Store, db: Connection): void {
  if (schemaVersion(db) === SCHEMA_VERSION) return;
  store.write((inside) => {
    refuseUnknown(inside, store.path);
    let version = schemaVersion(inside);
    if (version === 0) {
      inside.script(SCHEMA);
      version = SCHEMA_VERSION;
    }
    for (; version < SCHEMA_VERSION; version += 1) inside.script(UPDATES.get(version) ?? '');
    inside.script(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

function refuseUnknown(db: Connection, path: string): void {
  const version = schemaVersion(db);
  if (version === 0 || version === SCHEMA_VERSION || UPDATES.has(version)) return;
  const [reason, maker] =
    version > SCHEMA_VERSION
      ? (['newer', 'a newer foley'] as const)
      : (['older', 'a foley before its first release'] as const);
  const known = [...UPDATES.keys(), SCHEMA_VERSION].join(' and ');
  const schemas = `schema ${version}; this one knows ${known}`;
  throw new StoreError(reason, path, `${path} was made by ${maker} (${schemas})`);
}

function schemaVersion(db: Connection): number {
  const row = db.get('PRAGMA user_version');
  return row === undefined ? 0 : integer(row, 'user_version');
}

function createStore(database: Libsql.Database, db: Connection, path: string) {
  let isOpen = true;
  const transaction = <Result>(begin: string, work: (db: Connection) => Result): Result => {
    // On a closed database, the binding ends the process.
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
    /**
     * Runs `work` in a transaction that locks the database for writing.
     * @throws StoreError `locked` if another process holds the lock
     */
    write: <Result>(work: (db: Connection) => Result): Result =>
      transaction('BEGIN IMMEDIATE', work),
    /** Runs `work` on a consistent snapshot of the database; `work` must only read. */
    read: <Result>(work: (db: Connection) => Result): Result => transaction('BEGIN', work),
    close(): void {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

function isStoreFailure(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof Error && 'code' in error);
}

function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  if (isBusy(error)) {
    return new StoreError('locked', path, `${path} is locked by another process`, error);
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

type StoreErrorReason = 'unwritable' | 'newer' | 'older' | 'locked' | 'corrupt' | 'no_binary';

/**
 * Thrown if the database of the service cannot be used.
 * Reasons: `unwritable`: the database or its directory cannot be opened or written. `newer`, `older`: a foley whose
 * databases this one cannot read made the database. `locked`: another process holds a lock. `corrupt`: the file is not a readable database, or the ledger in
 * it is inconsistent. `no_binary`: a required package cannot be loaded.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  /** The affected file, directory or package. */
  readonly path: string;

  constructor(reason: StoreErrorReason, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.path = path;
  }
}
