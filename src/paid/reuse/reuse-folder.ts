import { constants } from 'node:fs';
import path from 'node:path';
import { hasErrno } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { orphanedTemporaries, removeQuietly } from '../../durable/files.ts';
import { openOwnFile } from '../../durable/own-files.ts';
import type { FileHandle } from '../../system/file-system.ts';
import type { StoredMetadata } from './stored-audio.ts';
import { isIntact, readMetadata } from './stored-audio.ts';

/** Stored audio, as `foley reuse list` shows it. */
export interface StoredItem {
  readonly id: string;
  /** Size of the stored file, which has the audio and its metadata, in bytes. */
  readonly fileBytes: number;
  /** Time of the last use, in milliseconds since the epoch. */
  readonly usedAt: number;
  /** Undefined if the file is damaged. */
  readonly metadata: StoredMetadata | undefined;
}

interface StoredFile extends Pick<StoredItem, 'fileBytes' | 'id' | 'usedAt'> {
  readonly path: string;
}

/** Returns the stored audio, the last used first. @throws the system error */
export async function listStored(system: System, folder: string): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  for (const { fileBytes, id, path: file, usedAt } of await storedFiles(system, folder)) {
    const metadata = await inspect(file, system, readMetadata);
    items.push({ id, fileBytes, usedAt, metadata });
  }
  return items;
}

/** What was removed from the store. */
export interface Removed {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Removes damaged files, the files of commands that were killed, and the least recently used audio above the maximum
 * size.
 * @throws the system error
 */
export async function pruneFolder(
  system: System,
  folder: string,
  maxBytes: number,
): Promise<Removed> {
  const unfinished = await unfinishedFiles(system, folder);
  const intact: StoredFile[] = [];
  const damaged: StoredFile[] = [];
  for (const file of await storedFiles(system, folder)) {
    const isGood = await inspect(
      file.path,
      system,
      async (handle) => (await readMetadata(handle)) !== undefined && isIntact(handle),
    );
    (isGood === true ? intact : damaged).push(file);
  }
  return removeAll([...unfinished, ...damaged, ...above(intact, maxBytes, maxBytes)], system);
}

/** Removes all stored audio. @throws the system error */
export async function clearFolder(system: System, folder: string): Promise<Removed> {
  const files = [
    ...(await unfinishedFiles(system, folder)),
    ...(await storedFiles(system, folder)),
  ];
  return removeAll(files, system);
}

/**
 * Limits the size of the folder. If it has more than `maxBytes` bytes, removes the least recently used audio, and a little
 * more than necessary, so that the next audio needs no removal. Returns the size of the rest.
 * @throws the system error
 */
export async function limitFolder(
  system: System,
  folder: string,
  maxBytes: number,
): Promise<number> {
  await removeAll(await unfinishedFiles(system, folder), system);
  const files = await storedFiles(system, folder);
  const removed = await removeAll(above(files, maxBytes, maxBytes * SHARE_KEPT), system);
  return sumOf(files) - removed.bytes;
}

const SHARE_KEPT = 15 / 16;

// The files to remove if all files have more than `maxBytes` bytes; the rest has at most `keptBytes`, or is one file.
// `files` begins with the last used one.
function above(
  files: readonly StoredFile[],
  maxBytes: number,
  keptBytes: number,
): readonly StoredFile[] {
  if (sumOf(files) <= maxBytes) return [];
  let total = 0;
  return files.filter(
    ({ fileBytes }, index) => (total += fileBytes) > (index === 0 ? maxBytes : keptBytes),
  );
}

async function storedFiles({ files }: System, folder: string): Promise<readonly StoredFile[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  const all: StoredFile[] = [];
  for (const id of names.filter((name) => STORED_NAME.test(name))) {
    const file = path.join(folder, id);
    // Another command may have removed the file.
    const stats = await files.lstat(file).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    all.push({ id, path: file, fileBytes: stats.size, usedAt: stats.mtimeMs });
  }
  return all.toSorted((a, b) => b.usedAt - a.usedAt || (a.id < b.id ? -1 : 1));
}

const STORED_NAME = /^[0-9a-f]{64}$/;

async function unfinishedFiles(system: System, folder: string): Promise<readonly StoredFile[]> {
  const orphaned = await orphanedTemporaries(system, folder);
  const all: StoredFile[] = [];
  for (const file of orphaned) {
    const stats = await system.files.lstat(file).catch(() => undefined);
    if (stats === undefined) continue;
    const { mtimeMs: usedAt, size: fileBytes } = stats;
    all.push({ id: path.basename(file), path: file, fileBytes, usedAt });
  }
  return all;
}

async function removeAll(stored: readonly StoredFile[], system: System): Promise<Removed> {
  for (const { path: file } of stored) await removeQuietly(system, file);
  return { files: stored.length, bytes: sumOf(stored) };
}

function sumOf(files: readonly StoredFile[]): number {
  return files.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
}

async function inspect<Result>(
  file: string,
  { files }: System,
  look: (handle: FileHandle) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const handle = await openOwnFile(file, constants.O_RDONLY, files);
    try {
      return await look(handle);
    } finally {
      await handle.close();
    }
  } catch {
    // Another command may have removed the file, or it cannot be read.
    return undefined;
  }
}
