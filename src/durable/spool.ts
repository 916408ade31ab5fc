import { constants } from 'node:fs';
import path from 'node:path';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import { safeName } from './names.ts';
import { ensurePrivateFolder, openOwnFile, readOwnText, SMALL_FILE_BYTES } from './own-files.ts';
import { hasErrno, stateFailure } from './file-failures.ts';
import { removeQuietly, randomHex, syncFile, writeAll, syncFolder, FileWriter } from './files.ts';
import type { System } from '../system/system.ts';
import { hasShape } from './log.ts';
import type { Released, SoundChanges } from './output.ts';
import { isSoundChanges } from './output.ts';
import { replaceFile } from './publish.ts';

/**
 * Stores billed audio that could not be delivered. Each audio file has a JSON file with its metadata. Methods throw a
 * Failure of kind `state` if the folder cannot be used.
 */
export interface Spool {
  /** Creates a spool entry, to which the returned writer adds audio as it arrives. */
  create(about: SpoolAbout): Promise<SpoolWriter>;
  /**
   * Moves the temporary file of an unfinished output into the spool. Copies the file if it is on another disk, or if its
   * folder was removed. Closes `released.file`. The returned writer appends to the spooled file.
   * @throws Failure of kind `state`. If a file still contains audio, `details.left` is its path.
   */
  adopt(released: Released, about: SpoolAbout): Promise<SpoolWriter>;
  /** Returns the entries, oldest first. */
  list(): Promise<readonly SpoolEntry[]>;
  /** Records that foley has reported the loss of part of this entry's audio. */
  markReported(entry: SpoolEntry): Promise<void>;
  remove(entry: SpoolEntry): Promise<void>;
  /** Removes entries older than 24 hours, then the oldest until at most 512 MiB remain. Returns the removed entries. */
  prune(): Promise<readonly SpoolEntry[]>;
}

export const SPOOL_AGE_MAX_MS = 24 * 60 * 60 * 1000;
export const SPOOL_BYTES_MAX = 512 * 1024 * 1024;

/** Returns the spool in `folder`. The folder is created with the first entry. */
export function createSpool(system: System, folder: string): Spool {
  const { files, clock } = system;
  const failed = (error: unknown): never => {
    throw stateFailure('the spool', folder, error);
  };

  async function remove(entry: SpoolEntry): Promise<void> {
    // Remove the audio first: `prune` removes metadata without audio, but never audio without metadata.
    await removeIfThere(entry.path, files);
    await removeIfThere(entry.sidecar, files);
  }

  async function prune(): Promise<readonly SpoolEntry[]> {
    const entries = await listSpool(folder, files);
    const gone = outdated(entries, clock.now());
    for (const entry of gone) await remove(entry);
    for (const sidecar of await lonelySidecars(folder, files)) {
      const stat = await files.stat(sidecar).catch(() => undefined);
      const isOld = stat !== undefined && clock.now() - stat.mtimeMs > SPOOL_AGE_MAX_MS;
      if (isOld) await removeIfThere(sidecar, files);
    }
    return gone;
  }

  return {
    create: (about) =>
      openEntry(system, folder, about, (audio) => files.open(audio, 'wx', 0o600)).catch(failed),
    adopt: (released, about) => adopt(system, folder, released, about),
    list: () => listSpool(folder, files).catch(failed),
    async markReported({ record, sidecar }) {
      if (record === undefined) return;
      const reported = { ...record, reported: true } as const;
      await writeSidecar(system, sidecar, reported).catch(failed);
    },
    remove: (entry) => remove(entry).catch(failed),
    prune: () => prune().catch(failed),
  };
}

async function adopt(
  system: System,
  folder: string,
  released: Released,
  about: SpoolAbout,
): Promise<SpoolWriter> {
  const fail = async (left: string, error: unknown): Promise<never> => {
    const found = await system.files.stat(left).catch(() => undefined);
    const details = (found?.size ?? 0) > 0 ? { left } : undefined;
    if (details === undefined) await removeQuietly(system, left);
    throw stateFailure('the spool', folder, error, details);
  };
  const writer = await openEntry(system, folder, about, (audio) => take(system, released, audio))
    .catch((error: unknown) => fail(released.path, error))
    .finally(() => released.file?.close().catch(() => undefined));
  try {
    for (const chunk of released.rest) await writer.write(chunk);
  } catch (error) {
    await writer.keep({ complete: false }).catch(() => undefined);
    return fail(writer.path, error);
  }
  return writer;
}

async function openEntry(
  system: System,
  folder: string,
  about: SpoolAbout,
  open: (audio: string) => Promise<FileHandle>,
): Promise<SpoolWriter> {
  const { clock, files, random } = system;
  await ensurePrivateFolder(folder, files);
  const keptAt = new Date(clock.now()).toISOString();
  const id = `${keptAt.replaceAll(/[-:]|\.\d+/g, '')}-${randomHex(random, 4)}`;
  const { audio, sidecar } = entryFiles(folder, id, safeName(about.extension));
  const record: SpoolRecord = { version: 1, keptAt, complete: null, ...about };
  await writeSidecar(system, sidecar, record);
  try {
    const file = await open(audio);
    return new SpoolWriter(system, { id, audio, sidecar, file, record });
  } catch (error) {
    await removeQuietly(system, sidecar);
    throw error;
  }
}

