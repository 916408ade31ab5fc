import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudioFormat } from '../../../contract/values.ts';
import type { EncodedFormat } from '../../speech/encode.ts';
import type { Resampler } from '../../../audio/resample.ts';
import { amplify, gainOf, createResampler, loadSpeex } from '../../../audio/resample.ts';
import type { SpeechChunk } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import { OPUS_SAMPLE_RATE, openOpus } from '../../../audio/encode/opus.ts';
import type { AudioEncoder } from '../../../audio/encode/pcm.ts';
import { createPcmEncoder, createWavEncoder, PCM_SAMPLE_RATE } from '../../../audio/encode/pcm.ts';
import { CODEC_LEVELS, MAX_TRUE_PEAK_DB, PeakLimiter } from '../../../audio/encode/peak-limiter.ts';
import { OGG_SAMPLE_RATE, openMp3, openOgg } from '../../../audio/encode/wasm-encoder.ts';

export interface EncodeSpeechOptions {
  /** Change of the audio level in decibels, default 0. */
  readonly gainDb?: number | undefined;
  /** Serial number of the Ogg Opus stream, default 1. Streams that are concatenated need different serial numbers. */
  readonly streamNumber?: number | undefined;
}

// The rate of the built-in voices and of Kokoro. At 44.1 kHz, encoding speech takes twice the processor time and says
// nothing more. Always the same, because mp3 files of several voices are joined without encoding them again.
const MP3_SAMPLE_RATE = 24_000;

const FORMATS = {
  pcm: { outputRate: PCM_SAMPLE_RATE, open: createPcmEncoder },
  mp3: { outputRate: MP3_SAMPLE_RATE, open: () => openMp3(MP3_SAMPLE_RATE) },
  ogg: { outputRate: OGG_SAMPLE_RATE, open: openOgg },
  opus: { outputRate: OPUS_SAMPLE_RATE, open: openOpus },
} as const;

/**
 * Encodes speech as one audio file while the engine is still speaking. The sample rate is 24 kHz for mp3 and pcm, 44.1
 * kHz for ogg and 48 kHz for opus; wav keeps the sample rate of the engine. True peaks of the decoded audio stay below
 * -1 dB. Closing the returned iterator also closes `chunks`.
 * @throws EngineError `failed` if the speech has no samples or changes its sample rate
 * @throws the error that reading `chunks` throws
 */
export async function* encodeSpeech(
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  { gainDb = 0, streamNumber }: EncodeSpeechOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const gain = gainOf(gainDb + CODEC_LEVELS[format].lossDb);
  // Loads while the first chunk is synthesized; a failure is thrown below.
  const loading = load(format, streamNumber);
  loading.catch(() => {});
  let pipeline: Pipeline | undefined;
  try {
    for await (const chunk of chunks) {
      if (chunk.samples.length === 0) continue;
      pipeline ??= await openPipeline(format, await loading, chunk.sampleRate);
      if (chunk.sampleRate !== pipeline.sampleRate) {
        throw new EngineError('failed', 'The engine changed its sample rate within a text.');
      }
      for (const slice of slices(chunk)) {
        const limited = pipeline.limiter.push(gain === 1 ? slice : amplify(slice, gain));
        const bytes = pipeline.encoder.encode(pipeline.resampler.push(limited));
        if (bytes.length > 0) yield bytes;
        await nextTurn();
      }
    }
    if (pipeline === undefined) throw new EngineError('failed', 'The engine produced no audio.');
    const { encoder, limiter, resampler } = pipeline;
    for (const bytes of [
      encoder.encode(resampler.push(limiter.finish())),
      encoder.encode(resampler.finish()),
      encoder.finish(),
    ]) {
      if (bytes.length > 0) yield bytes;
    }
  } finally {
    pipeline?.resampler.close();
    pipeline?.encoder.close();
    // Speech that failed before its first samples must also give back its encoder.
    if (pipeline === undefined) void loading.then((encoder) => encoder?.close()).catch(() => {});
  }
}

interface Pipeline {
  readonly sampleRate: number;
  readonly limiter: PeakLimiter;
  readonly resampler: Resampler;
  readonly encoder: AudioEncoder;
}

async function load(
  format: EncodedFormat,
  streamNumber: number | undefined,
): Promise<AudioEncoder | undefined> {
  if (format === 'wav') return undefined;
  const { open, outputRate } = FORMATS[format];
  // Most engines speak at 24 kHz, and then nothing is resampled.
  const needsSpeex = outputRate !== 24_000;
  const [encoder] = await Promise.all([open(streamNumber), needsSpeex ? loadSpeex() : undefined]);
  return encoder;
}

async function openPipeline(
  format: EncodedFormat,
  loaded: AudioEncoder | undefined,
  sampleRate: number,
): Promise<Pipeline> {
  const outputRate = format === 'wav' ? sampleRate : FORMATS[format].outputRate;
  const encoder = loaded ?? createWavEncoder(outputRate);
  const resampler = await createResampler(sampleRate, outputRate);
  const limiter = new PeakLimiter(
    sampleRate,
    gainOf(MAX_TRUE_PEAK_DB - CODEC_LEVELS[format].riseDb),
  );
  return { sampleRate, encoder, limiter, resampler };
}

const SLICE_SECONDS = 0.25;

function* slices({ samples, sampleRate }: SpeechChunk): Generator<Float32Array> {
  const length = Math.max(1, Math.floor(sampleRate * SLICE_SECONDS));
  for (let start = 0; start < samples.length; start += length) {
    yield samples.subarray(start, start + length);
  }
}

/** Number of silent samples at the start of a decoded mp3 file: 576 from the encoder, 529 from the decoder. */
const MP3_DELAY_SAMPLES = 1_105;

/**
 * Returns the duration of the silence that the codec adds at the start of a stream, in milliseconds; 0 except for mp3.
 * Players play this silence, because a streamed mp3 has no Info tag that tells them to skip it.
 */
export function codecDelayMs(format: AudioFormat): number {
  return format === 'mp3' ? (MP3_DELAY_SAMPLES * 1000) / MP3_SAMPLE_RATE : 0;
}
