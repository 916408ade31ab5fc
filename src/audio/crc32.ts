let table: Uint32Array | undefined;

/** The checksum of PNG and gzip (polynomial 0xEDB88320), bit for bit as the formats describe it. */
function newTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      value = (value & 1) === 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
    }
    return value >>> 0;
  });
}

/** What a checksum begins with. */
export const CRC32_START = 0xff_ff_ff_ff;

/** Goes on with a checksum over `bytes[from..to)`. */
export function crc32Over(state: number, bytes: Uint8Array, from: number, to: number): number {
  const known = (table ??= newTable());
  let value = state;
  for (let index = from; index < to; index += 1) {
    value = (known[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0) ^ (value >>> 8);
  }
  return value >>> 0;
}

/** The checksum itself. */
export function crc32End(state: number): number {
  return (state ^ 0xff_ff_ff_ff) >>> 0;
}
