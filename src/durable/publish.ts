import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { dirname, sep } from 'node:path';
import { abortable } from '../system/concurrency.ts';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { ChecksumKind, Checksum } from './checksum.ts';
import { checksumOf, createChecksum } from './checksum.ts';
import { isWindowsNullDevice, numbered, windowsNameProblem } from './names.ts';
import {
  existsFailure,
  UNSUPPORTED,
  hasErrno,
  outputFailure,
  folderFailure,
  unwritable,
  UnsafeFile,
} from './file-failures.ts';
import type { System } from '../system/system.ts';
import {
  ifSupported,
  removeQuietly,
  syncFile,
  syncFolder,
  FileWriter,
  createTemporary,
  retryWhileBusy,
} from './files.ts';
import type { Existing, Output, Published, Released } from './output.ts';

export interface OutputOptions {
  /** The path as the user wrote it. */
  readonly path: string;
  /** What to do if the output file exists; default `replace`. */
  readonly existing?: Existing | undefined;
  /**
   * File permissions before the umask is applied. Default: those of the replaced file; 0o666 if no file is replaced.
   */
  readonly mode?: number | undefined;
  /** Folder for the temporary file, which must be on the same disk as the output; default: the folder of the output. */
  readonly temporaryFolder?: string | undefined;
  /** Whether the caller syncs the output folder itself, for example once for many files. */
  readonly isFolderSyncedLater?: boolean | undefined;
  /** The flag that sets the output, for hints in messages; default `--output`. */
  readonly flag?: string | undefined;
  /** The kind of checksum to compute; default CRC-32. */
  readonly checksum?: ChecksumKind | undefined;
  /** If the output is a named pipe, cancels the wait for a process that opens the pipe for reading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens an output before anything is billed. Creates the temporary file at once, which proves that the folder is
 * writable. Writes to a pipe or a device directly.
 * @throws Failure: `usage` for a folder, `output` if the file cannot be written, `exists` if it must not be replaced
 */
export async function openOutput(system: System, options: OutputOptions): Promise<Output> {
  const { files, platform } = system;
  const { path, existing = 'replace' } = options;
  const naming = { ...options, existing, asked: path, replaced: undefined };
  if (existing === 'number' || existing === 'reuse') {
    return openPublishedOutput(system, { ...naming, path: await firstFree(path, files) });
  }
  if (platform === 'win32') {
    if (isWindowsNullDevice(path)) return openDirectOutput(NULL_DEVICE, files, options.signal);
    const problem = windowsNameProblem(path);
    if (problem !== undefined) {
      throw usageFailure(
        `the output ${display(path)} ${problem}, which Windows does not allow`,
        'Choose another name, or use NUL to discard the output.',
      );
    }
  }
  const target = await findTarget(path, files);
  if (target === 'direct') return openDirectOutput(path, files, options.signal);
  if (target === 'new') return openPublishedOutput(system, naming);
  if (existing === 'refuse') throw existsFailure(path);
  return openPublishedOutput(system, { ...naming, replaced: target });
}

// Node would resolve the path `nul` to a file with this name in the current folder.
const NULL_DEVICE = '\\\\.\\nul';

async function firstFree(path: string, files: FileSystem): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = numbered(path, number);
    if (!(await isTaken(candidate, files))) return candidate;
  }
}

interface PublishedOutputOptions extends OutputOptions, Naming {
  readonly existing: Existing;
  readonly replaced: ReplacedFile | undefined;
}

interface ReplacedFile {
  readonly file: string;
  readonly stats: Stats;
}

/** Opens an output whose bytes go to a temporary file, which `publish` renames to the final name. */
export async function openPublishedOutput(
  system: System,
  options: PublishedOutputOptions,
): Promise<Output> {
  const { replaced } = options;
  const folder = dirname(replaced?.file ?? options.path);
  // The temporary file must not be readable by users who cannot read the replaced file.
  const mode = options.mode ?? (replaced === undefined ? undefined : replaced.stats.mode & 0o777);
  try {
    const temporary = await createTemporary(system, options.temporaryFolder ?? folder, mode);
    return new PublishedOutput(system, options, folder, temporary);
  } catch (error) {
    throw outputFailure(options.path, error, 'opening', options.flag);
  }
}

const SYNC_EVERY_BYTES = 64 * 1024 * 1024;

class PublishedOutput implements Output {
  path: string;
  readonly temporary: string;
  readonly #system: System;
  readonly #options: PublishedOutputOptions;
  readonly #folder: string;
  readonly #file: FileHandle;
  readonly #writer: FileWriter;
  readonly #checksum: Checksum;
  // Overwritten bytes make the running checksum invalid.
  #isPatched = false;
  #isOpen = true;
  #finished: Promise<void> | undefined;
  // Stays rejected after a failed sync.
  #syncing: Promise<void> | undefined;
  #syncedBytes = 0;
  // False once the temporary file is renamed, removed or released.
  #isOurs = true;

