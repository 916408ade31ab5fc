/** A page of an Ogg stream with one logical stream in it (RFC 3533). */
export interface OggPage {
  readonly serialNumber: number;
  /** From 0, in the stream. */
  readonly number: number;
  /** Samples that are decodable when the page is through. */
  readonly granulePosition: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Whole packets; the lengths of all may take 255 bytes at most. */
  readonly packets: readonly Uint8Array[];
}

const HEADER_LENGTH = 27;
const LONGEST_LACING = 255;
const FIRST_PAGE = 0x02;
const LAST_PAGE = 0x04;
const CHECKSUM_AT = 22;
const POLYNOMIAL = 0x04c1_1db7;

/** The bytes of a page. @throws RangeError when there are too many packets for one */
export function oggPage(page: OggPage): Uint8Array<ArrayBuffer> {
  const lacing = page.packets.flatMap((packet) => laced(packet.length));
  if (lacing.length > LONGEST_LACING) throw new RangeError('too many packets for an Ogg page');
  const head = Buffer.alloc(HEADER_LENGTH);
  head.write('OggS', 0, 'latin1');
  head.writeUInt8((page.isFirst ? FIRST_PAGE : 0) | (page.isLast ? LAST_PAGE : 0), 5);
  head.writeBigUInt64LE(BigInt(page.granulePosition), 6);
  head.writeUInt32LE(page.serialNumber, 14);
  head.writeUInt32LE(page.number, 18);
  head.writeUInt8(lacing.length, 26);
  const bytes = Buffer.concat([head, Buffer.from(lacing), ...page.packets]);
  bytes.writeUInt32LE(checksum(bytes), CHECKSUM_AT);
  return bytes;
}

/** How many lacing values the length of a packet takes. */
export function lacingCount(length: number): number {
  return Math.floor(length / LONGEST_LACING) + 1;
}

function laced(length: number): readonly number[] {
  const full = Array.from({ length: lacingCount(length) - 1 }, () => LONGEST_LACING);
  return [...full, length % LONGEST_LACING];
}

/** CRC of 32 bits with the polynomial of the format, from 0 and not inverted. */
const TABLE = Uint32Array.from({ length: 256 }, (_none, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? POLYNOMIAL : 0);
  return value >>> 0;
});

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) ^ (TABLE[(sum >>> 24) ^ byte] ?? 0)) >>> 0;
  return sum;
}
