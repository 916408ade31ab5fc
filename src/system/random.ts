import { closeSync, openSync, readSync } from 'node:fs';

/** A source of random values. It is injected, so that tests are repeatable. */
export interface Random {
  uuid(): string;
  bytes(length: number): Uint8Array;
  /** Returns a number in [0, 1). */
  fraction(): number;
}

// Small, because most commands need only a few ids.
const FIRST_POOL_BYTES = 256;
const LATER_POOL_BYTES = 8_192;

/**
 * Creates a source of random values that reads a device such as `/dev/urandom`. Falls back to `node:crypto` if the
 * device cannot be read. The device is preferred because loading `node:crypto` takes two milliseconds.
 */
export function createSystemRandom(device: string): Random {
  let pool: Buffer = Buffer.alloc(0);
  let poolBytes = FIRST_POOL_BYTES;
  const take = (length: number): Buffer => {
    if (pool.length < length) {
      pool = readBytes(device, Math.max(length, poolBytes));
      poolBytes = LATER_POOL_BYTES;
    }
    const taken = pool.subarray(0, length);
    pool = pool.subarray(length);
    return taken;
  };
  return { uuid: () => uuidOf(take(16)), bytes: take, fraction: () => Math.random() };
}

export const systemRandom = createSystemRandom('/dev/urandom');

function readBytes(device: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  try {
    const file = openSync(device, 'r');
    try {
      let filled = 0;
      while (filled < length) {
        const count = readSync(file, bytes, filled, length - filled, null);
        if (count === 0) throw new Error(`${device} ends`);
        filled += count;
      }
    } finally {
      closeSync(file);
    }
  } catch {
    // The device is missing on Windows and in some chroot environments.
    return process.getBuiltinModule('node:crypto').randomBytes(length);
  }
  return bytes;
}

function uuidOf(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
