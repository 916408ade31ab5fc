import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import type { Random } from '../effects/random.ts';
import { hasErrno, UNSUPPORTED } from './file-failures.ts';

/** What everything in this room takes from outside. */
export interface FileDeps {
  readonly files: FileSystem;
  readonly random: Random;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
  /** With them temporary files name their owner, so that those of killed commands can be removed. */
  readonly processes?: Processes | undefined;
}

/** `count` random bytes in hexadecimal, for names that nobody can guess or have taken. */
export function randomHex(deps: Pick<FileDeps, 'random'>, count: number): string {
  return Buffer.from(deps.random.bytes(count)).toString('hex');
}

/** What is needed of an open file. */
type WritableFile = Pick<FileHandle, 'writev'>;

/**
 * Writes to an open file behind the caller's back: chunks that come while a write is under way leave
 * together in the next one, so that many small chunks cost few calls and the network is read while
 * the disk is written. Holds at most about 2 MiB. A write that the system cuts short is gone on with:
 * a disk that fills up says so only at the second try.
 */
export class FileWriter {
  /** Bytes taken, and bytes that the system has taken in turn. */
  bytes = 0;
  written = 0;
  readonly #file: WritableFile;
  #waiting: Piece[] = [];
  #waitingBytes = 0;
  /** What is being written, as far as the system has not taken it. */
  #left: readonly Piece[] = [];
  #underWay: Promise<void> | undefined;
  #fault: { readonly error: unknown } | undefined;

  constructor(file: WritableFile) {
    this.#file = file;
  }

  /** What was taken and not written; after a fault, what is missing in the file. */
  get unwritten(): readonly Uint8Array[] {
    return [...this.#left, ...this.#waiting].map(({ bytes }) => bytes);
  }

  /**
   * Takes a chunk, which must not be changed until `onWritten`; resolves when there is room for more.
   * Throws the system's error of an earlier write, and again on every call after it; the chunk counts as
   * taken even then, and is in `unwritten`.
   * @param onWritten the system has all of the chunk; not called for one that is never written whole
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

  /** Resolves when everything has been written; throws the system's error when it cannot be. */
  async flush(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
    this.#throwFault();
  }

  /** Forgets what waits; what is under way goes on. */
  stop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Writes what waits, and then what has come meanwhile. Never rejects; see `#fault`. */
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

/** Writes all of `bytes` where the file stands, however often the system stops short. */
export async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  const writer = new FileWriter(file);
  await writer.write(bytes);
  await writer.flush();
}

const ROOM_BYTES = 1_048_576;
const CHUNKS_AT_ONCE = 64;

interface Piece {
  readonly bytes: Uint8Array;
  readonly onWritten: (() => void) | undefined;
}

/** What remains of `pieces` when their first `count` bytes have been written. */
function afterWriting(pieces: readonly Piece[], count: number): readonly Piece[] {
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

/**
 * A new, empty file in `folder` under a name that nothing else has: short, so that a final name of
 * any allowed length fits beside it, random, so that nobody can have put something there, and with its
 * owner in it where that is known.
 */
export async function createTemporary(
  folder: string,
  deps: Pick<FileDeps, 'files' | 'processes' | 'random'>,
  mode = 0o666,
): Promise<{ readonly path: string; readonly file: FileHandle }> {
  const owner = deps.processes === undefined ? '' : `${ownerMark(deps.processes)}-`;
  for (let turn = 1; ; turn += 1) {
    const name = path.join(folder, `.foley-${owner}${randomHex(deps, 12)}.part`);
    try {
      return { path: name, file: await deps.files.open(name, 'wx', mode) };
    } catch (error) {
      if (turn === 3 || !hasErrno(error, 'EEXIST')) throw error;
    }
  }
}

/** Whether a file name is one that {@link createTemporary} makes. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/**
 * The temporary files in a folder whose owner is certainly dead; those of another machine or container are
 * not. Never throws.
 */
export async function orphanedTemporaries(
  folder: string,
  { files, processes }: { readonly files: FileSystem; readonly processes: Processes },
): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((): string[] => []);
  return names.filter((name) => isOrphaned(name, processes)).map((name) => path.join(folder, name));
}

const TEMPORARY_NAME = /^\.foley-(?:([0-9a-f]{8})-(\d+)-(\d+)-)?[0-9a-f]{24}\.part$/;

/** The machine since its last start, the process, and when that began. */
function ownerMark({ self }: Processes): string {
  return `${machineMark(self)}-${self.pid}-${self.processStart ?? 0}`;
}

function machineMark({ bootId = '', host, pidNamespace = '' }: Processes['self']): string {
  return crc32(`${host}\n${bootId}\n${pidNamespace}`).toString(16).padStart(8, '0');
}

function isOrphaned(name: string, processes: Processes): boolean {
  const { self } = processes;
  const [, machine, pid, start] = TEMPORARY_NAME.exec(name) ?? [];
  if (machine !== machineMark(self) || pid === undefined) return false;
  const processStart = start === '0' ? undefined : start;
  return processes.liveness({ ...self, pid: Number(pid), processStart }) === 'dead';
}

/** Brings a file's bytes to the disk. Where a file system cannot be told to, there is nothing to do. */
export async function syncFile(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!hasErrno(error, ...UNSUPPORTED)) throw error;
  }
}

/**
 * Brings a folder's names to the disk, so that a file which was renamed or made there survives a
 * power cut. Only a disk that fails is an error: some systems do not open or sync folders at all.
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

/**
 * Removes a file that this process made, as far as it can: the fault that led here has been told, and
 * what goes wrong while tidying up adds nothing to it.
 */
export async function removeQuietly(file: string, deps: FileDeps): Promise<void> {
  await whileBusy(deps, () => deps.files.unlink(file)).catch(() => undefined);
}

/**
 * Tries a rename or a removal again for up to ten seconds on Windows, where another program (a virus
 * scanner, most often) may have the file open for a moment. Elsewhere such an error is final.
 */
export async function whileBusy<T>(deps: FileDeps, attempt: () => Promise<T>): Promise<T> {
  for (let turn = 0; ; turn += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy = deps.platform === 'win32' && hasErrno(error, 'EPERM', 'EBUSY', 'EACCES');
      const waitMs = WAITS_MS[turn];
      if (!isBusy || waitMs === undefined) throw error;
      await deps.clock.sleep(waitMs);
    }
  }
}

/** Doubling, then steady; ten seconds in all. */
const WAITS_MS = [10, 20, 40, 80, 160, 320, 640, 1280, 2450, 2500, 2500];
