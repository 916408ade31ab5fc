import { createHash } from 'node:crypto';
import type { EncodeOptions } from './target.ts';
import { mediabunnyTarget } from './target.ts';
import { littleEndian } from './pcm.ts';

// The block STREAMINFO of a FLAC file, after the signature and the head of the block (RFC 9639, section 8.2).
const STREAM_INFO_OFFSET = 8;
const BLOCK_SAMPLES = 4096;

/**
 * Encodes mono samples as a FLAC file of 16 bits, without loss if the samples come from 16 bits. The header states the
 * number of samples and their MD5, so that players can check them.
 */
export async function encodeFlac(
  sound: AsyncIterable<Float32Array>,
  { output, sampleRate }: Pick<EncodeOptions, 'output' | 'sampleRate'>,
): Promise<void> {
  const [media, { registerFlacEncoder }] = await Promise.all([
    import('mediabunny'),
    import('@mediabunny/flac-encoder'),
  ]);
  registerFlacEncoder();
  const file = new media.Output({
    // Writes the header first, so that a stream has one too.
    format: new media.FlacOutputFormat({ appendOnly: true }),
    target: new media.StreamTarget(mediabunnyTarget(output)),
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
