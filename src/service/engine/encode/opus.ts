import type { AudioEncoder } from './audio-encoder.ts';
import { lacingCount, oggPage } from './ogg-page.ts';
import type { OpusCodec } from './opus-codecs.ts';
import { giveBackOpusCodec, takeOpusCodec } from './opus-codecs.ts';
import { pcmBytes } from './pcm.ts';

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
