import * as fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

// Built on the callback functions of Node, because `node:fs/promises` takes longer to load, and its file handles take
// about a tenth of the processor time of a batch.

const close = promisify(fs.close);
const fchmod = promisify(fs.fchmod);
const fchown = promisify(fs.fchown);
const fstat = promisify(fs.fstat);
const fsync = promisify(fs.fsync);
const ftruncate = promisify(fs.ftruncate);
const futimes = promisify(fs.futimes);
const read = promisify(fs.read);
const write = promisify(fs.write);
const writev = promisify(fs.writev);
const openDescriptor = promisify(fs.open);
const makeDirectory = promisify(fs.mkdir);
const readNames = promisify(fs.readdir);

/** An open file. Methods throw the system error, and EBADF after `close`. */
export class FileHandle {
  #fd: number;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: () => void = () => undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The file descriptor; -1 after `close`. */
  get fd(): number {
    return this.#fd;
  }

  stat(): Promise<fs.Stats> {
    return this.#run((fd) => fstat(fd));
  }

  /** Reads at `position`; without one, after the last byte read or written. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null = null,
  ): Promise<{ readonly bytesRead: number }> {
    return this.#run((fd) => read(fd, buffer, offset, length, position));
  }

  /** Writes at `position`; without one, after the last byte read or written. May write fewer bytes. */
  write(
    bytes: Uint8Array,
    offset = 0,
    length = bytes.length - offset,
    position: number | null = null,
  ): Promise<{ readonly bytesWritten: number }> {
    return this.#run((fd) => write(fd, bytes, offset, length, position));
  }

  /** Writes several buffers with one system call. May write fewer bytes. */
  writev(buffers: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }> {
    return this.#run((fd) => writev(fd, [...buffers]));
  }

  sync(): Promise<void> {
    return this.#run((fd) => fsync(fd));
  }

  truncate(bytes: number): Promise<void> {
    return this.#run((fd) => ftruncate(fd, bytes));
  }

  chmod(mode: number): Promise<void> {
    return this.#run((fd) => fchmod(fd, mode));
  }

  chown(uid: number, gid: number): Promise<void> {
    return this.#run((fd) => fchown(fd, uid, gid));
  }

  utimes(accessed: Date, modified: Date): Promise<void> {
    return this.#run((fd) => futimes(fd, accessed, modified));
  }

  /**
   * Returns a stream of the rest of the file.
   * @param autoClose whether the end or the destruction of the stream closes the file; default true
   * @param highWaterMark most bytes of a chunk; default 64 KiB
   * @param start where to begin; default: after the last byte read or written
   */
  createReadStream({
    autoClose = true,
    highWaterMark = 1 << 16,
    start,
  }: {
    readonly autoClose?: boolean;
    readonly highWaterMark?: number;
    readonly start?: number;
  } = {}): Readable {
    let position = start;
    const push = async (bytes: number): Promise<void> => {
      const buffer = Buffer.allocUnsafe(bytes);
      const { bytesRead } = await this.read(buffer, 0, bytes, position);
      if (position !== undefined) position += bytesRead;
      const part = buffer.subarray(0, bytesRead);
      // The small part that a pipe gives must not keep the whole buffer.
      const chunk = bytesRead < bytes / 2 ? copyOf(part) : part;
      stream.push(bytesRead === 0 ? null : chunk);
    };
    const end = async (done: () => void): Promise<void> => {
      // A read from a pipe may never end.
      const isReading = this.#running > 0;
      const closed = autoClose ? this.close().catch(() => undefined) : undefined;
      if (!isReading) await closed;
      done();
    };
    const stream = new Readable({
      highWaterMark,
      read: (bytes) => void push(bytes).catch((error: Error) => stream.destroy(error)),
      destroy: (error, done) => void end(() => done(error)),
    });
    return stream;
  }

  /** Closes the file when its running operations have ended. Repeated calls do nothing. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    // The system may give the number to another file, which a waiting operation would then change.
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await close(fd);
  }

  async #run<T>(operation: (fd: number) => Promise<T>): Promise<T> {
    if (this.#fd === -1) throw Object.assign(new Error('the file is closed'), { code: 'EBADF' });
    this.#running += 1;
    try {
      return await operation(this.#fd);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle();
    }
  }
}

// Outside of the pool from which Node takes small buffers, which has 64 KiB in Node 24.
function copyOf(part: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(part.length);
  part.copy(copy);
  return copy;
}

/** The file system functions that foley uses. They are injected, so that tests can make each one fail. */
export const systemFiles = {
  access: promisify(fs.access),
  link: promisify(fs.link),
  lstat: promisify(fs.lstat),
  mkdir: makeFolder,
  open: async (file: string, flags: number | string = 'r', mode?: number): Promise<FileHandle> =>
    new FileHandle(await openDescriptor(file, flags, mode)),
  readFile: promisify(fs.readFile),
  readdir: (
    folder: string,
    { recursive = false }: { readonly recursive?: boolean } = {},
  ): Promise<string[]> => readNames(folder, { recursive, encoding: 'utf8' }),
  // The function without `native` calls lstat for each folder of the path.
  realpath: promisify(fs.realpath.native),
  rename: promisify(fs.rename),
  rm: promisify(fs.rm),
  rmdir: promisify(fs.rmdir),
  stat: promisify(fs.stat),
  statfs: promisify(fs.statfs),
  unlink: promisify(fs.unlink),
  /** Id of the user who owns new files; undefined on Windows. */
  userId: process.geteuid?.(),
};

export type FileSystem = Readonly<typeof systemFiles>;

interface FolderOptions {
  readonly recursive?: boolean;
  readonly mode?: number;
}

/**
 * Creates a folder. With `recursive`, creates missing parent folders too, and accepts an existing folder: Node's own
 * function never returns for a folder below /proc.
 */
async function makeFolder(folder: string, options: FolderOptions = {}): Promise<void> {
  try {
    await makeOne(folder, options);
  } catch (error) {
    const parent = path.dirname(folder);
    if (options.recursive !== true || !isMissing(error) || parent === folder) throw error;
    await makeFolder(parent, options);
    await makeOne(folder, options);
  }
}

async function makeOne(folder: string, { mode, recursive }: FolderOptions): Promise<void> {
  try {
    await makeDirectory(folder, { mode });
  } catch (error) {
    // Another process may have created the folder.
    if (recursive !== true || !(await isFolder(folder))) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function isFolder(name: string): Promise<boolean> {
  return systemFiles.stat(name).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
