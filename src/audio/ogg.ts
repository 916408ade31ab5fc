import type { Findings, JudgingReader, Walker } from './reader.ts';
import { TO_THE_END } from './reader.ts';

/**
 * Walks Ogg pages (RFC 3533): every page has its mark, its checksum and its turn, every logical
 * stream a first and a last page. So a cut anywhere is seen. Streams may follow each other, as in a
 * file that was joined of several; the time is that of all of them.
 */
export class OggReader implements JudgingReader {
  want = HEADER_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  readonly #codecWanted: OggCodec['name'] | undefined;
  readonly #streams = new Map<number, OggStream>();
  #first: OggStream | undefined;
  #durationMs = 0;
  /** The longest of the streams that play together and have ended. */
  #groupMs = 0;
  #page: OpenPage | undefined;

  /** With a `codec`, a first stream of any other is a fault. */
  constructor(codec?: OggCodec['name']) {
    this.#codecWanted = codec;
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    this.#finishPage();
    if (this.problem !== undefined) return this.#stop(this.problem);
    const header = bytes.subarray(at, at + this.want);
    if (Buffer.from(header.subarray(0, 4)).toString('latin1') !== 'OggS' || header[4] !== 0) {
      return this.#stop(
        this.begun ? `has bytes that are no Ogg page at offset ${position}` : 'is not Ogg',
      );
    }
    this.begun = true;
    const needed = bytesToLookAt(header);
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
    const first = this.#first;
    return {
      durationMs:
        first?.codec.granuleRate === undefined ? undefined : this.#durationMs + this.#openMs(),
      sampleRate: first?.codec.sampleRate,
      channels: first?.codec.channels,
      codec: first?.codec.name,
      endIsProven: true,
      problem: this.problem ?? this.#problemAtEnd(walker, isCut),
    };
  }

  #problemAtEnd(walker: Walker, isCut: boolean): string | undefined {
    if (walker.bytes === 0) return 'is empty';
    if (isCut) return this.begun ? 'is cut: it ends inside an Ogg page' : 'is not Ogg';
    if (this.#streams.size > 0) return 'is cut: its last Ogg page is missing';
    return this.#durationMs === 0 && this.#first?.codec.granuleRate !== undefined
      ? 'has no sound in it'
      : undefined;
  }

  #openMs(): number {
    return Math.max(
      this.#groupMs,
      ...Array.from(this.#streams.values(), (stream) => durationOf(stream)),
    );
  }

  #openPage(header: Uint8Array, position: number): void {
    const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
    const segments = view.getUint8(26);
    const headerLength = HEADER_BYTES + segments;
    const table = header.subarray(HEADER_BYTES, headerLength);
    // Copies, not slices: a Buffer's slice would share, and here change, the caller's bytes.
    const sumless = new Uint8Array(header.subarray(0, headerLength)).fill(0, 22, 26);
    this.#page = {
      serial: view.getUint32(14, true),
      sequence: view.getUint32(18, true),
      granule: view.getBigInt64(6, true),
      isFirst: (view.getUint8(5) & 2) !== 0,
      isLast: (view.getUint8(5) & 4) !== 0,
      endsInsidePacket: table.at(-1) === 255,
      packets: table.reduce((count, length) => count + (length < 255 ? 1 : 0), 0),
      beginning: new Uint8Array(header.subarray(headerLength)),
      expectedSum: view.getUint32(22, true),
      headerLeft: headerLength,
      sum: oggChecksum(sumless, 0, headerLength),
      position,
    };
    this.skip = headerLength + table.reduce((sum, length) => sum + length, 0);
    this.want = HEADER_BYTES;
  }

  #finishPage(): void {
    const page = this.#page;
    if (page === undefined || this.problem !== undefined) return;
    this.#page = undefined;
    if (page.sum !== page.expectedSum) {
      this.problem = `is damaged: the Ogg page at offset ${page.position} has a wrong checksum`;
      return;
    }
    const stream = page.isFirst ? this.#openStream(page) : this.#streams.get(page.serial);
    if (stream === undefined) {
      this.problem ??= `has an Ogg page of no stream at offset ${page.position}`;
      return;
    }
    if (page.sequence !== stream.nextSequence) {
      this.problem = `lacks an Ogg page before offset ${page.position}`;
      return;
    }
    stream.nextSequence = (page.sequence + 1) >>> 0;
    if (page.granule >= 0n) noteTime(stream, page);
    if (page.isLast) this.#closeStream(page, stream);
  }

  #openStream(page: OpenPage): OggStream | undefined {
    const codec = readOggCodec(page.beginning);
    if (this.#streams.has(page.serial) || this.#streams.size >= STREAMS_MAX) return undefined;
    if (this.#codecWanted !== undefined && codec.name !== this.#codecWanted) {
      this.problem = `is Ogg with ${codec.name} sound, not ${this.#codecWanted}`;
      return undefined;
    }
    const stream = { codec, nextSequence: page.sequence, granule: 0, base: 0, packets: 0 };
    this.#first ??= stream;
    this.#streams.set(page.serial, stream);
    return stream;
  }

  #closeStream(page: OpenPage, stream: OggStream): void {
    if (page.endsInsidePacket) this.problem = 'is cut: its last packet is not whole';
    this.#groupMs = Math.max(this.#groupMs, durationOf(stream));
    this.#streams.delete(page.serial);
    if (this.#streams.size > 0) return;
    this.#durationMs += this.#groupMs;
    this.#groupMs = 0;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.#page = undefined;
    this.skip = TO_THE_END;
  }
}

