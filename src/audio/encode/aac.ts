import type { EncodedAudioPacketSource, EncodedPacket } from 'mediabunny';
import { box, u32, u32Array } from './mp4-box.ts';

const BITS_PER_SECOND_MAX = 96_000;
const BITS_PER_SAMPLE_MAX = 4;

/** Number of samples in each packet of AAC. The encoder also adds as many before the sound. */
export const PACKET_SAMPLES = 1024;

/** Describes the packets of a sound for a file that contains them. */
export type AacDescription = Parameters<EncodedAudioPacketSource['add']>[1];

/** Packets that follow each other. */
export interface AacChunk {
  readonly packets: readonly EncodedPacket[];
  readonly description: AacDescription;
}

/** Encodes mono samples as AAC. Yields about a second at a time; all chunks but the last have equally many packets. */
export async function* encodeAac(
  sound: AsyncIterable<Float32Array>,
  sampleRate: number,
): AsyncGenerator<AacChunk> {
  const [media, { registerAacEncoder }] = await Promise.all([
    import('mediabunny'),
    import('@mediabunny/aac-encoder'),
  ]);
  registerAacEncoder();
  const packets: EncodedPacket[] = [];
  let description: AacDescription;
  const source = new media.AudioSampleSource({
    codec: 'aac',
    bitrate: Math.min(BITS_PER_SECOND_MAX, sampleRate * BITS_PER_SAMPLE_MAX),
    onEncodedPacket(packet, meta) {
      packets.push(packet);
      description ??= meta;
    },
  });
  // An MP4 file of Mediabunny would keep an object for each packet in memory until its end.
  const file = new media.Output({
    format: new media.AdtsOutputFormat(),
    target: new media.NullTarget(),
  });
  file.addAudioTrack(source);
  const most = Math.round(sampleRate / PACKET_SAMPLES);
  let samples = 0;
  try {
    await file.start();
    for await (const data of sound) {
      if (data.length === 0) continue;
      const layout = { format: 'f32', numberOfChannels: 1, sampleRate } as const;
      const timestamp = samples / sampleRate;
      const sample = new media.AudioSample({ ...layout, data, timestamp });
      await source.add(sample);
      sample.close();
      samples += data.length;
      while (packets.length >= most) yield { packets: packets.splice(0, most), description };
    }
    source.close();
    await file.finalize();
    while (packets.length > 0) yield { packets: packets.splice(0, most), description };
  } finally {
    if (file.state !== 'finalized') await file.cancel();
  }
}

/** The places of the packets of a file: the number of bytes of each, and the offset of each chunk. */
export class PacketTable {
  readonly #sizes: number[] = [];
  readonly #offsets: number[] = [];
  // Number of packets in all chunks but the last, and in the last.
  #each = 0;
  #last = 0;
  #bytes = 0;
  #mostBytes = 0;

  /** @param offset offset of the chunk in the file */
  addChunk(offset: number, packets: readonly EncodedPacket[]): void {
    const sizes = packets.map(({ byteLength }) => byteLength);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#sizes.push(...sizes);
    this.#offsets.push(offset);
    if (this.#each === 0) this.#each = packets.length;
    this.#last = packets.length;
    this.#bytes += bytes;
    this.#mostBytes = Math.max(this.#mostBytes, bytes);
  }

  /** Returns the boxes of a sample table (ISO/IEC 14496-12, section 8.5) that follow the description of the codec. */
  boxes(): readonly Buffer[] {
    const chunks = this.#offsets.length;
    const runs = [1, this.#each, 1, ...(this.#last === this.#each ? [] : [chunks, this.#last, 1])];
    return [
      box('stts', u32(0, 1, this.#sizes.length, PACKET_SAMPLES)),
      box('stsc', u32(0, runs.length / 3, ...runs)),
      box('stsz', u32(0, 0, this.#sizes.length), u32Array(this.#sizes)),
      box('stco', u32(0, chunks), u32Array(this.#offsets)),
    ];
  }

  /** Returns the highest bit rate of a second, and the mean bit rate, each as four bytes. */
  bitRates(sampleRate: number): Buffer {
    const seconds = (this.#sizes.length * PACKET_SAMPLES) / sampleRate;
    const second = (this.#each * PACKET_SAMPLES) / sampleRate;
    return u32(Math.round((8 * this.#mostBytes) / second), Math.round((8 * this.#bytes) / seconds));
  }
}
