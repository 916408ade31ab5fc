import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { abortable } from '../effects/concurrency.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import type { ChecksumKind, Checksum } from './checksum.ts';
import { checksumOf, createChecksum } from './checksum.ts';
import { numbered } from './names.ts';
import {
  existsFailure,
  UNSUPPORTED,
  hasErrno,
  outputFailure,
  folderFailure,
  unwritable,
} from './file-failures.ts';
import type { FileDeps } from './files.ts';
import {
  removeQuietly,
  syncFile,
  syncFolder,
  FileWriter,
  createTemporary,
  whileBusy,
} from './files.ts';
import type { Existing, Output, Published, Released } from './output.ts';

export interface OutputOptions extends FileDeps {
  /** As the person wrote it. */
  readonly path: string;
  /** Default `replace`. */
  readonly existing?: Existing | undefined;
  /**
   * Permissions of the file, before the umask. Without it a file that is replaced keeps its own, and
   * a new one gets 0o666.
   */
  readonly mode?: number | undefined;
  /** Where it grows, on the same disk; by default beside its final name. */
  readonly temporaryFolder?: string | undefined;
  /** The caller brings the folder to the disk, once for many files. */
  readonly isFolderSyncedLater?: boolean | undefined;
  /** With which the person names another place, for hints; `--output` by default. */
  readonly flag?: string | undefined;
  /** By what the file is told again; CRC-32 by default. */
  readonly checksum?: ChecksumKind | undefined;
  /** Ends the wait for a reader of a pipe; a file is opened at once, and is the caller's to abandon. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens an output before anything is billed: its folder is there and can be written in, because the
 * temporary file already is in it. The older file stays as it is until `publish`. A pipe or a device
 * is written directly. Throws a {@link Failure}: 2 for a folder, 30 for what cannot be written, 31
 * for a taken name that must stay.
 */
export async function openOutput(options: OutputOptions): Promise<Output> {
  const { path, files, existing = 'replace' } = options;
  const base = { ...options, existing, asked: path, replaced: undefined };
  if (existing === 'number' || existing === 'reuse') {
    return openPublishedOutput({ ...base, path: await firstFree(path, options) });
  }
  const target = await resolveTarget(path, files);
  if (target.kind === 'direct') return openDirectOutput(path, files, options.signal);
  if (target.kind === 'new') return openPublishedOutput(base);
  if (existing === 'refuse') throw existsFailure(path);
  return openPublishedOutput({ ...base, replaced: target });
}

async function firstFree(path: string, { files }: FileDeps): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = numbered(path, number);
    if (!(await isTaken(candidate, files))) return candidate;
  }
}

export interface PublishedOutputOptions extends FileDeps {
  /** The name to begin with. */
  readonly path: string;
  /** The name without a number, from which numbered ones are made. */
  readonly asked: string;
  readonly existing: Existing;
  readonly mode?: number | undefined;
  /** Where it grows, when not beside its final name. */
  readonly temporaryFolder?: string | undefined;
  readonly isFolderSyncedLater?: boolean | undefined;
  readonly flag?: string | undefined;
  /** CRC-32 by default. */
  readonly checksum?: ChecksumKind | undefined;
  /** The regular file that will be replaced, where it really is. */
  readonly replaced: { readonly file: string; readonly stats: Stats } | undefined;
}

/** An output that grows in a temporary file beside its final name. */
export async function openPublishedOutput(options: PublishedOutputOptions): Promise<Output> {
  const { replaced } = options;
  const folder = dirname(replaced?.file ?? options.path);
  // Never more open than the file that it will replace, not even while it grows.
  const mode = options.mode ?? (replaced === undefined ? undefined : replaced.stats.mode & 0o777);
  try {
    const temporary = await createTemporary(options.temporaryFolder ?? folder, options, mode);
    return new PublishedOutput(options, folder, temporary);
  } catch (error) {
    throw outputFailure(options.path, error, 'opening', options.flag);
  }
}

class PublishedOutput implements Output {
  path: string;
  readonly temporary: string;
  readonly #options: PublishedOutputOptions;
  readonly #folder: string;
  readonly #file: FileHandle;
  readonly #writer: FileWriter;
  readonly #kind: ChecksumKind;
  readonly #checksum: Checksum;
  /** Something was written over, so that the file is not what was summed up as it came. */
  #isPatched = false;
  #isOpen = true;
  #finished: Promise<void> | undefined;
  /** Whether the temporary file is still ours to remove. */
  #isOurs = true;

