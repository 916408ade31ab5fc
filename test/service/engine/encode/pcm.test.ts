import { expect, test } from 'vitest';
import { encodeSpeech } from '../../../../src/service/engine/encode/encode-speech.ts';
import { pcmBytes } from '../../../../src/audio/encode/pcm.ts';
import type { SpeechChunk } from '../../../../src/service/engine/speech-engine.ts';

const RATE = 16_000;
const HERTZ = 440;

async function* tone(seconds: number): AsyncGenerator<SpeechChunk> {
  const samples = Float32Array.from(
    { length: RATE * seconds },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * HERTZ * at) / RATE),
  );
  yield { samples, sampleRate: RATE };
}

async function samplesOf(stream: AsyncIterable<Uint8Array>): Promise<readonly number[]> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  const bytes = Buffer.concat(parts);
  return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
}

test('pcm is 24,000 samples of 16 bits a second, and nothing else', async () => {
  const samples = await samplesOf(encodeSpeech('pcm', tone(2)));
  expect(samples).toHaveLength(2 * 24_000);
  const middle = samples.slice(6_000, 42_000);
  const crossings = middle.filter(
    (sample, at) => at > 0 && (middle[at - 1] ?? 0) < 0 && sample >= 0,
  );
  expect(Math.abs(crossings.length / 1.5 - HERTZ)).toBeLessThan(2);
  expect(Math.max(...middle) / 0x7fff).toBeCloseTo(0.5, 1);
});

test('a sample is little-endian, and beyond full scale it is full scale', () => {
  expect([...pcmBytes(Float32Array.of(0, 1, -1, 3, -3, 0.5))]).toEqual([
    0, 0, 0xff, 0x7f, 0x01, 0x80, 0xff, 0x7f, 0x01, 0x80, 0x00, 0x40,
  ]);
});
