import type { Findings, Walker } from './reader.ts';
import { VerifyingReader, tagAt } from './reader.ts';

/** Length in bytes of an Ogg page header without its segment table (RFC 3533, section 6). */
export const OGG_HEAD_BYTES = 27;
export const FIRST_PAGE = 2;
export const LAST_PAGE = 4;
const STREAMS_MAX = 16;

export interface OggHeader {
  /** Bit field of {@link CONTINUED_PAGE}, {@link FIRST_PAGE} and {@link LAST_PAGE}. */
  readonly flags: number;
  readonly granule: bigint;
  readonly serial: number;
  readonly sequence: number;
  /** The segment table: the length of each segment in bytes. */
  readonly table: Uint8Array;
}

/** Returns whether bytes begin with the signature and version of an Ogg page. */
export function isOggPage(bytes: Uint8Array): boolean {
  return tagAt(bytes, 0) === 'OggS' && bytes[4] === 0;
}

/**
 * Reads an Ogg page header, including its segment table. `bytes` must contain the complete table. The returned table
 * shares the memory of `bytes`.
 */
export function readOggHeader(bytes: Uint8Array): OggHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    flags: view.getUint8(5),
    granule: view.getBigInt64(6, true),
    serial: view.getUint32(14, true),
    sequence: view.getUint32(18, true),
    table: bytes.subarray(OGG_HEAD_BYTES, OGG_HEAD_BYTES + view.getUint8(26)),
  };
}

/** Writes an Ogg page and computes its checksum. */
export function writeOggPage(
  { flags, granule, serial, sequence, table }: OggHeader,
  body: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(OGG_HEAD_BYTES);
  head.write('OggS', 'latin1');
  head[5] = flags;
  head.writeBigInt64LE(granule, 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = table.length;
  const bytes = Buffer.concat([head, table, ...body]);
  bytes.writeUInt32LE(oggChecksum(bytes, 0, bytes.length), CHECKSUM_OFFSET);
  return bytes;
}

const CHECKSUM_OFFSET = 22;

/** Returns the length of the body of an Ogg page: the sum of its segment lengths. */
export function bodyLength(table: Uint8Array): number {
  return table.reduce((sum, length) => sum + length, 0);
}

/** Returns the number of packets that end in an Ogg page. */
export function countPackets(table: Uint8Array): number {
  return table.reduce((count, length) => count + (length < 255 ? 1 : 0), 0);
}

/**
 * Verifies Ogg pages (RFC 3533): signature, checksum, sequence number, and a first and last page for each stream.
 * Detects every truncation, except between two chained streams. Adds up the durations of chained streams.
 */
export class OggReader extends VerifyingReader {
  readonly #requiredCodec: OggCodec['name'] | undefined;
  readonly #streams = new Map<number, OggStream>();
  #first: OggStream | undefined;
  #durationMs = 0;
  // Duration of the longest stream that has ended in the current group of concurrent streams.
  #groupMs = 0;
  #page: OpenPage | undefined;

  /** @param requiredCodec the only codec to accept; default: any codec */
  constructor(requiredCodec?: OggCodec['name']) {
    super(OGG_HEAD_BYTES);
    this.#requiredCodec = requiredCodec;
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    this.#finishPage();
    if (this.problem !== undefined) return this.#stopAt(this.problem);
    const header = bytes.subarray(at, at + this.want);
    if (!isOggPage(header)) {
      return this.#stopAt(
        this.begun ? `has bytes that are not an Ogg page at offset ${position}` : 'is not Ogg',
      );
    }
    this.begun = true;
    const needed = bytesToOpen(header);
    if (this.want < needed) {
      this.want = needed;
      return undefined;
    }
    return this.#openPage(header, position);
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    const page = this.#page;
    if (page === undefined) return;
    const header = Math.min(page.headerLeft, to - from);
    page.headerLeft -= header;
    page.sum = oggChecksum(bytes, from + header, to, page.sum);
  }

  finish(walker: Walker): Findings {
    const isCut = this.skip > 0 || walker.held.length > 0;
    if (!isCut) this.#finishPage();
    const codec = this.#first?.codec;
    const openMs = Array.from(this.#streams.values(), (stream) => durationOf(stream));
    return {
      durationMs:
        codec?.granuleRate === undefined
          ? undefined
          : this.#durationMs + Math.max(this.#groupMs, ...openMs),
      sampleRate: codec?.sampleRate,
      channels: codec?.channels,
      codec: codec?.name,
      endIsProven: true,
      problem: this.problem ?? this.#problemAtEnd(isCut),
    };
  }

  #problemAtEnd(isCut: boolean): string | undefined {
    if (isCut) return this.begun ? 'is cut: it ends inside an Ogg page' : 'is not Ogg';
    if (this.#streams.size > 0) return 'is cut: its last Ogg page is missing';
    const isTimed = this.#first?.codec.granuleRate !== undefined;
    return isTimed && this.#durationMs === 0 ? 'has no sound' : undefined;
  }

  #openPage(bytes: Uint8Array, position: number): void {
    // A copy, because the slice of a Buffer would share memory that the caller may reuse.
    const copy = new Uint8Array(bytes);
    const header = readOggHeader(copy);
    const headerLength = OGG_HEAD_BYTES + header.table.length;
    const expectedSum = new DataView(copy.buffer).getUint32(CHECKSUM_OFFSET, true);
    copy.fill(0, CHECKSUM_OFFSET, CHECKSUM_OFFSET + 4);
    this.#page = {
      ...header,
      beginning: copy.subarray(headerLength),
      expectedSum,
      headerLeft: headerLength,
      sum: oggChecksum(copy, 0, headerLength),
      position,
    };
    this.advance(headerLength + bodyLength(header.table), OGG_HEAD_BYTES);
  }

  #finishPage(): void {
    const page = this.#page;
    if (page === undefined || this.problem !== undefined) return;
    this.#page = undefined;
    if (page.sum !== page.expectedSum) {
      this.problem = `is damaged: the Ogg page at offset ${page.position} has a wrong checksum`;
      return;
    }
    const isFirst = (page.flags & FIRST_PAGE) !== 0;
    const stream = isFirst ? this.#openStream(page) : this.#streams.get(page.serial);
    if (stream === undefined) {
      this.problem ??= `has an Ogg page without a stream at offset ${page.position}`;
      return;
    }
    if (page.sequence !== stream.nextSequence) {
      this.problem = `is missing an Ogg page before offset ${page.position}`;
      return;
    }
    stream.nextSequence = (page.sequence + 1) >>> 0;
    if (page.granule >= 0n) updateTime(stream, page);
    if ((page.flags & LAST_PAGE) !== 0) this.#closeStream(page, stream);
  }

  #openStream(page: OpenPage): OggStream | undefined {
    const codec = readOggCodec(page.beginning);
    if (this.#streams.has(page.serial) || this.#streams.size >= STREAMS_MAX) return undefined;
    if (this.#requiredCodec !== undefined && codec.name !== this.#requiredCodec) {
      this.problem = `is Ogg with ${codec.name} sound, not ${this.#requiredCodec}`;
      return undefined;
    }
    const stream = { codec, nextSequence: page.sequence, granule: 0, base: 0, packets: 0 };
    this.#first ??= stream;
    this.#streams.set(page.serial, stream);
    return stream;
  }

  #closeStream(page: OpenPage, stream: OggStream): void {
    if (page.table.at(-1) === 255) this.problem = 'is cut: its last packet is incomplete';
    this.#groupMs = Math.max(this.#groupMs, durationOf(stream));
    this.#streams.delete(page.serial);
    if (this.#streams.size > 0) return;
    this.#durationMs += this.#groupMs;
    this.#groupMs = 0;
  }

  #stopAt(problem: string): void {
    this.#page = undefined;
    this.stop(problem);
  }
}

