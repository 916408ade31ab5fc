import { oggChecksum } from '../ogg-checksum.ts';

/** One page of an Ogg file (RFC 3533, section 6) with all its bytes. */
export interface OggPage {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly serial: number;
  readonly granule: bigint;
  /** Lengths of its segments. */
  readonly table: Uint8Array;
  readonly body: Uint8Array;
  /** The flags as they are. */
  readonly flags: number;
}

export const OGG_HEAD_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
const LAST = 4;

/** How many bytes of a page must be seen to know more of it: its head, its table, then all of it. */
export function oggPageBytes(seen: Uint8Array): number {
  const table = OGG_HEAD_BYTES + (seen[26] ?? 0);
  if (seen.length < table) return table;
  return seen.subarray(OGG_HEAD_BYTES, table).reduce((sum, length) => sum + length, table);
}

/** Reads a whole page; undefined for what is none. The page shares the memory of the bytes. */
export function readOggPage(bytes: Uint8Array): OggPage | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'OggS' || bytes[4] !== 0) {
    return undefined;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(5);
  const bodyAt = OGG_HEAD_BYTES + view.getUint8(26);
  return {
    isFirst: (flags & FIRST) !== 0,
    isLast: (flags & LAST) !== 0,
    flags,
    granule: view.getBigInt64(6, true),
    serial: view.getUint32(14, true),
    table: bytes.subarray(OGG_HEAD_BYTES, bodyAt),
    body: bytes.subarray(bodyAt),
  };
}

/** Writes a page with its checksum. */
export function writeOggPage(page: OggPage, sequence: number): Uint8Array {
  const head = Buffer.alloc(OGG_HEAD_BYTES);
  head.write('OggS', 'latin1');
  head[5] = page.flags;
  head.writeBigInt64LE(page.granule, 6);
  head.writeUInt32LE(page.serial, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = page.table.length;
  const bytes = Buffer.concat([head, page.table, page.body]);
  bytes.writeUInt32LE(oggChecksum(bytes, 0, bytes.length), 22);
  return bytes;
}

/** How many packets end in a page. */
export function packetsIn({ table }: OggPage): number {
  return table.reduce((count, length) => count + (length < 255 ? 1 : 0), 0);
}

/** A page with the first packet alone, which ends at `granule`, and one with the others. */
export function withoutFirstPacket(page: OggPage, granule: bigint): readonly [OggPage, OggPage] {
  const segments = page.table.findIndex((length) => length < 255) + 1;
  const bytes = page.table.subarray(0, segments).reduce((sum, length) => sum + length, 0);
  return [
    {
      ...page,
      isLast: false,
      flags: page.flags & ~LAST,
      granule,
      table: page.table.subarray(0, segments),
      body: page.body.subarray(0, bytes),
    },
    {
      ...page,
      flags: page.flags & ~CONTINUED,
      table: page.table.subarray(segments),
      body: page.body.subarray(bytes),
    },
  ];
}
