import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { copyIntoNew } from './copy-file.ts';
import { removeQuietly } from './debris.ts';
import { hasErrno } from './errno.ts';
import type { FileDeps } from './file-deps.ts';
import { randomHex } from './file-deps.ts';
import { safeName } from './names.ts';
import type { Released } from './output.ts';
import { ensurePrivateFolder, openOwnFile } from './own-files.ts';
import { entryFiles, listSpool, lonelySidecars } from './spool-list.ts';
import type { SpoolEntry } from './spool-list.ts';
import type { SpoolAbout, SpoolRecord } from './spool-record.ts';
import { createSpoolWriter, writeSidecar } from './spool-writer.ts';
import type { SpoolWriter } from './spool-writer.ts';
import { stateFailure } from './state-failures.ts';

export type { SpoolEntry } from './spool-list.ts';
export type { SpoolAbout } from './spool-record.ts';
export type { SpoolWriter } from './spool-writer.ts';

/**
 * Audio that was paid for and is not where it was meant to go: a folder (0700) of audio files (0600),
 * each with a sidecar that says what it is. Throws exit 32 when the folder cannot be used.
 */
export interface Spool {
  /** Opens an entry for audio that is about to arrive. */
  create(about: SpoolAbout): Promise<SpoolWriter>;
  /**
   * Takes over what a stopped output left, by renaming or, from another disk, copying it; the writer
   * goes on behind it. When this throws, the file is still where it was, and the failure's details
   * name it as `left`.
   */
  adopt(released: Released, about: SpoolAbout): Promise<SpoolWriter>;
  /** What is there, the oldest first. */
  list(): Promise<readonly SpoolEntry[]>;
  /** Notes that the loss of the rest of an entry was reported. */
  markReported(entry: SpoolEntry): Promise<void>;
  /** Removes one entry. */
  remove(entry: SpoolEntry): Promise<void>;
  /** Removes what is older than 24 hours, then the oldest above 512 MiB; returns what it removed. */
  prune(): Promise<readonly SpoolEntry[]>;
}

export const SPOOL_AGE_MAX_MS = 24 * 60 * 60 * 1000;
export const SPOOL_BYTES_MAX = 512 * 1024 * 1024;

/** The spool in `folder`, which is made when something is to be kept. */
export function createSpool(options: FileDeps & { readonly folder: string }): Spool {
  const { folder, files, clock } = options;
  const failed = (error: unknown): never => {
    throw stateFailure('the spool', folder, error);
  };

  async function remove(entry: SpoolEntry): Promise<void> {
    // The audio first: a sidecar that is left alone is removed with time, audio would stay unknown.
    await removeIfThere(entry.path, options);
    await removeIfThere(entry.sidecar, options);
  }

  async function prune(): Promise<readonly SpoolEntry[]> {
    const entries = await listSpool(folder, files);
    const gone = outdated(entries, clock.now());
    for (const entry of gone) await remove(entry);
    for (const { path: sidecar, changedAt } of await lonelySidecars(folder, files)) {
      if (clock.now() - changedAt > SPOOL_AGE_MAX_MS) await removeIfThere(sidecar, options);
    }
    return gone;
  }

  return {
    create: (about) =>
      openEntry(options, about, (audio) => files.open(audio, 'wx', 0o600)).catch(failed),
    adopt: (released, about) => adopt(options, released, about),
    list: () => listSpool(folder, files).catch(failed),
    async markReported({ record, sidecar }) {
      if (record === undefined) return;
      const reported = { ...record, reported: true } as const;
      await writeSidecar({ ...options, sidecar, record: reported }).catch(failed);
    },
    remove: (entry) => remove(entry).catch(failed),
    prune: () => prune().catch(failed),
  };
}

type SpoolOptions = FileDeps & { readonly folder: string };

async function adopt(
  options: SpoolOptions,
  released: Released,
  about: SpoolAbout,
): Promise<SpoolWriter> {
  const leaving =
    (left: string) =>
    async (error: unknown): Promise<never> => {
      const details = (await hasBytes(left, options)) ? { left } : undefined;
      if (details === undefined) await removeQuietly(left, options);
      throw stateFailure('the spool', options.folder, error, details);
    };
  const writer = await openEntry(options, about, (audio) =>
    take(released.path, audio, options),
  ).catch(leaving(released.path));
  try {
    for (const chunk of released.rest) await writer.write(chunk);
  } catch (error) {
    await writer.keep({ complete: false }).catch(() => undefined);
    return leaving(writer.path)(error);
  }
  return writer;
}

/** Whether something arrived in a file, so that there is something to keep. */
async function hasBytes(file: string, { files }: SpoolOptions): Promise<boolean> {
  try {
    return (await files.stat(file)).size > 0;
  } catch {
    return false;
  }
}

/** Writes the sidecar, and then lets `open` put the audio beside it. */
async function openEntry(
  options: SpoolOptions,
  about: SpoolAbout,
  open: (audio: string) => Promise<FileHandle>,
): Promise<SpoolWriter> {
  const { folder, files, clock } = options;
  await ensurePrivateFolder(folder, files);
  const keptAt = new Date(clock.now()).toISOString();
  const id = `${keptAt.replaceAll(/[-:]|\.\d+/g, '')}-${randomHex(options, 4)}`;
  const { audio, sidecar } = entryFiles(folder, id, safeName(about.extension));
  const record: SpoolRecord = { version: 1, keptAt, complete: null, ...about };
  await writeSidecar({ ...options, sidecar, record });
  try {
    const file = await open(audio);
    return createSpoolWriter({ ...options, id, audio, sidecar, file, record });
  } catch (error) {
    await removeQuietly(sidecar, options);
    throw error;
  }
}

/** Moves a file into the spool and returns it, open at its end. */
async function take(from: string, audio: string, options: SpoolOptions): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_APPEND;
  const file = await openOwnFile(from, flags, options.files);
  try {
    await file.chmod(0o600);
    await options.files.rename(from, audio);
    return file;
  } catch (error) {
    await file.close().catch(() => undefined);
    if (!hasErrno(error, 'EXDEV')) throw error;
  }
  return takeCopy(from, audio, options);
}

/** The same from another disk. */
async function takeCopy(from: string, audio: string, options: SpoolOptions): Promise<FileHandle> {
  try {
    const copy = await copyIntoNew(from, audio, options);
    await removeQuietly(from, options);
    return copy;
  } catch (error) {
    await removeQuietly(audio, options);
    throw error;
  }
}

function outdated(entries: readonly SpoolEntry[], now: number): SpoolEntry[] {
  const isOld = (entry: SpoolEntry) => now - entry.keptAt > SPOOL_AGE_MAX_MS;
  const gone = entries.filter((entry) => isOld(entry));
  // What may still be arriving stays, and so does the last that came, however large.
  const young = entries.filter((entry) => !isOld(entry) && entry.record?.complete !== null);
  let bytes = young.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of young.slice(0, -1)) {
    if (bytes <= SPOOL_BYTES_MAX) break;
    gone.push(entry);
    bytes -= entry.bytes;
  }
  return gone;
}

async function removeIfThere(file: string, { files }: SpoolOptions): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}