interface OggStream {
  readonly codec: OggCodec;
  nextSequence: number;
  granule: number;
  /** Where its time begins; 0 but in a stream that goes on with the time of one before it. */
  base: number;
  /** Packets that have ended. */
  packets: number;
}

interface OpenPage {
  readonly serial: number;
  readonly sequence: number;
  readonly granule: bigint;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly endsInsidePacket: boolean;
  /** Packets that end in it. */
  readonly packets: number;
  /** The first bytes of the body, of a first page only. */
  readonly beginning: Uint8Array;
  readonly expectedSum: number;
  readonly position: number;
  headerLeft: number;
  sum: number;
}

const HEADER_BYTES = 27;
/** More logical streams at once than any file of sound has; keeps memory bounded. */
const STREAMS_MAX = 16;

/** The header with its table; of a first page also what names the codec. */
function bytesToLookAt(header: Uint8Array): number {
  const headerLength = HEADER_BYTES + (header[26] ?? 0);
  if (header.length < headerLength || ((header[5] ?? 0) & 2) === 0) return headerLength;
  const table = header.subarray(HEADER_BYTES, headerLength);
  const body = table.reduce((sum, length) => sum + length, 0);
  return headerLength + Math.min(body, CODEC_BYTES);
}

/** Packets of a Vorbis stream before those with sound. */
const VORBIS_HEADERS = 3;

/**
 * The first packet with Vorbis sound gives no sample yet: a page in which nothing else ends tells where
 * the time of its stream begins.
 */
function noteTime(stream: OggStream, { granule, packets }: OpenPage): void {
  const opensSound = stream.codec.name === 'vorbis' && stream.packets === VORBIS_HEADERS;
  stream.packets += packets;
  stream.granule = Number(granule);
  if (opensSound && packets === 1) stream.base = stream.granule;
}

function durationOf({ base, codec, granule }: OggStream): number {
  if (codec.granuleRate === undefined) return 0;
  return (Math.max(0, granule - base - codec.preSkip) / codec.granuleRate) * 1000;
}

/** What the first packet of a logical Ogg stream tells. */
export interface OggCodec {
  readonly name: 'vorbis' | 'opus' | 'flac' | 'speex' | 'unknown';
  readonly channels: number | undefined;
  /** Of the sound; Opus always plays at 48 kHz. */
  readonly sampleRate: number | undefined;
  /** Granules a second, undefined when the codec is not known well enough to tell time by it. */
  readonly granuleRate: number | undefined;
  /** Granules before the sound begins. */
  readonly preSkip: number;
}

/** As much of the first packet as {@link readOggCodec} looks at. */
export const CODEC_BYTES = 32;

/** Reads the beginning of a first packet; what is cut or strange is an `unknown` codec. */
export function readOggCodec(packet: Uint8Array): OggCodec {
  const mark = Buffer.from(packet.subarray(0, 8)).toString('latin1');
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (mark.startsWith('\x01vorbis') && packet.length >= 16) {
    return known('vorbis', view.getUint8(11), view.getUint32(12, true));
  }
  if (mark === 'OpusHead' && packet.length >= 16) {
    return { ...known('opus', view.getUint8(9), 48_000), preSkip: view.getUint16(10, true) };
  }
  if (mark.startsWith('\x7fFLAC') && packet.length >= 30) {
    // STREAMINFO behind a 13-byte prefix and a 4-byte block header: 20 bits of rate, 3 of channels.
    const rateAndChannels = view.getUint32(27);
    return known('flac', ((rateAndChannels >>> 9) & 7) + 1, rateAndChannels >>> 12);
  }
  const name = mark === 'Speex   ' ? 'speex' : 'unknown';
  return { name, channels: undefined, sampleRate: undefined, granuleRate: undefined, preSkip: 0 };
}

function known(name: OggCodec['name'], channels: number, sampleRate: number): OggCodec {
  const granuleRate = sampleRate === 0 ? undefined : sampleRate;
  return { name, channels, sampleRate: granuleRate, granuleRate, preSkip: 0 };
}

/**
 * Goes on with the checksum of an Ogg page (RFC 3533: polynomial 0x04c11db7, highest bit first,
 * beginning with 0) over `bytes` from `from` up to but not including `to`.
 */
export function oggChecksum(bytes: Uint8Array, from: number, to: number, begun = 0): number {
  const tables = (made ??= makeTables());
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  let sum = begun;
  let at = from;
  // Eight bytes a turn; a gigabyte is to cost about a second, not five.
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

type Table = Int32Array;
type Tables = readonly [Table, Table, Table, Table, Table, Table, Table, Table];

let made: Tables | undefined;

/** The checksum of each byte followed by 0 to 7 bytes of zero. */
function makeTables(): Tables {
  const t0 = Int32Array.from({ length: 256 }, (_, value) => {
    let sum = value << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
    return sum;
  });
  const after = (table: Table): Table =>
    table.map((sum) => (sum << 8) ^ entry(t0, (sum >>> 24) & 0xff));
  const t1 = after(t0);
  const t2 = after(t1);
  const t3 = after(t2);
  const t4 = after(t3);
  const t5 = after(t4);
  const t6 = after(t5);
  return [t0, t1, t2, t3, t4, t5, t6, after(t6)];
}

function entry(table: Table, index: number): number {
  return table[index] ?? 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