  constructor(
    system: System,
    options: PublishedOutputOptions,
    folder: string,
    temporary: { readonly path: string; readonly file: FileHandle },
  ) {
    this.#system = system;
    this.#options = options;
    this.#checksum = createChecksum(options.checksum ?? 'crc32');
    this.#folder = folder;
    this.#file = temporary.file;
    this.#writer = new FileWriter(temporary.file);
    this.path = options.path;
    this.temporary = temporary.path;
  }

  get bytes(): number {
    return this.#writer.bytes;
  }

  write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    const written = this.#writer.write(chunk, onWritten);
    // Computing the checksum takes no extra time here, because the system is writing.
    this.#checksum.update(chunk);
    const unsynced = this.#writer.written - this.#syncedBytes;
    if (unsynced >= SYNC_EVERY_BYTES && this.#syncing === undefined) {
      this.#syncing = this.#syncMeanwhile();
      this.#syncing.catch(() => undefined);
    }
    return written.catch((error: unknown) => this.#fail(error));
  }

  async overwrite(position: number, bytes: Uint8Array): Promise<void> {
    this.#isPatched = true;
    try {
      await this.#writer.flush();
      const { bytesWritten } = await this.#file.write(bytes, 0, bytes.length, position);
      if (bytesWritten < bytes.length) throw Object.assign(new Error('cut short'), { code: 'EIO' });
    } catch (error) {
      this.#fail(error);
    }
  }