interface OggStream {
  readonly codec: OggCodec;
  nextSequence: number;
  granule: number;
  // Granule position of the first sample. It is not 0 if the stream continues the time of another stream.
  base: number;
  packets: number;
}

interface OpenPage extends OggHeader {
  readonly beginning: Uint8Array;
  readonly expectedSum: number;
  readonly position: number;
  headerLeft: number;
  sum: number;
}

// The first page of a stream also needs the bytes that name the codec.
function bytesToOpen(header: Uint8Array): number {
  const headerLength = OGG_HEAD_BYTES + (header[26] ?? 0);
  const isFirst = ((header[5] ?? 0) & FIRST_PAGE) !== 0;
  if (header.length < headerLength || !isFirst) return headerLength;
  const body = bodyLength(header.subarray(OGG_HEAD_BYTES, headerLength));
  return headerLength + Math.min(body, CODEC_BYTES);
}

/** Number of header packets with which a Vorbis stream begins. All later packets contain sound. */
export const VORBIS_HEADERS = 3;

// In Vorbis, the first packet with sound marks the start if it is alone in its page.
function updateTime(stream: OggStream, { granule, table }: OggHeader): void {
  const packets = countPackets(table);
  const opensSound = stream.codec.name === 'vorbis' && stream.packets === VORBIS_HEADERS;
  stream.packets += packets;
  stream.granule = Number(granule);
  if (opensSound && packets === 1) stream.base = stream.granule;
}

