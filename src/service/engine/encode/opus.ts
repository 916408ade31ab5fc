import { pcmBytes } from './pcm.ts';
import type { AudioEncoder } from './pcm.ts';

/** The rate at which the format counts. */
export const OPUS_SAMPLE_RATE = 48_000;

/** A packet has 20 ms. */
const PACKET_SAMPLES = 960;
/** What the codec looks ahead: decoders leave out as many samples at the beginning. */
const PRE_SKIP = 312;
const MOST_LACING = 255;

/**
 * Opus in Ogg (RFC 7845), in packets of 20 ms; samples must come at 48 kHz, mono. Equal speech gives equal bytes.
 * @param serialNumber tells it from other streams of the same file
 */
export async function openOpus(serialNumber = 1): Promise<AudioEncoder> {
  return new OpusEncoder(await takeOpusCodec(), serialNumber);
}

class OpusEncoder implements AudioEncoder {
  readonly #codec: OpusCodec;
  readonly #serialNumber: number;
  #waiting = new Float32Array(0);
  #packets: Uint8Array[] = [];
  #pages = 0;
  /** Samples that were put in, and those that are encoded. */
  #taken = 0;
  #encoded = 0;

  constructor(codec: OpusCodec, serialNumber: number) {
    this.#codec = codec;
    this.#serialNumber = serialNumber;
  }

  encode(samples: Float32Array): Uint8Array<ArrayBuffer> {
    this.#taken += samples.length;
    const all = new Float32Array(this.#waiting.length + samples.length);
    all.set(this.#waiting);
    all.set(samples, this.#waiting.length);
    const whole = all.length - (all.length % PACKET_SAMPLES);
    for (let at = 0; at < whole; at += PACKET_SAMPLES) this.#packet(all.subarray(at));
    this.#waiting = all.slice(whole);
    return Buffer.concat([...this.#heads(), ...this.#flush(this.#encoded, false)]);
  }

  /** The last page says how many samples there are, so that what fills its packets up is not heard. */
  finish(): Uint8Array<ArrayBuffer> {
    const end = PRE_SKIP + this.#taken;
    while (this.#encoded < end) {
      this.#packet(this.#waiting);
      this.#waiting = new Float32Array(0);
    }
    return Buffer.concat([...this.#heads(), ...this.#flush(end, true)]);
  }

  close(): void {
    giveBackOpusCodec(this.#codec);
  }

  #packet(samples: Float32Array): void {
    const padded = new Float32Array(PACKET_SAMPLES);
    padded.set(samples.subarray(0, PACKET_SAMPLES));
    this.#packets.push(this.#codec.encode(Buffer.from(pcmBytes(padded)), PACKET_SAMPLES));
    this.#encoded += PACKET_SAMPLES;
  }

  #heads(): readonly Uint8Array[] {
    if (this.#pages > 0) return [];
    return [this.#page([opusHead()], 0, false), this.#page([opusTags()], 0, false)];
  }

  /** Everything that is encoded, in as few pages as hold it. */
  *#flush(end: number, isLast: boolean): Generator<Uint8Array> {
    let position = this.#encoded - this.#packets.length * PACKET_SAMPLES;
    let group: Uint8Array[] = [];
    let lacing = 0;
    for (const packet of this.#packets.splice(0)) {
      const own = lacingCount(packet.length);
      if (lacing + own > MOST_LACING) {
        yield this.#page(group, position, false);
        [group, lacing] = [[], 0];
      }
      group.push(packet);
      lacing += own;
      position += PACKET_SAMPLES;
    }
    if (group.length > 0) yield this.#page(group, end, isLast);
  }

  #page(packets: readonly Uint8Array[], granulePosition: number, isLast: boolean): Uint8Array {
    const number = this.#pages;
    this.#pages += 1;
    const isFirst = number === 0;
    return oggPage({
      serialNumber: this.#serialNumber,
      number,
      granulePosition,
      isFirst,
      isLast,
      packets,
    });
  }
}

function opusHead(): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(OPUS_SAMPLE_RATE, 12);
  return head;
}

const VENDOR = 'foley';

function opusTags(): Uint8Array {
  const tags = Buffer.alloc(8 + 4 + VENDOR.length + 4);
  tags.write('OpusTags', 0, 'latin1');
  tags.writeUInt32LE(VENDOR.length, 8);
  tags.write(VENDOR, 12, 'latin1');
  return tags;
}

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

/** An encoder of libopus: 48 kHz, mono. */
export interface OpusCodec {
  /** A packet of so many samples, 16 bits each. */
  encode(samples: Buffer, frameSize: number): Uint8Array;
  encoderCTL(request: number, value: number): void;
}

/**
 * The package's encoders share one memory and must neither be freed nor become many: each writes its input
 * to twice the address that it reserved, which hits nothing in use as long as they were all made in a row
 * and there are few. So there are at most these, each for one stream after the other.
 */
const MOST_CODECS = 16;
const SAMPLE_RATE = 48_000;
const BITS_PER_SECOND = 32_000;
const RESET_STATE = 4_028;

const idle: OpusCodec[] = [];
const waiting: ((codec: OpusCodec) => void)[] = [];
let made = 0;

/** An encoder in its first state, as soon as there is one. */
export async function takeOpusCodec(): Promise<OpusCodec> {
  const free = idle.pop() ?? (made < MOST_CODECS ? await makeCodec() : undefined);
  if (free === undefined) return new Promise((resolve) => void waiting.push(resolve));
  return free;
}

export function giveBackOpusCodec(codec: OpusCodec): void {
  codec.encoderCTL(RESET_STATE, 0);
  const next = waiting.shift();
  if (next === undefined) idle.push(codec);
  else next(codec);
}

async function makeCodec(): Promise<OpusCodec> {
  made += 1;
  const { default: OpusScript } = await import('opusscript');
  const codec = new OpusScript(SAMPLE_RATE, 1, OpusScript.Application.AUDIO);
  codec.setBitrate(BITS_PER_SECOND);
  return codec;
}
