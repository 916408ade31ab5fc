import { describe, expect, it } from 'vitest';
import { PitchMeter } from '../../../src/service/voices/listen/pitch-meter.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';

async function medianOf(samples: Float32Array, sampleRate: number): Promise<number | undefined> {
  const meter = new PitchMeter();
  await meter.add(samples, sampleRate);
  meter.close();
  return meter.median();
}

describe('the pitch of a voice', () => {
  it.each([
    [70, 16_000],
    [110, 8_000],
    [110, 44_100],
    [200, 16_000],
    [200, 48_000],
    [320, 22_050],
  ])('is measured, %d Hz, at %d samples a second', async (medianHz, sampleRate) => {
    const voice = { medianHz, sampleRate, seconds: 3, rangeSemitones: 3 };
    const heard = await medianOf(referenceVoice(voice).samples, sampleRate);
    expect(Math.abs((heard ?? 0) / medianHz - 1)).toBeLessThan(0.03);
  });

  it('is the median over files of different rates', async () => {
    const meter = new PitchMeter();
    for (const sampleRate of [16_000, 44_100]) {
      await meter.add(referenceVoice({ medianHz: 150, sampleRate }).samples, sampleRate);
    }
    meter.close();
    expect(Math.abs((meter.median() ?? 0) / 150 - 1)).toBeLessThan(0.03);
  });

  it.each([
    ['silence', () => 0],
    ['a click', (index: number) => (index === 5_000 ? 1 : 0)],
    ['noise', (index: number) => Math.sin(index * index * 0.37 + (index % 17)) * 0.3],
  ])('is undefined for %s', async (_what, sample) => {
    const samples = Float32Array.from({ length: 32_000 }, (_, index) => sample(index));
    expect(await medianOf(samples, 16_000)).toBeUndefined();
  });
});
