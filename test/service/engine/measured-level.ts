import type { EncodedFormat } from '../../../src/service/speech/encode.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { PCM_SAMPLE_RATE, samplesOf } from '../../../src/audio/encode/pcm.ts';
import type { SpeechChunk } from '../../../src/service/engine/speech-engine.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { independentMeter } from '../../harness/independent-meter.ts';
import { writeWav } from '../../harness/wav.ts';
import { speak } from './speak.ts';

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
  const sentences = spokenPassage(delivered);
  async function* chunks(): AsyncGenerator<SpeechChunk> {
    for (const samples of sentences) yield { samples, sampleRate: 16_000 };
  }
  const parts: Uint8Array[] = [];
  for await (const part of encodeSpeech(format, chunks(), { gainDb })) parts.push(part);
  const bytes = Buffer.concat(parts);
  const whole = format === 'wav' ? writeWav(samplesOf(bytes.subarray(44)), 16_000) : bytes;
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

const spoken = new Map<string, readonly Float32Array[]>();

function spokenPassage(delivered: Omit<Delivered, 'format' | 'gainDb'>): readonly Float32Array[] {
  const name = JSON.stringify(delivered);
  const known = spoken.get(name) ?? PASSAGE.map((text) => speak(text, delivered));
  spoken.set(name, known);
  return known;
}

async function decoded(bytes: Uint8Array) {
  const { channels, sampleRate } = await decodeAudio(bytes);
  return { samples: channels[0] ?? new Float32Array(0), sampleRate };
}
