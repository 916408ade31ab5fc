import type { FileHandle } from 'node:fs/promises';

/** What is needed of an open file. */
export type WritableFile = Pick<FileHandle, 'writev'>;

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