  constructor(
    options: PublishedOutputOptions,
    folder: string,
    temporary: { readonly path: string; readonly file: FileHandle },
  ) {
    this.#options = options;
    this.#kind = options.checksum ?? 'crc32';
    this.#checksum = createChecksum(this.#kind);
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
    // The system writes it meanwhile.
    this.#checksum.update(chunk);
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
      // Nothing is written after this: the disk can begin while others take note. Publishing waits for it.
      this.#finish().catch(() => undefined);
      return this.#isPatched
        ? await checksumOf(this.temporary, this.#kind, this.#options.files)
        : this.#checksum.value();
    } catch (error) {
      return this.#fail(error);
    }
  }

  async publish(): Promise<Published> {
    try {
      await this.#finish();
      this.path = await commitRename(this.temporary, this.#options);
      this.#isOurs = false;
      if (this.#options.isFolderSyncedLater !== true) {
        await syncFolder(this.#options.files, this.#folder);
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
    await this.#close().catch(() => undefined);
    const { written, unwritten } = this.#writer;
    return { path: this.temporary, bytes: written, rest: unwritten };
  }

  async abandon(): Promise<void> {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    this.#writer.stop();
    await this.#writer.flush().catch(() => undefined);
    await this.#close().catch(() => undefined);
    await removeQuietly(this.temporary, this.#options);
  }

  /** Everything written, with the owner and permissions of the file it replaces, on the disk. */
  #finish(): Promise<void> {
    return (this.#finished ??= this.#bringToDisk());
  }

  async #bringToDisk(): Promise<void> {
    const { replaced, mode } = this.#options;
    await this.#writer.flush();
    if (replaced !== undefined) await keepOwner(this.#file, replaced.stats);
    if (replaced !== undefined && mode === undefined) await keepMode(this.#file, replaced.stats);
    await syncFile(this.#file);
    await this.#close();
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }

  #fail(error: unknown): never {
    throw outputFailure(this.path, error, 'writing', this.#options.flag);
  }
}

/** As far as our rights go: a file that belongs to somebody else stays theirs when root replaces it. */
async function keepOwner(file: FileHandle, like: Stats): Promise<void> {
  const { uid, gid } = await file.stat();
  if (uid !== like.uid || gid !== like.gid) await ifSupported(file.chown(like.uid, like.gid));
}

/** After the owner, since a change of owner may take permissions away. */
async function keepMode(file: FileHandle, like: Stats): Promise<void> {
  await ifSupported(file.chmod(like.mode & 0o777));
}

async function ifSupported(attempt: Promise<void>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!hasErrno(error, ...UNSUPPORTED)) throw error;
  }
}

/**
 * An output into a pipe, a device or a stream of this process. There is nothing to be put in its
 * place at the end, and nothing to be taken back.
 */
async function openDirectOutput(
  path: string,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<Output> {
  const failed = (error: unknown): never => {
    throw outputFailure(path, error, 'writing');
  };
  // Appending, and never creating: behind /dev/stdout there may be a file with something in it.
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
    async abandon() {
      // Not waited for: a write into a pipe that nobody reads would never end.
      writer.stop();
      void close().catch(() => undefined);
    },
    async release() {
      writer.stop();
      void close().catch(() => undefined);
      return undefined;
    },
  };
}

/** What an output path leads to. */
export type Target =
  | { readonly kind: 'new'; readonly file: string }
  /** A regular file; `file` is where it really is, behind symbolic links. */
  | { readonly kind: 'present'; readonly file: string; readonly stats: Stats }
  /** A pipe, a device, a stream of this process: to be written into, never replaced. */
  | { readonly kind: 'direct'; readonly file: string };

/**
 * Looks at where an output would go. Throws a usage failure for a folder or no name at all, exit 30
 * for a path that cannot be reached, a link that leads nowhere, or a file that may not be written.
 */
export async function resolveTarget(output: string, files: FileSystem): Promise<Target> {
  if (output === '')
    throw usageFailure('the output needs a name', 'Write to stdout with --output -.');
  if (output.includes('\0')) throw usageFailure('the name of the output has a NUL character in it');
  if (OWN_STREAM.test(output)) return { kind: 'direct', file: output };
  const stats = await statOf(output, files);
  if (stats === undefined) return newTarget(output, files);
  if (stats.isDirectory()) throw folderFailure(output);
  if (!stats.isFile()) return { kind: 'direct', file: output };
  try {
    await files.access(output, constants.W_OK);
    return { kind: 'present', file: await files.realpath(output), stats };
  } catch (error) {
    throw hasErrno(error, 'EACCES', 'EPERM')
      ? unwritable(output, 'it is write-protected', {
          hint: 'Make it writable (chmod u+w), or choose another name with --output.',
          cause: error,
        })
      : outputFailure(output, error, 'opening');
  }
}

/** Whether anything, a link that leads nowhere included, has this name. */
export async function isTaken(file: string, files: FileSystem): Promise<boolean> {
  try {
    await files.lstat(file);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw outputFailure(file, error, 'opening');
  }
}

/** Names of this process's own streams; they may be files, yet are not to be replaced. */
const OWN_STREAM = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

async function statOf(output: string, files: FileSystem): Promise<Stats | undefined> {
  try {
    return await files.stat(output);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw outputFailure(output, error, 'opening');
  }
}

async function newTarget(output: string, files: FileSystem): Promise<Target> {
  if (output.endsWith('/') || output.endsWith(sep)) throw folderFailure(output);
  if (await isTaken(output, files)) {
    throw unwritable(output, 'it is a symbolic link to a file that does not exist', {
      hint: 'Remove the link, or choose another name with --output.',
    });
  }
  return { kind: 'new', file: output };
}

export interface Naming extends FileDeps {
  readonly path: string;
  readonly asked: string;
  readonly existing: Existing;
  readonly replaced: { readonly file: string } | undefined;
}

/**
 * Gives a complete temporary file its final name, at once, and returns that name. Whoever else takes
 * the name in the last moment is replaced, or wins, as `existing` says.
 */
export async function commitRename(temporary: string, naming: Naming): Promise<string> {
  if (naming.existing === 'replace') {
    const target = naming.replaced?.file ?? naming.path;
    await whileBusy(naming, () => naming.files.rename(temporary, target));
    return naming.path;
  }
  for (let number = 1; ; number += 1) {
    const candidate = naming.existing === 'refuse' ? naming.path : numbered(naming.asked, number);
    if (await tookName(temporary, candidate, naming)) return candidate;
    if (naming.existing === 'refuse') throw existsFailure(candidate);
    if (naming.existing === 'reuse' && (await hasSameBytes(temporary, candidate, naming))) {
      await removeQuietly(temporary, naming);
      return candidate;
    }
  }
}

/** Whether a file, which may be anything, is a regular one with the same bytes. */
async function hasSameBytes(file: string, other: string, { files }: FileDeps): Promise<boolean> {
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

/** Gives the file a name unless that is taken: a link, unlike a rename, never replaces. */
async function tookName(temporary: string, name: string, deps: FileDeps): Promise<boolean> {
  try {
    await whileBusy(deps, () => deps.files.link(temporary, name));
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, 'EACCES', ...UNSUPPORTED)) throw error;
    // No links here. Between the look and the rename somebody could take the name; an empty file
    // put there first would be a worse risk: a file that is not whole, if we are killed now.
    if (await isTaken(name, deps.files)) return false;
    await whileBusy(deps, () => deps.files.rename(temporary, name));
    return true;
  }
  await removeQuietly(temporary, deps);
  return true;
}

export interface ReplaceOptions extends FileDeps {
  readonly path: string;
  readonly data: Uint8Array;
  /** Permissions of the file; 0o600 for what holds a secret. Without it those it had. */
  readonly mode?: number | undefined;
}

/**
 * Replaces a small file as a whole: whoever reads it meets the old one or the new one. Throws
 * {@link Failure}s as an output does, and leaves nothing behind.
 */
export async function replaceFile({ data, ...options }: ReplaceOptions): Promise<void> {
  const output = await openOutput(options);
  try {
    await output.write(data);
    await output.publish();
  } catch (error) {
    await output.abandon();
    throw error;
  }
}
