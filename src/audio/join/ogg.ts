import type { OggCodec } from '../ogg.ts';
import { CODEC_BYTES, readOggCodec, oggChecksum } from '../ogg.ts';
import type { FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';
import { ByteSink, misfit } from './audio-joiner.ts';
import type { AudioJoiner } from './audio-joiner.ts';

/**
 * Chains the streams of all parts: each has a serial number of its own, pages numbered from 0 and its
 * headers. The packets of two Vorbis streams cannot be put into one: where they meet, a decoder would
 * overlap what does not belong together, and the end of the first, which lies within a packet, would be
 * heard beyond it.
 *
 * The time of a Vorbis stream goes on where the one before it ended, so that players which look at the
 * last page alone know the length of the whole. Then its first packet, which has no sound yet, needs a
 * page for itself: it says where the sound begins.
 */
export function createOggJoiner(): AudioJoiner {
  const sink = new ByteSink();
  const chain = new Chain(sink);
  let walker = new Walker(new PageReader((page) => chain.add(page)));
  return {
    write(chunk) {
      walker.write(chunk);
      return sink.take();
    },
    endPart() {
      if (walker.held.length > 0 || walker.bytes === 0) throw misfit('one is cut');
      walker = new Walker(new PageReader((page) => chain.add(page)));
      return sink.take();
    },
    starts: () => chain.starts(),
    corrections: () => [],
  };
}

class PageReader implements FormatReader {
  want = OGG_HEAD_BYTES;
  skip = 0;
  readonly #onPage: (page: OggPage) => void;

  constructor(onPage: (page: OggPage) => void) {
    this.#onPage = onPage;
  }

  step(bytes: Uint8Array, at: number): void {
    const seen = bytes.subarray(at, at + this.want);
    const needed = oggPageBytes(seen);
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    const page = readOggPage(seen);
    if (page === undefined) throw misfit('one is no Ogg');
    this.#onPage(page);
    this.skip = needed;
    this.want = OGG_HEAD_BYTES;
  }
}

/** Packets of a Vorbis stream before those with sound. */
const VORBIS_HEADERS = 3;

class Chain {
  readonly #sink: ByteSink;
  #links = 0;
  #codec: OggCodec | undefined;
  /** Serial numbers: that of the first link, and that which the open one had. */
  #serial = 0;
  #ownSerial: number | undefined;
  #sequence = 0;
  #packets = 0;
  /** Where the open link begins in the whole and by its own count, and where it has got by that. */
  #offset = 0n;
  #base = 0n;
  #granule = 0n;
  /** Where each link begins in the whole. */
  readonly #starts: bigint[] = [];

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  add(page: OggPage): void {
    if (page.isFirst) this.#open(page);
    if (page.serial !== this.#ownSerial) throw misfit('one has more than one Ogg stream at once');
    const packets = packetsIn(page);
    const isSound = this.#packets >= VORBIS_HEADERS;
    const opensSound = this.#packets === VORBIS_HEADERS && packets > 0;
    this.#packets += packets;
    // Headers have no time.
    if (!this.#goesOn && page.granule > 0n) this.#granule = page.granule;
    if (!this.#goesOn || !isSound || page.granule < 0n) return this.#write(page);
    // The first packet has no sound yet: alone in its page, it says where the sound begins.
    if (opensSound && packets === 1) this.#base = page.granule;
    this.#granule = page.granule;
    const shifted = { ...page, granule: page.granule - this.#base + this.#offset };
    if (!opensSound || packets === 1 || this.#links === 1) return this.#write(shifted);
    for (const half of withoutFirstPacket(shifted, this.#offset)) this.#write(half);
    return undefined;
  }

  /** Whether the time of one link goes on in the next. */
  get #goesOn(): boolean {
    return this.#codec?.name === 'vorbis';
  }

  #open(page: OggPage): void {
    const codec = readOggCodec(page.body.subarray(0, CODEC_BYTES));
    const first = (this.#codec ??= codec);
    const isAlike =
      codec.name === first.name &&
      codec.channels === first.channels &&
      codec.sampleRate === first.sampleRate;
    if (!isAlike) throw misfit('their Ogg streams differ in codec, channels or sample rate');
    if (this.#links === 0) this.#serial = page.serial;
    this.#links += 1;
    this.#ownSerial = page.serial;
    this.#sequence = 0;
    this.#packets = 0;
    this.#offset += this.#granule - this.#base;
    this.#base = BigInt(codec.preSkip);
    this.#granule = this.#base;
    this.#starts.push(this.#offset);
  }

  starts(): readonly number[] {
    const rate = this.#codec?.granuleRate;
    return rate === undefined ? [] : this.#starts.map((start) => (Number(start) / rate) * 1000);
  }

  #write(page: OggPage): void {
    const serial = (this.#serial + this.#links - 1) >>> 0;
    this.#sink.push(writeOggPage({ ...page, serial }, this.#sequence));
    this.#sequence += 1;
  }
}

/** One page of an Ogg file (RFC 3533, section 6) with all its bytes. */
interface OggPage {
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

const OGG_HEAD_BYTES = 27;
const CONTINUED = 1;
const FIRST = 2;
const LAST = 4;

/** How many bytes of a page must be seen to know more of it: its head, its table, then all of it. */
function oggPageBytes(seen: Uint8Array): number {
  const table = OGG_HEAD_BYTES + (seen[26] ?? 0);
  if (seen.length < table) return table;
  return seen.subarray(OGG_HEAD_BYTES, table).reduce((sum, length) => sum + length, table);
}

/** Reads a whole page; undefined for what is none. The page shares the memory of the bytes. */
function readOggPage(bytes: Uint8Array): OggPage | undefined {
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
function writeOggPage(page: OggPage, sequence: number): Uint8Array {
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
function packetsIn({ table }: OggPage): number {
  return table.reduce((count, length) => count + (length < 255 ? 1 : 0), 0);
}

/** A page with the first packet alone, which ends at `granule`, and one with the others. */
function withoutFirstPacket(page: OggPage, granule: bigint): readonly [OggPage, OggPage] {
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
