import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudioFormat } from '../../../contract/values.ts';
import type { EncodedFormat } from '../../speech/encode.ts';
import { amplify, gainOf, createResampler, loadSpeex, type Resampler } from '../resample.ts';
import { EngineError, type SpeechChunk } from '../speech-engine.ts';
import type { AudioEncoder, EncoderInput } from './pcm.ts';

export interface EncodeOptions {
  /**
   * Change of level in decibels. Peaks that it would put above full scale are bent, not cut.
   * @default 0
   */
  readonly gainDb?: number | undefined;
  /**
   * How many samples all chunks have together, where that is known: it makes the lengths in a WAV
   * header true. Without it they say that the end is not known.
   */
  readonly totalSamples?: number | undefined;
  /**
   * Tells streams of Opus apart that are to be joined.
   * @default 1
   */
  readonly streamNumber?: number | undefined;
}

/**
 * Speech as the bytes of one file, while it is spoken: the first leave after the first chunk. mp3 and
 * ogg have 44.1 kHz, opus 48 kHz, pcm 24 kHz, wav the rate of the speech. Lets other work go on after every quarter of a second
 * of audio. Closing the iterator closes that of the chunks.
 *
 * @throws EngineError `failed` when there is no sample, or the rate changes; whatever the chunks throw
 */
export async function* encodeSpeech(
  format: EncodedFormat,
  chunks: AsyncIterable<SpeechChunk>,
  options: EncodeOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const gain = gainOf(options.gainDb ?? 0);
  const loading = FORMATS[format](options);
  loading.catch(() => {});
  let line: Line | undefined;
  try {
    for await (const chunk of chunks) {
      if (chunk.samples.length === 0) continue;
      line ??= await openLine(await loading, chunk.sampleRate, options.totalSamples);
      if (chunk.sampleRate !== line.sampleRate) {
        throw new EngineError('failed', 'The engine changed its sample rate within a text.');
      }
      for (const slice of slices(chunk)) {
        const louder = gain === 1 ? slice : amplify(slice, gain);
        yield* some(line.encoder.encode(line.resampler.push(louder)));
        await nextTurn();
      }
    }
    if (line === undefined) throw new EngineError('failed', 'The engine gave no sound.');
    yield* some(line.encoder.encode(line.resampler.finish()));
    yield* some(line.encoder.finish());
  } finally {
    line?.resampler.close();
    line?.encoder.close();
  }
}

/** A format with its code loaded. */
interface LoadedFormat {
  /** The rate that its files have; `undefined` where it is that of the speech. */
  readonly sampleRate: number | undefined;
  readonly encoderFor: (input: EncoderInput) => AudioEncoder;
}

/** Each makes ready all it can while the first chunk is spoken, so that it costs no time. */
const FORMATS: Readonly<Record<EncodedFormat, (options: EncodeOptions) => Promise<LoadedFormat>>> =
  {
    async wav() {
      const { createWavEncoder } = await import('./pcm.ts');
      return { sampleRate: undefined, encoderFor: createWavEncoder };
    },
    async pcm() {
      const [{ createPcmEncoder, PCM_SAMPLE_RATE }] = await Promise.all([
        import('./pcm.ts'),
        loadSpeex(),
      ]);
      return { sampleRate: PCM_SAMPLE_RATE, encoderFor: createPcmEncoder };
    },
    async mp3() {
      const { openMp3, MP3_SAMPLE_RATE } = await import('./wasm-encoder.ts');
      const [encoder] = await Promise.all([openMp3(), loadSpeex()]);
      return { sampleRate: MP3_SAMPLE_RATE, encoderFor: () => encoder };
    },
    async ogg() {
      const { openOgg, OGG_SAMPLE_RATE } = await import('./wasm-encoder.ts');
      const [encoder] = await Promise.all([openOgg(), loadSpeex()]);
      return { sampleRate: OGG_SAMPLE_RATE, encoderFor: () => encoder };
    },
    async opus({ streamNumber }) {
      const { openOpus, OPUS_SAMPLE_RATE } = await import('./opus.ts');
      const [encoder] = await Promise.all([openOpus(streamNumber), loadSpeex()]);
      return { sampleRate: OPUS_SAMPLE_RATE, encoderFor: () => encoder };
    },
  };

/** What samples go through on their way to the file. */
interface Line {
  readonly sampleRate: number;
  readonly resampler: Resampler;
  readonly encoder: AudioEncoder;
}

async function openLine(
  format: LoadedFormat,
  sampleRate: number,
  totalSamples: number | undefined,
): Promise<Line> {
  const outputRate = format.sampleRate ?? sampleRate;
  const encoder = format.encoderFor({ sampleRate: outputRate, totalSamples });
  return { sampleRate, encoder, resampler: await createResampler(sampleRate, outputRate) };
}

const SLICE_SECONDS = 0.25;

function* slices({ samples, sampleRate }: SpeechChunk): Generator<Float32Array> {
  const length = Math.max(1, Math.floor(sampleRate * SLICE_SECONDS));
  for (let start = 0; start < samples.length; start += length) {
    yield samples.subarray(start, start + length);
  }
}

function* some(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  if (bytes.length > 0) yield bytes;
}

/** Samples at 44.1 kHz that the encoder (576) and every decoder (529) of mp3 put before the sound. */
const MP3_DELAY_SAMPLES = 1_105;
const MP3_SAMPLE_RATE = 44_100;

/**
 * How much later than it was spoken a sound is heard when a stream of the format is decoded, in
 * milliseconds. An mp3 that begins with an Info tag has no delay, but a stream has none.
 */
export function codecDelayMs(format: AudioFormat): number {
  return format === 'mp3' ? (MP3_DELAY_SAMPLES * 1000) / MP3_SAMPLE_RATE : 0;
}
