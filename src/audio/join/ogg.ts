import type { OggCodec } from '../ogg.ts';
import {
  CODEC_BYTES,
  CONTINUED_PAGE,
  FIRST_PAGE,
  LAST_PAGE,
  OGG_HEAD_BYTES,
  VORBIS_HEADERS,
  bodyLength,
  countPackets,
  isOggPage,
  readOggCodec,
  readOggHeader,
  writeOggPage,
} from '../ogg.ts';
import type { Walker } from '../reader.ts';
import { Joiner, badPart } from './joiner.ts';
import type { OggPage } from './ogg-silence.ts';
import { headerPackets, silentPages } from './ogg-silence.ts';

interface Opening {
  readonly codec: OggCodec;
  readonly pages: OggPage[];
}

/**
 * Concatenates the Ogg streams of several files. Each stream keeps its headers and gets a new serial number. The
 * timestamps of a Vorbis stream continue those of the previous stream, because some players read the duration from the
 * last page.
 */
export class OggJoiner extends Joiner {
  #streams = 0;
  // The header pages of the first stream, and those of the current stream until its sound begins.
  #headers: readonly OggPage[] = [];
  #opening: Opening | undefined;
  #codec: OggCodec | undefined;
  #serial = 0;
  #ownSerial: number | undefined;
  #sequence = 0;
  #packets = 0;
  // Granule positions: where the current stream starts in the joined file, and its original first and last one.
  #offset = 0n;
  #base = 0n;
  #granule = 0n;
  readonly #starts: bigint[] = [];

  constructor() {
    super(OGG_HEAD_BYTES);
  }

  step(bytes: Uint8Array, at: number): void {
    const seen = bytes.subarray(at, at + this.want);
    // Wait for the fixed header first, then for its segment table, then for the body.
    const headLength = OGG_HEAD_BYTES + (seen[26] ?? 0);
    const hasTable = seen.length >= headLength;
    const table = seen.subarray(OGG_HEAD_BYTES, headLength);
    const needed = hasTable ? headLength + bodyLength(table) : headLength;
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    if (!isOggPage(seen)) throw badPart('one is not Ogg');
    this.#add({ ...readOggHeader(seen), body: seen.subarray(headLength) });
    this.skip = needed;
    this.want = OGG_HEAD_BYTES;
  }

  #add(page: OggPage): void {
    if ((page.flags & FIRST_PAGE) !== 0) this.#open(page);
    if (page.serial !== this.#ownSerial) throw badPart('one has more than one Ogg stream at once');
    const packets = countPackets(page.table);
    const isSound = this.#packets >= VORBIS_HEADERS;
    const opensSound = this.#packets === VORBIS_HEADERS && packets > 0;
    this.#packets += packets;
    if (this.#opening !== undefined) return this.#addHeader(page, this.#opening);
    const continuesTime = this.#codec?.name === 'vorbis';
    if (!continuesTime && page.granule > 0n) this.#granule = page.granule;
    if (!continuesTime || !isSound || page.granule < 0n) return this.#write(page);
    // The first packet with sound decodes to no samples. If it is alone in its page, the page marks the start of the
    // sound.
    if (opensSound && packets === 1) this.#base = page.granule;
    this.#granule = page.granule;
    const shifted = { ...page, granule: page.granule - this.#base + this.#offset };
    if (!opensSound || packets === 1 || this.#streams === 1) return this.#write(shifted);
    for (const half of splitFirstPacket(shifted, this.#offset)) this.#write(half);
    return undefined;
  }

  #open(page: OggPage): void {
    const codec = readOggCodec(page.body.subarray(0, CODEC_BYTES));
    const first = (this.#codec ??= codec);
    const isAlike =
      codec.name === first.name &&
      codec.channels === first.channels &&
      codec.sampleRate === first.sampleRate;
    if (!isAlike) throw badPart('their Ogg streams differ in codec, channels or sample rate');
    if (this.#streams === 0) this.#serial = page.serial;
    this.#ownSerial = page.serial;
    this.#packets = 0;
    this.#opening = { codec, pages: [] };
  }

  #addHeader(page: OggPage, { codec, pages }: Opening): void {
    // A copy, because the page shares the memory of the chunk; `slice` of a Buffer would share it too.
    pages.push({ ...page, table: new Uint8Array(page.table), body: new Uint8Array(page.body) });
    if (this.#packets < (headerPackets(codec) ?? 1) && (page.flags & LAST_PAGE) === 0) return;
    this.#opening = undefined;
    if (this.#headers.length === 0) this.#headers = pages;
    const ms = this.takeSilence();
    if (ms > 0) this.pushSilence(ms);
    this.#beginStream(codec);
    this.#starts.push(this.#offset);
    for (const held of pages) this.#write(held);
  }

  #beginStream({ preSkip }: OggCodec): void {
    this.#streams += 1;
    this.#sequence = 0;
    this.#offset += this.#granule - this.#base;
    this.#base = BigInt(preSkip);
    this.#granule = this.#base;
  }

  protected override pushSilence(ms: number): void {
    const codec = this.#codec;
    if (codec?.granuleRate === undefined || headerPackets(codec) === undefined) {
      throw badPart('foley cannot make silence in their codec');
    }
    const granules = Math.round((ms * codec.granuleRate) / 1000);
    if (granules === 0) return;
    this.#beginStream(codec);
    for (const page of silentPages(codec, this.#headers, this.#offset, granules)) this.#write(page);
    this.#granule = this.#base + BigInt(granules);
  }

  protected override finishPart(walker: Walker): void {
    super.finishPart(walker);
    if (this.#opening !== undefined) throw badPart('one is cut');
  }

  starts(): readonly number[] {
    const rate = this.#codec?.granuleRate;
    return rate === undefined ? [] : this.#starts.map((start) => (Number(start) / rate) * 1000);
  }

  #write(page: OggPage): void {
    const serial = (this.#serial + this.#streams - 1) >>> 0;
    this.push(writeOggPage({ ...page, serial, sequence: this.#sequence }, [page.body]));
    this.#sequence += 1;
  }
}

// The first page gets only the first packet and ends at `granule`; the second page gets all other packets.
function splitFirstPacket(page: OggPage, granule: bigint): readonly [OggPage, OggPage] {
  const segments = page.table.findIndex((length) => length < 255) + 1;
  const table = page.table.subarray(0, segments);
  const bytes = bodyLength(table);
  const body = page.body.subarray(0, bytes);
  return [
    { ...page, flags: page.flags & ~LAST_PAGE, granule, table, body },
    {
      ...page,
      flags: page.flags & ~CONTINUED_PAGE,
      table: page.table.subarray(segments),
      body: page.body.subarray(bytes),
    },
  ];
}
