import type { EncodedFormat } from '../../../src/service/speech/encode.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { PCM_SAMPLE_RATE, samplesOf } from '../../../src/audio/encode/pcm.ts';
import { createHibariEngine } from '../../../src/service/engine/hibari/engine.ts';
import { HIBARI_WORKER_FILE } from '../../../src/service/worker-file.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { independentMeter } from '../../harness/independent-meter.ts';
import { writeWav } from '../../harness/wav.ts';

/** How the passage is spoken; the defaults are WAV and no change of level. */
export interface Delivered {
  readonly voice: string;
  readonly pitch: number;
  readonly speed: number;
  readonly format?: EncodedFormat;
  readonly gainDb?: number;
}

/** None of these sentences is among those from which the levels of the voices were taken. */
const PASSAGE = [
  'The quick ships of the merchant came home before the first snow.',
  'What would you do, if you had only one hour left in this town?',
  'Every Tuesday, my uncle George buys a newspaper and a bag of oranges.',
  'Smoke rose from the chimneys; the valley below was perfectly still.',
  'Voices vary a great deal, but nobody should need to touch the volume.',
];

/** Speaks a passage, encodes and decodes it; returns its integrated loudness and its true peak. */
export async function measured({ format = 'wav', gainDb = 0, ...delivered }: Delivered) {
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE });
  const request = { text: PASSAGE.join(' '), ...delivered };
  const chunks = engine.synthesize(request, new AbortController().signal);
  const parts: Uint8Array[] = [];
  for await (const part of encodeSpeech(format, chunks, { gainDb })) parts.push(part);
  await engine.close();
  const bytes = Buffer.concat(parts);
  const whole = format === 'wav' ? writeWav(samplesOf(bytes.subarray(44)), 24_000) : bytes;
  const { samples, sampleRate } =
    format === 'pcm'
      ? { samples: samplesOf(bytes), sampleRate: PCM_SAMPLE_RATE }
      : await decoded(whole);
  const meter = await independentMeter();
  return {
    lufs: meter.mono(sampleRate, samples),
    truePeakDb: meter.truePeakDb(sampleRate, samples),
    samples,
    sampleRate,
  };
}

async function decoded(bytes: Uint8Array) {
  const { channels, sampleRate } = await decodeAudio(bytes);
  return { samples: channels[0] ?? new Float32Array(0), sampleRate };
}
