import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import type { Processes } from '../system/processes.ts';
import type { Random } from '../system/random.ts';
import type { System } from '../system/system.ts';
import { hasErrno, UNSUPPORTED } from './file-failures.ts';

/** Returns `count` random bytes in hexadecimal, for unique names. */
export function randomHex(random: Random, count: number): string {
  return Buffer.from(random.bytes(count)).toString('hex');
}

type WritableFile = Pick<FileHandle, 'writev'>;

/** Writes chunks to an open file in the background, several at once if possible. Buffers at most about 2 MiB. */
export class FileWriter {
  /** Number of bytes passed to `write` so far. */
  bytes = 0;
  written = 0;
  readonly #file: WritableFile;
  #waiting: PendingWrite[] = [];
  #waitingBytes = 0;
  #left: readonly PendingWrite[] = [];
  #underWay: Promise<void> | undefined;
  #fault: { readonly error: unknown } | undefined;

  constructor(file: WritableFile) {
    this.#file = file;
  }

  /** The chunks, or parts of chunks, that were passed to `write` but are not yet in the file. */
  get unwritten(): readonly Uint8Array[] {
    return [...this.#left, ...this.#waiting].map(({ bytes }) => bytes);
  }

  /**
   * Queues a chunk for writing. The caller must not change the chunk until `onWritten` is called. Resolves when the
   * buffer has space again.
   * @param onWritten called when the whole chunk has been written
   * @throws the system error of a failed write; `unwritten` then includes this chunk
   */
  async write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    if (chunk.length > 0) {
      this.bytes += chunk.length;
      this.#waiting.push({ bytes: chunk, onWritten });
      this.#waitingBytes += chunk.length;
    }
    this.#throwFault();
    if (chunk.length > 0) this.#underWay ??= this.#writeWaiting();
    while (this.#waitingBytes >= ROOM_BYTES && this.#underWay !== undefined) await this.#underWay;
    this.#throwFault();
  }

  /** Resolves when all queued chunks have been written. @throws the system error */
  async flush(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
    this.#throwFault();
  }

  /** Discards all chunks whose writing has not begun. */
  stop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  async #writeWaiting(): Promise<void> {
    this.#left = this.#waiting;
    this.stop();
    try {
      while (this.#left.length > 0) {
        const next = this.#left.slice(0, CHUNKS_AT_ONCE).map(({ bytes }) => bytes);
        const { bytesWritten } = await this.#file.writev(next);
        if (bytesWritten === 0) throw Object.assign(new Error('nothing written'), { code: 'EIO' });
        this.written += bytesWritten;
        this.#left = afterWriting(this.#left, bytesWritten);
      }
      this.#underWay = this.#waiting.length > 0 ? this.#writeWaiting() : undefined;
    } catch (error) {
      this.#fault = { error };
      this.#underWay = undefined;
    }
  }

  #throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }
}

/** Writes all of `bytes` at the current position, with several writes if necessary. */
export async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  const writer = new FileWriter(file);
  await writer.write(bytes);
  await writer.flush();
}

const ROOM_BYTES = 1_048_576;
const CHUNKS_AT_ONCE = 64;

interface PendingWrite {
  readonly bytes: Uint8Array;
  readonly onWritten: (() => void) | undefined;
}

function afterWriting(pieces: readonly PendingWrite[], count: number): readonly PendingWrite[] {
  let written = count;
  for (const [index, piece] of pieces.entries()) {
    const { bytes, onWritten } = piece;
    if (written < bytes.length) {
      return [{ ...piece, bytes: bytes.subarray(written) }, ...pieces.slice(index + 1)];
    }
    written -= bytes.length;
    onWritten?.();
  }
  return [];
}

/** Creates an empty file in `folder`. Its name is random and identifies this process. */
export async function createTemporary(
  { files, processes, random }: System,
  folder: string,
  mode = 0o666,
): Promise<{ readonly path: string; readonly file: FileHandle }> {
  const owner = ownerMark(processes);
  for (let turn = 1; ; turn += 1) {
    const name = path.join(folder, `.foley-${owner}-${randomHex(random, 12)}.part`);
    try {
      return { path: name, file: await files.open(name, 'wx+', mode) };
    } catch (error) {
      if (turn === 3 || !hasErrno(error, 'EEXIST')) throw error;
    }
  }
}

/** Returns whether a file with this name may come from {@link createTemporary}. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/** Removes a file that {@link createTemporary} created, and ignores errors. Does nothing for any other file. */
export async function removeTemporary(
  system: System,
  file: string | null | undefined,
): Promise<void> {
  if (typeof file === 'string' && isTemporaryName(path.basename(file))) {
    await removeQuietly(system, file);
  }
}

/** Returns the temporary files in a folder that were created by processes that have ended. Never throws. */
export async function orphanedTemporaries(
  { files, processes }: System,
  folder: string,
): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((): string[] => []);
  return names.filter((name) => isOrphaned(name, processes)).map((name) => path.join(folder, name));
}

const TEMPORARY_NAME = /^\.foley-(?:([0-9a-f]{8})-(\d+)-(\d+)-)?[0-9a-f]{24}\.part$/;

function ownerMark({ self }: Processes): string {
  return `${machineMark(self)}-${self.pid}-${self.processStart ?? 0}`;
}

function machineMark({ bootId, host, pidNamespace = '' }: Processes['self']): string {
  return crc32(`${bootId ?? host}\n${pidNamespace}`)
    .toString(16)
    .padStart(8, '0');
}

function isOrphaned(name: string, processes: Processes): boolean {
  const { self } = processes;
  const [, machine, pid, start] = TEMPORARY_NAME.exec(name) ?? [];
  if (machine !== machineMark(self) || pid === undefined) return false;
  const processStart = start === '0' ? undefined : start;
  return processes.liveness({ ...self, pid: Number(pid), processStart }) === 'dead';
}

/** Syncs a file to the disk. Does nothing if the file system does not support syncing. */
export async function syncFile(file: FileHandle): Promise<void> {
  await ifSupported(file.sync());
}

/** Awaits a file operation. Ignores the error if the file system does not support the operation. */
export async function ifSupported(attempt: Promise<void>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!hasErrno(error, ...UNSUPPORTED)) throw error;
  }
}

/**
 * Syncs a folder, so that files renamed or created in it survive a power failure. Throws only disk errors, because
 * some systems cannot sync folders.
 */
export async function syncFolder(files: FileSystem, folder: string): Promise<void> {
  try {
    const handle = await files.open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasErrno(error, 'EIO', 'ENOSPC', 'EDQUOT')) throw error;
  }
}

/** Removes a file that this process created. Ignores all errors. */
export async function removeQuietly(system: System, file: string): Promise<void> {
  await retryWhileBusy(system, () => system.files.unlink(file)).catch(() => undefined);
}

/** Retries an operation for up to ten seconds on Windows, where a virus scanner may have the file open. */
export async function retryWhileBusy<T>(
  { clock, platform }: System,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let turn = 0; ; turn += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy = platform === 'win32' && hasErrno(error, 'EPERM', 'EBUSY', 'EACCES');
      const waitMs = WAITS_MS[turn];
      if (!isBusy || waitMs === undefined) throw error;
      await clock.sleep(waitMs);
    }
  }
}

const WAITS_MS = [10, 20, 40, 80, 160, 320, 640, 1280, 2450, 2500, 2500];
