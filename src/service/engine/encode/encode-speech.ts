import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudioFormat } from '../../../contract/values.ts';
import type { EncodedFormat } from '../../speech/encode.ts';
import { amplify, gainOf, createResampler, loadSpeex, type Resampler } from '../resample.ts';
import { EngineError, type SpeechChunk } from '../speech-engine.ts';
import { OPUS_SAMPLE_RATE, openOpus } from './opus.ts';
import { createPcmEncoder, createWavEncoder, PCM_SAMPLE_RATE, type AudioEncoder } from './pcm.ts';
import { MP3_SAMPLE_RATE, OGG_SAMPLE_RATE, openMp3, openOgg } from './wasm-encoder.ts';

export interface EncodeOptions {
  /** Change of level in decibels, default 0. Peaks above full scale are limited, not clipped. */
  readonly gainDb?: number | undefined;
  /** Distinguishes streams of Opus that are to be joined, default 1. */
  readonly streamNumber?: number | undefined;
}

/** A format with its encoder loaded. */
interface LoadedFormat {
  /** Rate of its files; undefined where it is that of the speech. */
  readonly sampleRate: number | undefined;
  readonly encoderFor: (sampleRate: number) => AudioEncoder;
}

/** Each loads what it can while the first chunk is synthesized. */
const FORMATS: Readonly<
  Record<EncodedFormat, (streamNumber: number | undefined) => Promise<LoadedFormat>>
> = {
  wav: async () => ({ sampleRate: undefined, encoderFor: createWavEncoder }),
  pcm: () => load(PCM_SAMPLE_RATE, Promise.resolve(createPcmEncoder())),
  mp3: () => load(MP3_SAMPLE_RATE, openMp3()),
  ogg: () => load(OGG_SAMPLE_RATE, openOgg()),
  opus: (streamNumber) => load(OPUS_SAMPLE_RATE, openOpus(streamNumber)),
};

async function load(sampleRate: number, opening: Promise<AudioEncoder>): Promise<LoadedFormat> {
  const [encoder] = await Promise.all([opening, loadSpeex()]);
  return { sampleRate, encoderFor: () => encoder };
}

/**
 * Encodes speech as the bytes of one file while it is synthesized. mp3 and ogg have 44.1 kHz, opus 48 kHz, pcm 24 kHz, wav
 * the rate of the speech. Yields to the event loop after every quarter of a second of audio. Closing the iterator
 * closes that of the chunks.
 * @throws EngineError `failed` when there is no sample, or the rate changes; whatever the chunks throw
 */
export async function* encodeSpeech(
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  { gainDb = 0, streamNumber }: EncodeOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const gain = gainOf(gainDb);
  const loading = FORMATS[format](streamNumber);
  // Handled where it is awaited; until then it must not count as unhandled.
  loading.catch(() => {});
  let pipeline: Pipeline | undefined;
  try {
    for await (const chunk of chunks) {
      if (chunk.samples.length === 0) continue;
      pipeline ??= await openPipeline(await loading, chunk.sampleRate);
      if (chunk.sampleRate !== pipeline.sampleRate) {
        throw new EngineError('failed', 'The engine changed its sample rate within a text.');
      }
      for (const slice of slices(chunk)) {
        const louder = gain === 1 ? slice : amplify(slice, gain);
        const bytes = pipeline.encoder.encode(pipeline.resampler.push(louder));
        if (bytes.length > 0) yield bytes;
        await nextTurn();
      }
    }
    if (pipeline === undefined) throw new EngineError('failed', 'The engine gave no sound.');
    for (const bytes of [
      pipeline.encoder.encode(pipeline.resampler.finish()),
      pipeline.encoder.finish(),
    ]) {
      if (bytes.length > 0) yield bytes;
    }
  } finally {
    pipeline?.resampler.close();
    pipeline?.encoder.close();
  }
}

interface Pipeline {
  readonly sampleRate: number;
  readonly resampler: Resampler;
  readonly encoder: AudioEncoder;
}

async function openPipeline(format: LoadedFormat, sampleRate: number): Promise<Pipeline> {
  const outputRate = format.sampleRate ?? sampleRate;
  const encoder = format.encoderFor(outputRate);
  return { sampleRate, encoder, resampler: await createResampler(sampleRate, outputRate) };
}

const SLICE_SECONDS = 0.25;

function* slices({ samples, sampleRate }: SpeechChunk): Generator<Float32Array> {
  const length = Math.max(1, Math.floor(sampleRate * SLICE_SECONDS));
  for (let start = 0; start < samples.length; start += length) {
    yield samples.subarray(start, start + length);
  }
}

/** Samples that the encoder (576) and every decoder (529) of mp3 add before the sound. */
const MP3_DELAY_SAMPLES = 1_105;

/**
 * Returns the delay of sound in a decoded stream of the format, in milliseconds. An Info tag would remove that of
 * an mp3, but a stream has none.
 */
export function codecDelayMs(format: AudioFormat): number {
  return format === 'mp3' ? (MP3_DELAY_SAMPLES * 1000) / MP3_SAMPLE_RATE : 0;
}
