import { FIRST_PAGE, LAST_PAGE, writeOggPage } from '../ogg.ts';
import { concatSamples } from '../resample.ts';
import type { AudioEncoder } from './pcm.ts';
import { pcmBytes } from './pcm.ts';

export const OPUS_SAMPLE_RATE = 48_000;

const PACKET_SAMPLES = 960;
/** Number of samples that an Opus decoder drops at the beginning of a stream. */
const PRE_SKIP = 312;
const MOST_LACING = 255;

/**
 * Opens an Ogg Opus encoder (RFC 7845) for mono samples at 48 kHz, with packets of 20 ms. The
 * output is deterministic.
 * @param serialNumber number that identifies the stream within the Ogg file
 */
export async function openOpus(serialNumber = 1): Promise<AudioEncoder> {
  return new OpusEncoder(await acquireCodec(), serialNumber);
}

class OpusEncoder implements AudioEncoder {
  readonly #codec: OpusCodec;
  readonly #serialNumber: number;
  #waiting: Float32Array = new Float32Array(0);
  #packets: Uint8Array[] = [];
  #pages = 0;
  #received = 0;
  #encoded = 0;

  constructor(codec: OpusCodec, serialNumber: number) {
    this.#codec = codec;
    this.#serialNumber = serialNumber;
  }

  encode(samples: Float32Array): Uint8Array<ArrayBuffer> {
    this.#received += samples.length;
    const all = concatSamples([this.#waiting, samples]);
    const whole = all.length - (all.length % PACKET_SAMPLES);
    for (let at = 0; at < whole; at += PACKET_SAMPLES) this.#packet(all.subarray(at));
    this.#waiting = all.slice(whole);
    return Buffer.concat([...this.#heads(), ...this.#flush(this.#encoded, false)]);
  }

  // The last page states the number of samples, so that decoders drop the padding.
  finish(): Uint8Array<ArrayBuffer> {
    const end = PRE_SKIP + this.#received;
    while (this.#encoded < end) {
      this.#packet(this.#waiting);
      this.#waiting = new Float32Array(0);
    }
    return Buffer.concat([...this.#heads(), ...this.#flush(end, true)]);
  }

  close(): void {
    releaseCodec(this.#codec);
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

  *#flush(end: number, isLast: boolean): Generator<Uint8Array> {
    let position = this.#encoded - this.#packets.length * PACKET_SAMPLES;
    let group: Uint8Array[] = [];
    let lacing = 0;
    for (const packet of this.#packets.splice(0)) {
      const own = Math.floor(packet.length / MOST_LACING) + 1;
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

  #page(packets: readonly Uint8Array[], end: number, isLast: boolean): Uint8Array {
    const sequence = this.#pages;
    this.#pages += 1;
    const flags = (sequence === 0 ? FIRST_PAGE : 0) | (isLast ? LAST_PAGE : 0);
    const table = packets.flatMap(({ length }) => [
      ...Array.from({ length: Math.floor(length / MOST_LACING) }, () => MOST_LACING),
      length % MOST_LACING,
    ]);
    const header = { flags, granule: BigInt(end), serial: this.#serialNumber, sequence };
    return writeOggPage({ ...header, table: Uint8Array.from(table) }, packets);
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

interface OpusCodec {
  encode(samples: Buffer, frameSize: number): Uint8Array;
  encoderCTL(request: number, value: number): void;
}

// The opusscript package writes its input at twice the address that it has reserved. With at most this many encoders,
// which are reused and never freed, nothing else uses the memory at that address.
const MOST_CODECS = 16;
const BITS_PER_SECOND = 32_000;
const RESET_STATE = 4_028;

const idle: OpusCodec[] = [];
const waiting: ((codec: OpusCodec) => void)[] = [];
let codecs = 0;

async function acquireCodec(): Promise<OpusCodec> {
  const free = idle.pop();
  if (free !== undefined) return free;
  if (codecs >= MOST_CODECS) return new Promise((resolve) => void waiting.push(resolve));
  codecs += 1;
  const { default: OpusScript } = await import('opusscript');
  const codec = new OpusScript(OPUS_SAMPLE_RATE, 1, OpusScript.Application.AUDIO);
  codec.setBitrate(BITS_PER_SECOND);
  return codec;
}

function releaseCodec(codec: OpusCodec): void {
  codec.encoderCTL(RESET_STATE, 0);
  const next = waiting.shift();
  if (next === undefined) idle.push(codec);
  else next(codec);
}
