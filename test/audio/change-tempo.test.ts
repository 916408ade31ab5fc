import { PitchDetector } from 'pitchy';
import { describe, expect, test } from 'vitest';
import { changeTempo } from '../../src/audio/tempo.ts';
import type { Sound } from '../../src/audio/tempo.ts';

const RATE = 16_000;
const HERTZ = 150;

/** A voiced sound of so many seconds, in pieces. */
async function* voice(seconds: number, channels: number): AsyncGenerator<Sound> {
  const frames = Math.round(seconds * RATE);
  for (let start = 0; start < frames; start += 1_000) {
    const length = Math.min(1_000, frames - start);
    const samples = new Float32Array(length * channels);
    for (let frame = 0; frame < length; frame += 1) {
      const phase = ((start + frame) / RATE) * HERTZ;
      samples.fill((phase % 1) - 0.5, frame * channels, (frame + 1) * channels);
    }
    yield { samples, channels, sampleRate: RATE };
  }
}

async function firstChannel(sounds: AsyncIterable<Sound>): Promise<Float32Array> {
  const parts: number[] = [];
  for await (const { channels, samples } of sounds) {
    for (let at = 0; at < samples.length; at += channels) parts.push(samples[at] ?? 0);
  }
  return Float32Array.from(parts);
}

describe.each([1, 2])('sound of %i channels at another tempo', (channels) => {
  test.each([0.5, 0.731, 0.999, 1.2, 2])(
    '%d: exactly as long as it should be, at its pitch',
    async (tempo) => {
      const faster = await firstChannel(changeTempo(voice(3.3, channels), tempo));
      expect(faster.length).toBe(Math.round((3.3 * RATE) / tempo));
      const detector = PitchDetector.forFloat32Array(2_048);
      const middle = Math.floor(faster.length / 2);
      const [hertz] = detector.findPitch(faster.subarray(middle, middle + 2_048), RATE);
      expect(hertz / HERTZ).toBeCloseTo(1, 1);
    },
  );
});
