import { createFileHead } from '../../audio/encode/file-head.ts';
import type { AudioEncoder } from '../../audio/encode/pcm.ts';
import { createWavEncoder } from '../../audio/encode/pcm.ts';
import { CODEC_LEVELS } from '../../audio/encode/peak-limiter.ts';
import { openMp3, openOgg } from '../../audio/encode/wasm-encoder.ts';
import { amplify, gainOf } from '../../audio/resample.ts';
import { SAMPLE_RATE } from './line-sound.ts';
import type { M4bOptions } from './m4b.ts';
import { encodeM4b } from './m4b.ts';
import { id3Tag } from './tags.ts';

/** Audio formats of a recording. Only mp3 and m4b files have tags and chapters. */
export const RECORDING_FORMATS = ['wav', 'ogg', 'mp3', 'm4b'] as const;
export type RecordingFormat = (typeof RECORDING_FORMATS)[number];

/** Encodes mono samples at 44.1 kHz, and writes the audio to the output file, which is already open. */
export async function encodeRecording(
  format: RecordingFormat,
  sound: AsyncIterable<Float32Array>,
  options: M4bOptions,
): Promise<void> {
  if (format === 'm4b') return encodeM4b(sound, options);
  const { chapters, output, tags, total } = options;
  const tag = format === 'mp3' ? await id3Tag(tags, chapters) : new Uint8Array(0);
  await output.write(tag);
  const head = createFileHead(format);
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return;
    for (const piece of head.pass(bytes)) await output.write(piece);
  };
  const encoder = await openEncoder(format);
  const gain = gainOf(CODEC_LEVELS[format].lossDb);
  try {
    for await (const piece of sound) {
      await write(encoder.encode(gain === 1 ? piece : amplify(piece, gain)));
    }
    await write(encoder.finish());
  } finally {
    encoder.close();
  }
  const start = head.finish({ samples: total, sampleRate: SAMPLE_RATE });
  if (start !== undefined) await output.overwrite(tag.length, start);
}

function openEncoder(format: 'wav' | 'ogg' | 'mp3'): Promise<AudioEncoder> {
  if (format === 'mp3') return openMp3();
  return format === 'ogg' ? openOgg() : Promise.resolve(createWavEncoder(SAMPLE_RATE));
}
