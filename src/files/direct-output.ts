import { constants } from 'node:fs';
import type { FileSystem } from '../effects/file-system.ts';
import { FileWriter } from './file-writer.ts';
import { outputFailure } from './output-failures.ts';
import type { Output } from './output.ts';

/**
 * An output into a pipe, a device or a stream of this process. There is nothing to be put in its
 * place at the end, and nothing to be taken back.
 */
export async function openDirectOutput(path: string, files: FileSystem): Promise<Output> {
  const failed = (error: unknown): never => {
    throw outputFailure(path, error, 'writing');
  };
  // Appending, and never creating: behind /dev/stdout there may be a file with something in it.
  const flags = constants.O_WRONLY | constants.O_APPEND;
  const file = await files.open(path, flags).catch((error: unknown) => {
    throw outputFailure(path, error, 'opening');
  });
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
