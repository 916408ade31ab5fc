import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Random } from '../../effects/random.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';

/** A file without a name: whatever ends this process, nothing is left of it. */
export interface TemporaryFile {
  /** For whoever reads it in this process, at positions of their own. */
  readonly fd: number;
  /** How many bytes it has. */
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Gives its space back. Never throws. */
  discard(): Promise<void>;
}

/** Where what is uploaded is put while it is looked at. */
export interface TemporaryFolder {
  /** @throws the system's error */
  create(): Promise<TemporaryFile>;
}

interface TemporaryFolderDeps {
  readonly files: FileSystem;
  readonly random: Random;
}

/** @param databasePath uploads go beside the database, where there is room and nobody else can look */
export function createTemporaryFolder(
  databasePath: string,
  { files, random }: TemporaryFolderDeps,
): TemporaryFolder {
  const folder = join(dirname(databasePath), 'uploads');
  return {
    async create() {
      await ensurePrivateFolder(folder, files);
      const path = join(folder, random.uuid());
      const handle = await files.open(path, 'wx+', 0o600);
      try {
        await files.unlink(path);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return temporaryFile(handle);
    },
  };
}

function temporaryFile(handle: FileHandle): TemporaryFile {
  let size = 0;
  let isClosed = false;
  return {
    fd: handle.fd,
    get size() {
      return size;
    },
    async write(bytes) {
      for (let written = 0; written < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, size);
        written += bytesWritten;
        size += bytesWritten;
      }
    },
    async discard() {
      if (isClosed) return;
      isClosed = true;
      await handle.close().catch(() => undefined);
    },
  };
}
