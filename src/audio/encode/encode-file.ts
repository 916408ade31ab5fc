import { abortable } from '../../system/concurrency.ts';
import type { FileFormat } from '../../contract/values.ts';
import { amplify, createResampler, gainOf } from '../resample.ts';
import { createFileHead } from './file-head.ts';
import { encodeFlac } from './flac.ts';
import { encodeMp4 } from './mp4.ts';
import { OggFileHead } from './ogg-head.ts';
import { openOpus, OPUS_SAMPLE_RATE } from './opus.ts';
import type { AudioEncoder } from './pcm.ts';
import { createWavEncoder } from './pcm.ts';
import { CODEC_LEVELS } from './peak-limiter.ts';
import { id3Tag, isUnmarked, NO_MARKS } from './tags.ts';
import type { EncoderOutput } from '../../durable/output.ts';
import type { EncodeOptions } from './target.ts';
import { OGG_SAMPLE_RATE, openMp3, openOgg } from './wasm-encoder.ts';

/**
 * Encodes mono samples, and writes one audio file while they arrive. Formats that do not have the sample rate are
 * resampled; `wav` and `flac` have every rate.
 * @returns the sample rate of the file in Hz
 */
export async function encodeFile(
  format: FileFormat,
  sound: AsyncIterable<Float32Array>,
  options: EncodeOptions,
): Promise<number> {
  const sampleRate = fileRate(format, options.sampleRate);
  const samples = resampled(sound, options.sampleRate, sampleRate);
  const failure = new AbortController();
  const output = watched(options.output, failure);
  const target = { output, sampleRate, marks: options.marks };
  const encoding =
    format === 'm4a' || format === 'm4b'
      ? encodeMp4(format, samples, target)
      : format === 'flac'
        ? encodeFlac(samples, target)
        : encodeStream(format, samples, target);
  await abortable(encoding, failure.signal);
  return sampleRate;
}

// Mediabunny waits forever for an output that failed, such as a closed pipe or a full disk.
function watched(output: EncoderOutput, failure: AbortController): EncoderOutput {
  const watch = async (work: Promise<void>): Promise<void> => {
    await work.catch((error: unknown) => {
      failure.abort(error);
      throw error;
    });
  };
  return {
    get bytes() {
      return output.bytes;
    },
    write: (bytes) => watch(output.write(bytes)),
    overwrite: (position, bytes) => watch(output.overwrite(position, bytes)),
  };
}

// The sample rates of mp3 and AAC from 16 kHz (ISO/IEC 11172-3, 13818-3 and 14496-3); players do not support all lower ones.
const USUAL_RATES = new Set([16_000, 22_050, 24_000, 32_000, 44_100, 48_000]);

function fileRate(format: FileFormat, given: number): number {
  switch (format) {
    case 'wav':
    case 'flac':
      return given;
    case 'ogg':
      return OGG_SAMPLE_RATE;
    case 'opus':
      return OPUS_SAMPLE_RATE;
    case 'mp3':
    case 'm4a':
    case 'm4b':
      return USUAL_RATES.has(given) ? given : 44_100;
  }
}

async function* resampled(
  sound: AsyncIterable<Float32Array>,
  from: number,
  to: number,
): AsyncGenerator<Float32Array> {
  const resampler = await createResampler(from, to);
  try {
    for await (const piece of sound) yield resampler.push(piece);
    yield resampler.finish();
  } finally {
    resampler.close();
  }
}

type StreamFormat = Exclude<FileFormat, 'flac' | 'm4a' | 'm4b'>;

async function encodeStream(
  format: StreamFormat,
  sound: AsyncIterable<Float32Array>,
  { marks = NO_MARKS, output, sampleRate }: EncodeOptions,
): Promise<void> {
  const tag = format === 'mp3' ? await id3Tag(marks) : new Uint8Array(0);
  if (tag.length > 0) await output.write(tag);
  const isTagged = (format === 'ogg' || format === 'opus') && !isUnmarked(marks);
  const head = isTagged ? new OggFileHead(format, marks) : createFileHead(format);
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return;
    for (const piece of head.pass(bytes)) await output.write(piece);
  };
  const encoder = await openEncoder(format, sampleRate);
  const gain = gainOf(CODEC_LEVELS[format].lossDb);
  let samples = 0;
  try {
    for await (const piece of sound) {
      samples += piece.length;
      await write(encoder.encode(gain === 1 ? piece : amplify(piece, gain)));
    }
    await write(encoder.finish());
  } finally {
    encoder.close();
  }
  const start = head.finish({ samples, sampleRate });
  if (start !== undefined) await output.overwrite(tag.length, start);
  // The times of the chapters may have changed.
  if (tag.length > 0) await output.overwrite(0, await id3Tag(marks));
}

function openEncoder(format: StreamFormat, sampleRate: number): Promise<AudioEncoder> {
  switch (format) {
    case 'wav':
      return Promise.resolve(createWavEncoder(sampleRate));
    case 'mp3':
      return openMp3(sampleRate);
    case 'ogg':
      return openOgg();
    case 'opus':
      return openOpus();
  }
}
