import { createHash } from 'node:crypto';
import { pictureBlock, vorbisComments } from './comments.ts';
import { littleEndian } from './pcm.ts';
import type { Marks } from './tags.ts';
import { NO_MARKS } from './tags.ts';
import type { EncoderOutput } from '../../durable/output.ts';
import type { EncodeOptions } from './target.ts';
import { mediabunnyTarget } from './target.ts';

// The block STREAMINFO of a FLAC file, after the signature and the head of the block (RFC 9639, section 8.2).
const STREAM_INFO_OFFSET = 8;
const BLOCK_SAMPLES = 4096;

/**
 * Encodes mono samples as a FLAC file of 16 bits, without loss if the samples come from 16 bits. The header states the
 * number of samples and their MD5, so that players can check them.
 */
export async function encodeFlac(
  sound: AsyncIterable<Float32Array>,
  { marks = NO_MARKS, output, sampleRate }: EncodeOptions,
): Promise<void> {
  const [media, { registerFlacEncoder }] = await Promise.all([
    import('mediabunny'),
    import('@mediabunny/flac-encoder'),
  ]);
  registerFlacEncoder();
  const file = new media.Output({
    // Writes the header first, so that a stream has one too.
    format: new media.FlacOutputFormat({ appendOnly: true }),
    target: new media.StreamTarget(mediabunnyTarget(new FlacHead(output, marks))),
  });
  const source = new media.AudioSampleSource({ codec: 'flac' });
  file.addAudioTrack(source);
  const md5 = createHash('md5');
  let samples = 0;
  try {
    await file.start();
    for await (const piece of sound) {
      if (piece.length === 0) continue;
      const data = levelsOf(piece);
      md5.update(littleEndian(new Uint8Array(data.slice().buffer)));
      const format = { format: 's16', numberOfChannels: 1, sampleRate } as const;
      const sample = new media.AudioSample({ ...format, data, timestamp: samples / sampleRate });
      await source.add(sample);
      sample.close();
      samples += piece.length;
    }
    source.close();
    await file.finalize();
  } catch (error) {
    await file.cancel();
    throw error;
  }
  await output.overwrite(STREAM_INFO_OFFSET, streamInfo(sampleRate, samples, md5.digest()));
  await output.overwrite(AFTER_STREAM_INFO, metadataBlocks(marks));
}

// Replaces the metadata of the encoder, except for STREAMINFO, which is the first block.
class FlacHead {
  readonly #output: EncoderOutput;
  readonly #marks: Marks;
  #head: Uint8Array | undefined = new Uint8Array(0);
  bytes = 0;

  constructor(output: EncoderOutput, marks: Marks) {
    this.#output = output;
    this.#marks = marks;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.bytes += bytes.length;
    if (this.#head === undefined) return this.#output.write(bytes);
    this.#head = Buffer.concat([this.#head, bytes]);
    const end = endOfMetadata(this.#head);
    if (end === undefined) return undefined;
    const start = Buffer.from(this.#head.subarray(0, AFTER_STREAM_INFO));
    start.writeUInt8(STREAM_INFO, SIGNATURE_BYTES);
    await this.#output.write(Buffer.concat([start, metadataBlocks(this.#marks)]));
    const rest = this.#head.subarray(end);
    this.#head = undefined;
    if (rest.length > 0) await this.#output.write(rest);
  }

  overwrite(): Promise<void> {
    throw new Error('The FLAC encoder wrote bytes again.');
  }
}

const SIGNATURE_BYTES = 4;
const BLOCK_HEAD_BYTES = 4;
const AFTER_STREAM_INFO = STREAM_INFO_OFFSET + 34;
const STREAM_INFO = 0;
const VORBIS_COMMENT = 4;
const PICTURE = 6;
const LAST_BLOCK = 0x80;

// Returns undefined if the last block is not there yet.
function endOfMetadata(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = SIGNATURE_BYTES; at + BLOCK_HEAD_BYTES <= bytes.length;) {
    const head = view.getUint32(at);
    at += BLOCK_HEAD_BYTES + (head & 0xff_ffff);
    if (head >>> 31 === 1) return at <= bytes.length ? at : undefined;
  }
  return undefined;
}

function metadataBlocks({ chapters, tags }: Marks): Buffer {
  const { cover } = tags;
  const blocks = [
    { type: VORBIS_COMMENT, body: vorbisComments(tags, chapters()) },
    ...(cover === undefined ? [] : [{ type: PICTURE, body: pictureBlock(cover) }]),
  ];
  return Buffer.concat(
    blocks.flatMap(({ body, type }, index) => {
      const head = Buffer.alloc(BLOCK_HEAD_BYTES);
      head.writeUIntBE(body.length, 1, 3);
      head.writeUInt8(type | (index === blocks.length - 1 ? LAST_BLOCK : 0), 0);
      return [head, body];
    }),
  );
}

function streamInfo(sampleRate: number, samples: number, md5: Buffer): Buffer {
  // Unknown frame sizes are 0.
  const info = Buffer.alloc(18);
  info.writeUInt16BE(BLOCK_SAMPLES, 0);
  info.writeUInt16BE(BLOCK_SAMPLES, 2);
  // 20 bits of the sample rate, 3 for one channel, 5 for samples of 16 bits, 36 of the number of samples.
  const total = BigInt(samples);
  info.writeBigUInt64BE((BigInt(sampleRate) << 44n) | (15n << 36n) | total, 10);
  return Buffer.concat([info, md5]);
}

// Unlike `pcmBytes`, this is the exact inverse of `samplesOf`.
function levelsOf(samples: Float32Array): Int16Array<ArrayBuffer> {
  const levels = new Int16Array(samples.length);
  for (let index = 0; index < levels.length; index += 1) {
    const level = Math.round((samples[index] ?? 0) * 0x8000);
    levels[index] = Math.min(0x7fff, Math.max(-0x8000, level));
  }
  return levels;
}
