import { describe, expect, test } from 'vitest';
import { OggOpusDecoder } from 'ogg-opus-decoder';
import { encodeSpeech } from '../../../../src/service/engine/encode/encode-speech.ts';

const RATE = 16_000;
const SAMPLES = RATE + 123;

describe('speech as Opus', () => {
  test('is an Ogg stream of exactly the speech, whatever the packets', async () => {
    const decoded = await decode(await encoded(SAMPLES));
    expect(decoded.sampleRate).toBe(48_000);
    expect(decoded.samplesDecoded).toBe(3 * SAMPLES);
    expect(crossings(decoded.channelData[0])).toBeCloseTo(440 * 2 * (SAMPLES / RATE), -1);
  });

  test('is the same again, so that a client can skip the audio that it has played', async () => {
    const first = await encoded(SAMPLES);
    await encoded(777);
    expect((await encoded(SAMPLES)).equals(first)).toBe(true);
  });

  test('of many texts at once is the same as of one after the other', async () => {
    const first = await encoded(RATE / 4);
    const all = await Promise.all(Array.from({ length: 20 }, () => encoded(RATE / 4)));
    expect(all.every((one) => one.equals(first))).toBe(true);
  });
});

async function encoded(samples: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of encodeSpeech('opus', tone(samples))) parts.push(part);
  return Buffer.concat(parts);
}

async function* tone(length: number) {
  const samples = Float32Array.from(
    { length },
    (_none, at) => 0.3 * Math.sin((2 * Math.PI * 440 * at) / RATE),
  );
  yield { samples: samples.subarray(0, length / 3), sampleRate: RATE };
  yield { samples: samples.subarray(length / 3), sampleRate: RATE };
}

async function decode(bytes: Uint8Array) {
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  try {
    return await decoder.decodeFile(bytes);
  } finally {
    decoder.free();
  }
}

/** How often the sign of a signal changes. */
function crossings(samples: Float32Array = new Float32Array(0)): number {
  return samples.filter((value, at) => value >= 0 !== (samples[at - 1] ?? 0) >= 0).length;
}
