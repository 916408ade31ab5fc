import { createMp3Encoder, createOggEncoder } from 'wasm-media-encoders';
import { OGG_HEAD_BYTES, bodyLength, readOggHeader, writeOggPage } from '../../src/audio/ogg.ts';
import { writeWav } from '../harness/wav.ts';

/** Returns `seconds` of two sines in one channel, which no encoder skips. */
export function tone(seconds: number, sampleRate: number): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => {
    const time = index / sampleRate;
    return 0.4 * Math.sin(time * 2765) + 0.2 * Math.sin(time * 8200);
  });
}

export interface Mp3Options {
  readonly sampleRate?: 24_000 | 44_100 | 48_000;
  readonly bitrate?: 64 | 128;
}

/** Returns an mp3 without tags, like a stream. */
export async function mp3Of(seconds: number, options: Mp3Options = {}): Promise<Buffer> {
  const { sampleRate = 44_100, bitrate = 64 } = options;
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels: 1, bitrate });
  const body = Buffer.from(encoder.encode([tone(seconds, sampleRate)]));
  return Buffer.concat([body, encoder.finalize()]);
}

/** Returns a whole Ogg Vorbis file. */
export async function oggOf(seconds: number, sampleRate = 44_100): Promise<Buffer> {
  const encoder = await createOggEncoder();
  encoder.configure({ sampleRate, channels: 1, vbrQuality: 3 });
  const body = Buffer.from(encoder.encode([tone(seconds, sampleRate)]));
  return Buffer.concat([body, encoder.finalize()]);
}

export function wavOf(seconds: number, sampleRate = 24_000): Buffer {
  return writeWav(tone(seconds, sampleRate), sampleRate);
}

/**
 * An Info tag frame to be put before an mp3 of 44.1 kHz, mono, 64 kbit/s: what an encoder writes that
 * knows the length beforehand.
 */
export function infoFrame(tag: {
  readonly frames: number;
  readonly bytes?: number;
  readonly delay: number;
  readonly padding: number;
}): Buffer {
  const frame = Buffer.alloc(208);
  frame.set([0xff, 0xfb, 0x50, 0xc4]);
  frame.write('Info', 21, 'latin1');
  frame.writeUInt32BE(tag.bytes === undefined ? 1 : 3, 25);
  frame.writeUInt32BE(tag.frames, 29);
  if (tag.bytes !== undefined) frame.writeUInt32BE(tag.bytes, 33);
  const lame = tag.bytes === undefined ? 33 : 37;
  frame.write('LAME3.100', lame, 'latin1');
  frame.writeUIntBE(tag.delay * 4096 + tag.padding, lame + 21, 3);
  return frame;
}

/** Returns an ID3v2.4 tag with `content` bytes. */
export function id3v2(content: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (content >> shift) & 0x7f);
  return Buffer.concat([
    Buffer.from('ID3\x04\x00\x00', 'latin1'),
    Buffer.from(size),
    Buffer.alloc(content),
  ]);
}

export function id3v1(): Buffer {
  return Buffer.concat([Buffer.from('TAG', 'latin1'), Buffer.alloc(125, 0x20)]);
}

/** Returns an APEv2 tag with a header and `items` bytes. */
export function apeTag(items: number): Buffer {
  const edge = (flags: number) => {
    const part = Buffer.alloc(32);
    part.write('APETAGEX', 'latin1');
    part.writeUInt32LE(2000, 8);
    part.writeUInt32LE(items + 32, 12);
    part.writeUInt32LE(1, 16);
    part.writeUInt32LE(flags, 20);
    return part;
  };
  return Buffer.concat([edge(0xa000_0000), Buffer.alloc(items, 0x41), edge(0x8000_0000)]);
}

export interface OggPage {
  readonly serial?: number;
  readonly sequence: number;
  readonly granule: bigint;
  readonly flags?: number;
  readonly packets: readonly Uint8Array[];
}

/** Returns an Ogg page of whole packets, with a checksum computed bit by bit. */
export function oggPage({ serial = 7, sequence, granule, flags = 0, packets }: OggPage): Buffer {
  const table = packets.flatMap((packet) => [
    ...Array.from({ length: Math.floor(packet.length / 255) }, () => 255),
    packet.length % 255,
  ]);
  const header = Buffer.alloc(27);
  header.write('OggS', 'latin1');
  header[5] = flags;
  header.writeBigInt64LE(granule, 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = table.length;
  const page = Buffer.concat([header, Buffer.from(table), ...packets]);
  page.writeUInt32LE(plainChecksum(page), 22);
  return page;
}

/** Returns Ogg Opus with `packets` frames of 20 ms; the frames are noise, as only the container is read. */
export function opusOf(packets: number, serial = 7): Buffer {
  const head = Buffer.from('OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00', 'latin1');
  const tags = Buffer.from('OpusTags\x00\x00\x00\x00\x00\x00\x00\x00', 'latin1');
  const pages = [
    oggPage({ serial, sequence: 0, granule: 0n, flags: 2, packets: [head] }),
    oggPage({ serial, sequence: 1, granule: 0n, packets: [tags] }),
  ];
  for (let packet = 1; packet <= packets; packet += 1) {
    const flags = packet === packets ? 4 : 0;
    const granule = BigInt(packet * 960 + 312);
    const body = Buffer.alloc(60 + ((packet * 97) % 400), packet);
    pages.push(oggPage({ serial, sequence: packet + 1, granule, flags, packets: [body] }));
  }
  return Buffer.concat(pages);
}

/** Returns an Opus file with another output gain in its first page (RFC 7845, section 5.1). */
export function withGain(opus: Buffer, gainDb: number): Buffer {
  const header = readOggHeader(opus);
  const start = OGG_HEAD_BYTES + header.table.length;
  const end = start + bodyLength(header.table);
  const head = Buffer.from(opus.subarray(start, end));
  head.writeInt16LE(gainDb * 256, 16);
  return Buffer.concat([writeOggPage(header, [head]), opus.subarray(end)]);
}

function plainChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
  }
  return sum >>> 0;
}