async function take(
  system: System,
  { file: source, path: from }: Released,
  audio: string,
): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_APPEND;
  let file: FileHandle | undefined;
  try {
    file = await openOwnFile(from, flags, system.files);
    await file.chmod(0o600);
    await system.files.rename(from, audio);
    return file;
  } catch (error) {
    await file?.close().catch(() => undefined);
    const wasRemoved = source !== undefined && hasErrno(error, 'ENOENT', 'ENOTDIR');
    if (!wasRemoved && !hasErrno(error, 'EXDEV')) throw error;
  }
  try {
    const copy = await copyIntoNew(source ?? from, audio, system.files);
    await removeQuietly(system, from);
    return copy;
  } catch (error) {
    await removeQuietly(system, audio);
    throw error;
  }
}

function outdated(entries: readonly SpoolEntry[], now: number): SpoolEntry[] {
  const isOld = (entry: SpoolEntry) => now - entry.keptAt > SPOOL_AGE_MAX_MS;
  const gone = entries.filter((entry) => isOld(entry));
  // Keep the newest entry, and audio that may still be arriving.
  const young = entries.filter((entry) => !isOld(entry) && entry.record?.complete !== null);
  let bytes = young.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of young.slice(0, -1)) {
    if (bytes <= SPOOL_BYTES_MAX) break;
    gone.push(entry);
    bytes -= entry.bytes;
  }
  return gone;
}

async function removeIfThere(file: string, files: FileSystem): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}

/**
 * Copies a file to a new file (mode 0600). Returns the new file, open and positioned at its end. If copying fails, an
 * incomplete copy may remain.
 * @param from the path of the file, or the open file, which stays open
 * @throws the system error
 */
export async function copyIntoNew(
  from: FileHandle | string,
  to: string,
  files: FileSystem,
): Promise<FileHandle> {
  const source = typeof from === 'string' ? await files.open(from, 'r') : from;
  try {
    const copy = await files.open(to, 'wx', 0o600);
    try {
      await copyBytes(source, copy);
      await syncFile(copy);
      return copy;
    } catch (error) {
      await copy.close();
      throw error;
    }
  } finally {
    if (source !== from) await source.close().catch(() => undefined);
  }
}

