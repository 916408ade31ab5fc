import path from 'node:path';
import type { FileSystem } from '../system/file-system.ts';
import type { ProcessIdentity } from '../system/processes.ts';
import { hasErrno, UNSUPPORTED } from './file-failures.ts';
import type { System } from '../system/system.ts';
import {
  createTemporary,
  isTemporaryName,
  randomHex,
  removeQuietly,
  retryWhileBusy,
  writeAll,
} from './files.ts';
import { parseIdentity } from './log.ts';
import { readOwnFile, readOwnText, SMALL_FILE_BYTES } from './own-files.ts';

export interface LockFileOptions extends System {
  /**
   * Returns when the holder of the lock was last active, in milliseconds since the Unix epoch; undefined if unknown.
   * Called only if foley cannot check whether the holder is still running.
   */
  readonly lastActivity: () => Promise<number | undefined>;
  /** Returns the error to throw while another process holds the lock. */
  readonly lockedError: (file: string, owner: ProcessIdentity | undefined) => Error;
}

interface HeldLock {
  readonly owner: ProcessIdentity | undefined;
  readonly mark: string | undefined;
}

// If a process cannot be checked, it is assumed to run for this time after its last activity.
const ASSUMED_RUNNING_MS = 60 * 60 * 1000;

/**
 * Takes a lock by creating a lock file that names this process. Replaces the lock of a process that has ended.
 * @returns a function that removes the lock if this process still holds it
 * @throws the error from `lockedError` if another process holds the lock, or a system error
 */
export async function takeLock(
  file: string,
  options: LockFileOptions,
): Promise<() => Promise<void>> {
  const mark = randomHex(options, 8);
  await take(file, mark, options);
  return async () => {
    const held = await readLock(file, options).catch(() => undefined);
    if (held?.mark === mark) await removeQuietly(file, options);
  };
}

async function take(file: string, mark: string, options: LockFileOptions): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await takeOnce(file, mark, options);
    } catch (error) {
      // Another process mistook our unfinished lock for that of a dead process.
      if (turn === MAX_TURNS || !hasErrno(error, 'ENOENT')) throw error;
    }
  }
}

async function takeOnce(file: string, mark: string, options: LockFileOptions): Promise<void> {
  const temporary = await createTemporary(path.dirname(file), options, 0o600);
  try {
    try {
      const content = JSON.stringify({ owner: options.processes.self, mark });
      await writeAll(temporary.file, Buffer.from(content));
    } finally {
      await temporary.file.close();
    }
    await takeWith(temporary.path, file, options);
  } finally {
    await removeQuietly(temporary.path, options);
  }
}

// To replace the lock of a dead process, first takes a second lock, named after the random `mark` in the dead lock.
async function takeWith(written: string, file: string, options: LockFileOptions): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    if (await linked(written, file, options)) return;
    const held = await readLock(file, options);
    if (held === undefined) continue;
    if (turn > MAX_TURNS || !(await isStale(held, options)))
      throw options.lockedError(file, held.owner);
    const second = `${file}.${held.mark ?? 'unmarked'}`;
    await takeWith(written, second, options);
    try {
      const now = await readLock(file, options);
      if (now !== undefined && now.mark === held.mark) {
        const next = `${file}.${randomHex(options, 6)}`;
        await linked(written, next, options);
        await retryWhileBusy(options, () => options.files.rename(next, file));
        return;
      }
    } finally {
      await removeQuietly(second, options);
    }
  }
}

const MAX_TURNS = 5;

async function linked(from: string, to: string, { files }: LockFileOptions): Promise<boolean> {
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, ...UNSUPPORTED, 'EACCES')) throw error;
  }
  // This file system has no links. A copy that is incomplete for a moment counts as a lock without an owner.
  try {
    const handle = await files.open(to, 'wx', 0o600);
    await writeAll(handle, await readOwnFile(from, SMALL_FILE_BYTES, files)).finally(() =>
      handle.close(),
    );
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Removes the lock file of a process that has ended. Keeps the lock file if another process has replaced it in the
 * meantime.
 */
export async function clearLock(
  file: string,
  dead: HeldLock,
  options: LockFileOptions,
): Promise<void> {
  const aside = `${file}.${randomHex(options, 6)}`;
  try {
    await retryWhileBusy(options, () => options.files.rename(file, aside));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw error;
  }
  const moved = await readLock(aside, options);
  // A process whose unfinished lock disappears makes another one.
  const isMissed = moved?.mark !== dead.mark && !isTemporaryName(path.basename(file));
  if (isMissed) await linked(aside, file, options);
  await removeQuietly(aside, options);
}

/** Reads a lock file. Returns undefined if the file does not exist. */
export async function readLock(
  file: string,
  { files }: { readonly files: FileSystem },
): Promise<HeldLock | undefined> {
  let content: string;
  try {
    content = await readOwnText(file, SMALL_FILE_BYTES, files);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== 'object' || value === null) return NO_OWNER;
    const fields = new Map<string, unknown>(Object.entries(value));
    const mark = fields.get('mark');
    return {
      owner: parseIdentity(fields.get('owner')),
      mark: typeof mark === 'string' ? mark : undefined,
    };
  } catch {
    return NO_OWNER;
  }
}

const NO_OWNER: HeldLock = { owner: undefined, mark: undefined };

/**
 * Returns whether a lock may be replaced. It may if the lock names no process, or if its process has ended. Some
 * processes cannot be checked: their locks may be replaced unless they were active in the last hour.
 */
export async function isStale({ owner }: HeldLock, options: LockFileOptions): Promise<boolean> {
  if (owner === undefined) return true;
  const { clock, lastActivity, processes } = options;
  const liveness = processes.liveness(owner);
  if (liveness !== 'unknown') return liveness === 'dead';
  const seen = await lastActivity();
  return seen === undefined || clock.now() - seen > ASSUMED_RUNNING_MS;
}
