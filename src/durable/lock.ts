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

export interface LockFileOptions {
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
  system: System,
  file: string,
  options: LockFileOptions,
): Promise<() => Promise<void>> {
  const mark = randomHex(system.random, 8);
  await take(system, file, mark, options);
  return async () => {
    const held = await readLock(file, system.files).catch(() => undefined);
    if (held?.mark === mark) await removeQuietly(system, file);
  };
}

async function take(
  system: System,
  file: string,
  mark: string,
  options: LockFileOptions,
): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    try {
      return await takeOnce(system, file, mark, options);
    } catch (error) {
      // Another process mistook our unfinished lock for that of a dead process.
      if (turn === MAX_TURNS || !hasErrno(error, 'ENOENT')) throw error;
    }
  }
}

async function takeOnce(
  system: System,
  file: string,
  mark: string,
  options: LockFileOptions,
): Promise<void> {
  const temporary = await createTemporary(system, path.dirname(file), 0o600);
  try {
    try {
      const content = JSON.stringify({ owner: system.processes.self, mark });
      await writeAll(temporary.file, Buffer.from(content));
    } finally {
      await temporary.file.close();
    }
    await takeWith(system, temporary.path, file, options);
  } finally {
    await removeQuietly(system, temporary.path);
  }
}

// To replace the lock of a dead process, first takes a second lock, named after the random `mark` in the dead lock.
async function takeWith(
  system: System,
  written: string,
  file: string,
  options: LockFileOptions,
): Promise<void> {
  const { files, random } = system;
  for (let turn = 1; ; turn += 1) {
    if (await linked(written, file, files)) return;
    const held = await readLock(file, files);
    if (held === undefined) continue;
    if (turn > MAX_TURNS || !(await isStale(system, held, options.lastActivity)))
      throw options.lockedError(file, held.owner);
    const second = `${file}.${held.mark ?? 'unmarked'}`;
    await takeWith(system, written, second, options);
    try {
      const now = await readLock(file, files);
      if (now !== undefined && now.mark === held.mark) {
        const next = `${file}.${randomHex(random, 6)}`;
        await linked(written, next, files);
        await retryWhileBusy(system, () => files.rename(next, file));
        return;
      }
    } finally {
      await removeQuietly(system, second);
    }
  }
}

const MAX_TURNS = 5;

async function linked(from: string, to: string, files: FileSystem): Promise<boolean> {
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
export async function clearLock(system: System, file: string, dead: HeldLock): Promise<void> {
  const { files, random } = system;
  const aside = `${file}.${randomHex(random, 6)}`;
  try {
    await retryWhileBusy(system, () => files.rename(file, aside));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw error;
  }
  const moved = await readLock(aside, files);
  // A process whose unfinished lock disappears makes another one.
  const isMissed = moved?.mark !== dead.mark && !isTemporaryName(path.basename(file));
  if (isMissed) await linked(aside, file, files);
  await removeQuietly(system, aside);
}

/** Reads a lock file. Returns undefined if the file does not exist. */
export async function readLock(file: string, files: FileSystem): Promise<HeldLock | undefined> {
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
export async function isStale(
  { clock, processes }: System,
  { owner }: HeldLock,
  lastActivity: LockFileOptions['lastActivity'],
): Promise<boolean> {
  if (owner === undefined) return true;
  const liveness = processes.liveness(owner);
  if (liveness !== 'unknown') return liveness === 'dead';
  const seen = await lastActivity();
  return seen === undefined || clock.now() - seen > ASSUMED_RUNNING_MS;
}
