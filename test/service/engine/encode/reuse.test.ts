import { afterEach, describe, expect, test, vi } from 'vitest';
import { encodeSpeech } from '../../../../src/service/engine/encode/encode-speech.ts';
import type { SpeechChunk } from '../../../../src/service/engine/speech-engine.ts';

const SAMPLE_RATE = 16_000;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A second and a half of a tone, in three chunks. */
async function* tone(hertz: number): AsyncGenerator<SpeechChunk> {
  for (let chunk = 0; chunk < 3; chunk += 1) {
    const samples = Float32Array.from(
      { length: SAMPLE_RATE / 2 },
      (_, index) => 0.4 * Math.sin((2 * Math.PI * hertz * index) / SAMPLE_RATE),
    );
    yield { samples, sampleRate: SAMPLE_RATE };
  }
}

async function* broken(): AsyncGenerator<SpeechChunk> {
  yield* tone(500);
  throw new Error('The engine is gone.');
}

async function whole(chunks: AsyncIterable<SpeechChunk>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeSpeech('mp3', chunks)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('mp3 streams one after the other', () => {
  test('need one encoder, however they end, and sound as if each had its own', async () => {
    const tones = [200, 300, 440];
    const own = await Promise.all(tones.map((hertz) => whole(tone(hertz))));
    const made = vi.spyOn(WebAssembly, 'Instance');
    for (let turn = 0; turn < 12; turn += 1) {
      await expect(whole(broken())).rejects.toThrow('The engine is gone.');
      for await (const _ of encodeSpeech('mp3', tone(700))) break;
      const bytes = await whole(tone(tones[turn % 3] ?? 0));
      expect(bytes.equals(own[turn % 3] ?? Buffer.alloc(0))).toBe(true);
    }
    expect(made).not.toHaveBeenCalled();
  });

  test('side by side have one each', async () => {
    const alone = await whole(tone(440));
    const together = await Promise.all(Array.from({ length: 12 }, () => whole(tone(440))));
    for (const bytes of together) expect(bytes.equals(alone)).toBe(true);
  });
});