async function copyBytes(source: FileHandle, copy: FileHandle): Promise<void> {
  const buffer = Buffer.alloc(262_144);
  for (let position = 0; ;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    await writeAll(copy, buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

export interface SpoolEntry {
  readonly id: string;
  readonly path: string;
  readonly sidecar: string;
  readonly bytes: number;
  /**
   * When this entry was created, in milliseconds since the epoch. Without valid metadata, this is the modification time
   * of the audio file.
   */
  readonly keptAt: number;
  /** The metadata; undefined if the metadata file is missing, damaged or written by a newer version of foley. */
  readonly record: SpoolRecord | undefined;
}

/** Returns the entries of a spool folder, oldest first. @throws the system error */
export async function listSpool(folder: string, files: FileSystem): Promise<SpoolEntry[]> {
  const names = await namesIn(folder, files);
  const entries: SpoolEntry[] = [];
  for (const name of names) {
    const [, id, extension] = ENTRY_NAME.exec(name) ?? [];
    if (id === undefined || extension === SIDECAR_EXTENSION) continue;
    const entry = await entryOf(folder, { id, name }, files);
    if (entry !== undefined) entries.push(entry);
  }
  return entries.toSorted((a, b) => a.keptAt - b.keptAt || (a.id < b.id ? -1 : 1));
}

async function lonelySidecars(folder: string, files: FileSystem): Promise<string[]> {
  const names = await namesIn(folder, files);
  const withAudio = new Set(names.filter((name) => !isSidecar(name)).map((name) => idOf(name)));
  return names
    .filter((name) => isSidecar(name) && !withAudio.has(idOf(name)))
    .map((name) => path.join(folder, name));
}

function entryFiles(
  folder: string,
  id: string,
  extension: string,
): { readonly audio: string; readonly sidecar: string } {
  return {
    audio: path.join(folder, `${id}.${extension}`),
    sidecar: path.join(folder, `${id}.${SIDECAR_EXTENSION}`),
  };
}

const SIDECAR_EXTENSION = 'json';
const ENTRY_NAME = /^(\d{8}T\d{6}Z-[0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

async function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  return files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
}

function isSidecar(name: string): boolean {
  return name.endsWith(`.${SIDECAR_EXTENSION}`);
}

function idOf(name: string): string | undefined {
  return ENTRY_NAME.exec(name)?.[1];
}

async function entryOf(
  folder: string,
  { id, name }: { readonly id: string; readonly name: string },
  files: FileSystem,
): Promise<SpoolEntry | undefined> {
  const file = path.join(folder, name);
  const { sidecar } = entryFiles(folder, id, '');
  try {
    const { size, mtimeMs } = await files.stat(file);
    const record = parseRecord(await readOwnText(sidecar, SMALL_FILE_BYTES, files).catch(() => ''));
    const written = record === undefined ? NaN : Date.parse(record.keptAt);
    const keptAt = Number.isNaN(written) ? mtimeMs : written;
    return { id, path: file, sidecar, bytes: size, keptAt, record };
  } catch (error) {
    // Another process removed the file in the meantime.
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Metadata of audio in the spool. Contains neither the text nor the API key. */
export interface SpoolAbout {
  /** Kind of result, such as `speech` or `dub`. */
  readonly what: string;
  /** Extension of the audio file, without a dot. */
  readonly extension: string;
  /** The path of the intended output; null for stdout. */
  readonly output: string | null;
  readonly requestId: string | null;
  readonly creditsUsed: number | null;
  /** The id of the operation in the intent journal. */
  readonly operation: string | null;
  /** Why the audio was not delivered, as a sentence; null while the audio is arriving. */
  readonly problem: string | null;
  /** The changes of the sound that the intended output still needs. */
  readonly changes?: SoundChanges | undefined;
}

interface SpoolRecord extends SpoolAbout {
  readonly version: 1;
  readonly keptAt: string;
  // Null while the audio is arriving, or if the process was killed.
  readonly complete: boolean | null;
  // Set when `foley recover` has reported that the rest of the audio is lost.
  readonly reported?: true | undefined;
}

function parseRecord(json: string): SpoolRecord | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isSpoolRecord(value) && value.version === 1 ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSpoolRecord(value: unknown): value is SpoolRecord {
  const isRecord = hasShape(value, {
    version: 'number',
    what: 'string',
    extension: 'string',
    keptAt: 'string',
    output: 'string|null',
    requestId: 'string|null',
    operation: 'string|null',
    problem: 'string|null',
    creditsUsed: 'number|null',
    complete: 'boolean|null',
  });
  return isRecord && isSoundChanges(value['changes']);
}

/** Metadata of audio in the spool that is known only when all audio has arrived. */
export interface SpoolOutcome extends Partial<
  Pick<SpoolAbout, 'creditsUsed' | 'requestId' | 'problem'>
> {
  readonly complete: boolean;
}

interface OpenEntry {
  readonly id: string;
  readonly audio: string;
  readonly sidecar: string;
  readonly file: FileHandle;
  readonly record: SpoolRecord;
}

/** Writes the audio of one spool entry. All methods except `discard` throw a Failure of kind `state`. */
export class SpoolWriter {
  readonly id: string;
  /** The path of the audio file, which exists from the start. */
  readonly path: string;
  readonly #system: System;
  readonly #entry: OpenEntry;
  readonly #writer: FileWriter;
  #isOpen = true;

  constructor(system: System, entry: OpenEntry) {
    this.id = entry.id;
    this.path = entry.audio;
    this.#system = system;
    this.#entry = entry;
    this.#writer = new FileWriter(entry.file);
  }

  get bytes(): number {
    return this.#writer.bytes;
  }

  /** Writes a chunk, which must not be changed afterwards. Resolves when the buffer has space again. */
  async write(chunk: Uint8Array): Promise<void> {
    try {
      await this.#writer.write(chunk);
    } catch (error) {
      throw stateFailure('the spool', this.path, error);
    }
  }

  /** Closes the audio file, which stays in the spool, and adds the outcome to its metadata. */
  async keep(outcome: SpoolOutcome): Promise<void> {
    try {
      const fault = await this.#finish();
      const complete = outcome.complete && fault === undefined;
      const record = { ...this.#entry.record, ...outcome, complete };
      await writeSidecar(this.#system, this.#entry.sidecar, record);
      await syncFolder(this.#system.files, path.dirname(this.path));
      if (fault !== undefined) throw fault.error;
    } catch (error) {
      throw stateFailure('the spool', this.path, error);
    }
  }

  /** Removes the entry, because its audio was delivered. Never throws. */
  async discard(): Promise<void> {
    this.#writer.stop();
    await this.#finish();
    await removeQuietly(this.#system, this.path);
    await removeQuietly(this.#system, this.#entry.sidecar);
  }

  async #finish(): Promise<{ readonly error: unknown } | undefined> {
    let fault: { readonly error: unknown } | undefined;
    const note = (error: unknown): void => {
      fault ??= { error };
    };
    await this.#writer.flush().catch(note);
    if (!this.#isOpen) return fault;
    this.#isOpen = false;
    await syncFile(this.#entry.file).catch(note);
    await this.#entry.file.close().catch(note);
    return fault;
  }
}

async function writeSidecar(system: System, sidecar: string, record: SpoolRecord): Promise<void> {
  const data = Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`);
  await replaceFile(system, { path: sidecar, data, mode: 0o600 });
}
