import { createHash } from 'node:crypto';
import type { FileSystem } from '../effects/file-system.ts';

/** SHA-256 of a file's content in hexadecimal. Throws the system's error. */
export async function digestOf(file: string, files: FileSystem): Promise<string> {
  const hash = createHash('sha256');
  const handle = await files.open(file, 'r');
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

const READ_BYTES = 1 << 20;
