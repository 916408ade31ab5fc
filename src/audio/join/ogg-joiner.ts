import type { OggCodec } from '../ogg-codec.ts';
import { CODEC_BYTES, readOggCodec } from '../ogg-codec.ts';
import type { FormatReader } from '../walker.ts';
import { Walker } from '../walker.ts';
import { ByteSink } from './byte-sink.ts';
import type { AudioJoiner } from './audio-joiner.ts';
import { misfit } from './misfit.ts';
import type { OggPage } from './ogg-page.ts';
import {
  OGG_HEAD_BYTES,
  oggPageBytes,
  packetsIn,
  readOggPage,
  withoutFirstPacket,
  writeOggPage,
} from './ogg-page.ts';

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
