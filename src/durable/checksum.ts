import type { Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { FileHandle, FileSystem } from '../system/file-system.ts';

/**
 * Kinds of checksums. CRC-32 is fast, and SHA-256 identifies content. MD5 is used only if the publisher of a file gives
 * no other checksum.
 */
export type ChecksumKind = 'crc32' | 'md5' | 'sha256';

/** A checksum that is computed while the data arrives. */
export interface Checksum {
  update(chunk: Uint8Array): void;
  /** Returns the checksum of the data so far in hexadecimal: 8 digits for CRC-32, 32 for MD5, 64 for SHA-256. */
  value(): string;
}

export function createChecksum(kind: ChecksumKind): Checksum {
  if (kind === 'crc32') {
    let sum = 0;
    return {
      update: (chunk) => void (sum = crc32(chunk, sum)),
      value: () => sum.toString(16).padStart(CRC32_DIGITS, '0'),
    };
  }
  const hash = createHash(kind);
  return {
    update: (chunk) => void hash.update(chunk),
    value: () => hash.copy().digest('hex'),
  };
}

/** Returns the kind of a hexadecimal checksum from its length. */
export function kindOf(checksum: string): ChecksumKind {
  if (checksum.length === CRC32_DIGITS) return 'crc32';
  return checksum.length === MD5_DIGITS ? 'md5' : 'sha256';
}

/**
 * Returns the checksum of a file's content.
 * @param file the path of the file, or the open file, which stays open
 * @throws the system error
 */
export async function checksumOf(
  file: FileHandle | string,
  kind: ChecksumKind,
  files: FileSystem,
): Promise<string> {
  const checksum = createChecksum(kind);
  const handle = typeof file === 'string' ? await files.open(file, 'r') : file;
  try {
    const buffer = Buffer.alloc(READ_BYTES);
    for (let position = 0; ;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) return checksum.value();
      checksum.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
  } finally {
    if (handle !== file) await handle.close();
  }
}

const CRC32_DIGITS = 8;
const MD5_DIGITS = 32;
const READ_BYTES = 1 << 20;

function createHash(kind: 'md5' | 'sha256'): Hash {
  // Loaded on first use, because loading takes two milliseconds.
  return process.getBuiltinModule('node:crypto').createHash(kind);
}

/** Returns the SHA-256 of bytes or of a UTF-8 text, in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', data);
}
