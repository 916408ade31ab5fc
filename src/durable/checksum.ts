import type { Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { FileSystem } from '../effects/file-system.ts';

/**
 * By what a file is known again. CRC-32 tells it from what an accident makes, and costs a short command
 * nothing; SHA-256 also tells it from any other file that ever was, for what is remembered for long.
 */
export type ChecksumKind = 'crc32' | 'sha256';

/** A checksum of what comes piece by piece. */
export interface Checksum {
  update(chunk: Uint8Array): void;
  /** Of all that came so far, in hexadecimal: 8 digits of a CRC-32, 64 of a SHA-256. */
  value(): string;
}

export function createChecksum(kind: ChecksumKind): Checksum {
  if (kind === 'crc32') return new Crc32();
  const hash = createSha256();
  return {
    update: (chunk) => void hash.update(chunk),
    value: () => hash.copy().digest('hex'),
  };
}

/** The kind of a checksum that was written down. */
export function kindOf(checksum: string): ChecksumKind {
  return checksum.length === CRC32_DIGITS ? 'crc32' : 'sha256';
}

/** The checksum of a file's content. Throws the system's error. */
export async function checksumOf(
  file: string,
  kind: ChecksumKind,
  files: FileSystem,
): Promise<string> {
  const checksum = createChecksum(kind);
  const handle = await files.open(file, 'r');
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return checksum.value();
      checksum.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

const CRC32_DIGITS = 8;
const READ_BYTES = 1 << 20;

class Crc32 implements Checksum {
  #sum = 0;

  update(chunk: Uint8Array): void {
    this.#sum = crc32(chunk, this.#sum);
  }

  value(): string {
    return this.#sum.toString(16).padStart(CRC32_DIGITS, '0');
  }
}

/**
 * A SHA-256 that is fed piece by piece. Its module is loaded with the first one and not with the program:
 * it costs a short command two milliseconds, which it can spend while something is being written.
 */
function createSha256(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256');
}

/** SHA-256 of the whole of something, in hexadecimal; texts count as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return createSha256().update(data).digest('hex');
}