  async checksum(): Promise<string> {
    try {
      await this.#writer.flush();
      // The file is complete, so it can be synced while the caller updates the journal. `publish` waits for the sync.
      this.#finish().catch(() => undefined);
      const { checksum = 'crc32' } = this.#options;
      return this.#isPatched
        ? await checksumOf(this.#file, checksum, this.#system.files)
        : this.#checksum.value();
    } catch (error) {
      return this.#fail(error);
    }
  }

  async publish(): Promise<Published> {
    try {
      await this.#finish();
      this.path = await commitRename(this.#system, this.temporary, this.#options);
      this.#isOurs = false;
      await this.#close();
      if (this.#options.isFolderSyncedLater !== true) {
        await syncFolder(this.#system.files, this.#folder);
      }
    } catch (error) {
      this.#fail(error);
    }
    return { path: this.path, bytes: this.bytes };
  }

  async release(): Promise<Released | undefined> {
    if (!this.#isOurs) return undefined;
    this.#isOurs = false;
    await this.#writer.flush().catch(() => undefined);
    await this.#syncing?.catch(() => undefined);
    const { written, unwritten } = this.#writer;
    return { path: this.temporary, file: this.#file, bytes: written, rest: unwritten };
  }

  async abandon(): Promise<void> {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    this.#writer.stop();
    await this.#writer.flush().catch(() => undefined);
    await this.#close().catch(() => undefined);
    await removeQuietly(this.#system, this.temporary);
  }

  // Syncs what is written so far while more arrives, so that `publish` does not wait for the disk to write a large file.
  // The system reports a failed write to one sync only; if to this one, `#sync` throws the error.
  async #syncMeanwhile(): Promise<void> {
    this.#syncedBytes = this.#writer.written;
    await syncFile(this.#file);
    this.#syncing = undefined;
  }

  #finish(): Promise<void> {
    return (this.#finished ??= this.#sync());
  }

  // Gives the file the owner and permissions of the file that it replaces.
  async #sync(): Promise<void> {
    const { replaced, mode } = this.#options;
    await this.#writer.flush();
    await this.#syncing;
    if (replaced !== undefined) {
      const { gid, mode: permissions, uid } = replaced.stats;
      const own = await this.#file.stat();
      const isForeign = own.uid !== uid || own.gid !== gid;
      if (isForeign) await ifSupported(this.#file.chown(uid, gid));
      // After changing the owner, because that may remove permissions.
      if (mode === undefined && (isForeign || own.mode !== permissions)) {
        await ifSupported(this.#file.chmod(permissions & 0o777));
      }
    }
    await syncFile(this.#file);
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#syncing?.catch(() => undefined);
    await this.#file.close();
  }

  #fail(error: unknown): never {
    throw outputFailure(this.path, error, 'writing', this.#options.flag);
  }
}

async function openDirectOutput(
  path: string,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<Output> {
  const failed = (error: unknown): never => {
    throw outputFailure(path, error, 'writing');
  };
  // Append and never truncate or create: /dev/stdout may be a file that already has content.
  const flags = constants.O_WRONLY | constants.O_APPEND;
  const opening = files.open(path, flags).catch((error: unknown) => {
    throw outputFailure(path, error, 'opening');
  });
  const file = await abortable(opening, signal, (late) => void late.close());
  const writer = new FileWriter(file);
  let isOpen = true;

  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await file.close();
  }

  async function stop(): Promise<undefined> {
    writer.stop();
    // Do not wait, because a write to a pipe without a reader never ends.
    void close().catch(() => undefined);
  }

  return {
    path,
    temporary: undefined,
    get bytes() {
      return writer.bytes;
    },
    write: (chunk, onWritten) => writer.write(chunk, onWritten).catch(failed),
    async overwrite() {},
    checksum: async () => undefined,
    async publish() {
      await writer.flush().then(close).catch(failed);
      return { path, bytes: writer.bytes };
    },
    abandon: stop,
    release: stop,
  };
}

// `direct` means a pipe, a device or a standard stream of this process.
async function findTarget(
  output: string,
  files: FileSystem,
): Promise<'direct' | 'new' | ReplacedFile> {
  if (output === '')
    throw usageFailure(
      'the output file has no name',
      'Name a file with --output, or use --output - for stdout.',
    );
  if (output.includes('\0')) throw usageFailure('the name of the output contains a NUL character');
  if (OWN_STREAM.test(output)) return 'direct';
  const stats = await ifFound(output, files.stat(output));
  if (stats === undefined) {
    if (output.endsWith('/') || output.endsWith(sep)) throw folderFailure(output);
    if (!(await isTaken(output, files))) return 'new';
    throw unwritable(output, 'it is a symbolic link to a file that does not exist', {
      hint: 'Remove the symbolic link, or choose another name with --output.',
    });
  }
  if (stats.isDirectory()) throw folderFailure(output);
  if (!stats.isFile()) return 'direct';
  try {
    const [file] = await Promise.all([
      files.realpath(output),
      files.access(output, constants.W_OK),
    ]);
    return { file, stats };
  } catch (error) {
    throw hasErrno(error, 'EACCES', 'EPERM')
      ? unwritable(output, 'it is write-protected', {
          hint: 'Make the file writable (chmod u+w), or choose another name with --output.',
          cause: error,
        })
      : outputFailure(output, error, 'opening');
  }
}

async function isTaken(file: string, files: FileSystem): Promise<boolean> {
  return (await ifFound(file, files.lstat(file))) !== undefined;
}

// Standard streams and other open files of this process, which must never be replaced.
const OWN_STREAM = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

async function ifFound(file: string, stats: Promise<Stats>): Promise<Stats | undefined> {
  return stats.catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw outputFailure(file, error, 'opening');
  });
}

interface Naming {
  readonly path: string;
  // The path to which a number is added if a file with that name exists.
  readonly asked: string;
  readonly existing: Existing;
  readonly replaced: { readonly file: string } | undefined;
}

/**
 * Renames a complete temporary file to its final name, atomically, and returns this name. Handles an existing file as
 * `existing` says, even if another process creates that file in the meantime.
 */
export async function commitRename(
  system: System,
  temporary: string,
  naming: Naming,
): Promise<string> {
  if (naming.existing === 'replace') {
    const target = naming.replaced?.file ?? naming.path;
    await retryWhileBusy(system, () => system.files.rename(temporary, target));
    return naming.path;
  }
  for (let number = 1; ; number += 1) {
    const candidate = naming.existing === 'refuse' ? naming.path : numbered(naming.asked, number);
    if (await moveUnlessTaken(system, temporary, candidate)) return candidate;
    if (naming.existing === 'refuse') throw existsFailure(candidate);
    if (naming.existing === 'reuse' && (await hasSameBytes(temporary, candidate, system.files))) {
      await removeQuietly(system, temporary);
      return candidate;
    }
  }
}

async function hasSameBytes(file: string, other: string, files: FileSystem): Promise<boolean> {
  try {
    const [{ size }, stats] = await Promise.all([files.lstat(file), files.lstat(other)]);
    if (!stats.isFile() || stats.size !== size) return false;
    const wanted = await checksumOf(file, 'sha256', files);
    return (await checksumOf(other, 'sha256', files)) === wanted;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}

// Returns false if `name` exists. Uses a link, because a rename could replace a file.
async function moveUnlessTaken(system: System, temporary: string, name: string): Promise<boolean> {
  try {
    await retryWhileBusy(system, () => system.files.link(temporary, name));
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, 'EACCES', ...UNSUPPORTED)) throw error;
    // The file system has no links, so another process could create the file before the rename. An empty file to
    // reserve the name would be worse, because it would remain if this process is killed.
    if (await isTaken(name, system.files)) return false;
    await retryWhileBusy(system, () => system.files.rename(temporary, name));
    return true;
  }
  await removeQuietly(system, temporary);
  return true;
}

/**
 * Replaces a small file atomically: readers get either the old or the new content.
 * @throws Failure like {@link openOutput} if the file cannot be opened or written
 */
export async function replaceFile(
  system: System,
  options: OutputOptions & { readonly data: Uint8Array },
): Promise<void> {
  // Writing to a pipe would wait for its reader.
  const stats = await ifFound(options.path, system.files.stat(options.path));
  if (stats?.isFile() === false) throw new UnsafeFile('it is not a regular file');
  const output = await openOutput(system, options);
  try {
    await output.write(options.data);
    await output.publish();
  } catch (error) {
    await output.abandon();
    throw error;
  }
}