function durationOf({ base, codec, granule }: OggStream): number {
  if (codec.granuleRate === undefined) return 0;
  return (Math.max(0, granule - base - codec.preSkip) / codec.granuleRate) * 1000;
}

/** The codec that the first packet of an Ogg stream declares. */
export interface OggCodec {
  readonly name: 'vorbis' | 'opus' | 'flac' | 'speex' | 'unknown';
  readonly channels: number | undefined;
  /** Sample rate in Hz; always 48,000 for Opus. */
  readonly sampleRate: number | undefined;
  /** Number of granules (Ogg time units) per second; undefined if unknown. */
  readonly granuleRate: number | undefined;
  /** Number of granules (Ogg time units) to drop at the beginning of the stream. */
  readonly preSkip: number;
  /** Gain in decibels that a decoder must apply; 0 except for Opus. */
  readonly gainDb: number;
}

/** Maximum number of bytes that {@link readOggCodec} needs from the first packet of a stream. */
export const CODEC_BYTES = 32;

/**
 * Reads the codec from the first packet of an Ogg stream. The name is `unknown` for other codecs and for a packet that
 * is too short.
 */
export function readOggCodec(packet: Uint8Array): OggCodec {
  const mark = Buffer.from(packet.subarray(0, 8)).toString('latin1');
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (mark.startsWith('\x01vorbis') && packet.length >= 16) {
    return known('vorbis', view.getUint8(11), view.getUint32(12, true));
  }
  if (mark === 'OpusHead' && packet.length >= 18) {
    const opus = known('opus', view.getUint8(9), 48_000);
    const gainDb = view.getInt16(16, true) / 256;
    return { ...opus, preSkip: view.getUint16(10, true), gainDb };
  }
  if (mark.startsWith('\x7fFLAC') && packet.length >= 30) {
    // STREAMINFO follows 17 bytes of prefix and block header: 20 bits of sample rate, then 3 bits of channels.
    const rateAndChannels = view.getUint32(27);
    return known('flac', ((rateAndChannels >>> 9) & 7) + 1, rateAndChannels >>> 12);
  }
  const name = mark === 'Speex   ' ? 'speex' : 'unknown';
  const unknown = { channels: undefined, sampleRate: undefined, granuleRate: undefined };
  return { name, ...unknown, preSkip: 0, gainDb: 0 };
}

function known(name: OggCodec['name'], channels: number, sampleRate: number): OggCodec {
  const granuleRate = sampleRate === 0 ? undefined : sampleRate;
  return { name, channels, sampleRate: granuleRate, granuleRate, preSkip: 0, gainDb: 0 };
}

// RFC 3533, polynomial 0x04c11db7. `begun` is the checksum so far.
function oggChecksum(bytes: Uint8Array, from: number, to: number, begun = 0): number {
  const tables = (made ??= makeTables());
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  let sum = begun;
  let at = from;
  // Handling eight bytes at a time is five times as fast.
  for (; at + 8 <= to; at += 8) {
    sum ^= (byte(bytes, at) << 24) | (byte(bytes, at + 1) << 16);
    sum ^= (byte(bytes, at + 2) << 8) | byte(bytes, at + 3);
    sum =
      entry(t7, sum >>> 24) ^
      entry(t6, (sum >>> 16) & 0xff) ^
      entry(t5, (sum >>> 8) & 0xff) ^
      entry(t4, sum & 0xff) ^
      entry(t3, byte(bytes, at + 4)) ^
      entry(t2, byte(bytes, at + 5)) ^
      entry(t1, byte(bytes, at + 6)) ^
      entry(t0, byte(bytes, at + 7));
  }
  for (; at < to; at += 1) sum = (sum << 8) ^ entry(t0, (sum >>> 24) ^ byte(bytes, at));
  return sum >>> 0;
}

type CrcTable = Int32Array;
type Tables = readonly [
  CrcTable,
  CrcTable,
  CrcTable,
  CrcTable,
  CrcTable,
  CrcTable,
  CrcTable,
  CrcTable,
];

let made: Tables | undefined;

// In table n: the checksum of each byte value followed by n zero bytes.
function makeTables(): Tables {
  const t0 = Int32Array.from({ length: 256 }, (_, value) => {
    let sum = value << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
    return sum;
  });
  const after = (table: CrcTable): CrcTable =>
    table.map((sum) => (sum << 8) ^ entry(t0, (sum >>> 24) & 0xff));
  const t1 = after(t0);
  const t2 = after(t1);
  const t3 = after(t2);
  const t4 = after(t3);
  const t5 = after(t4);
  const t6 = after(t5);
  return [t0, t1, t2, t3, t4, t5, t6, after(t6)];
}

function entry(table: CrcTable, index: number): number {
  return table[index] ?? 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
