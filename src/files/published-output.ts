import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Checksum, ChecksumKind } from './checksum.ts';
import { checksumOf, createChecksum } from './checksum.ts';
import { removeQuietly } from './debris.ts';
import { syncFile, syncFolder } from './durability.ts';
import { UNSUPPORTED, hasErrno } from './errno.ts';
import type { FileDeps } from './file-deps.ts';
import { FileWriter } from './file-writer.ts';
import { outputFailure } from './output-failures.ts';
import { giveName } from './give-name.ts';
import type { Existing, Output, Published, Released } from './output.ts';
import { createTemporary } from './temporary.ts';

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
  const folder = path.dirname(replaced?.file ?? options.path);
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
      this.path = await giveName(this.temporary, this.#options);
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
