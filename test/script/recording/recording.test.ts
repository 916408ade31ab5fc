import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { independentMeter } from '../../harness/independent-meter.ts';
import { readWav } from '../../harness/wav.ts';
import { make, tone } from './make.ts';

const RATE = 44_100;

describe('a recording', () => {
  test('joins the samples of its lines exactly, with silence between them', async () => {
    const lines = [
      { seconds: 0.5, pauseAfterMs: 300 },
      { seconds: 0.25, hertz: 300, pauseAfterMs: 900 },
    ];
    const made = await make(lines);
    const { channels, sampleRate } = readWav(await readFile(made.file));
    const [samples = new Float32Array(0)] = channels;
    expect(sampleRate).toBe(RATE);
    expect(samples).toHaveLength(1.05 * RATE);
    expect(made).toMatchObject({ durationMs: 1050, lines: [{ endMs: 500 }, { startMs: 800 }] });
    const first = tone({ seconds: 0.5 });
    const second = tone({ seconds: 0.25, hertz: 300 });
    expect(difference(samples.subarray(0, first.length), first)).toBeLessThan(1e-4);
    expect(samples.subarray(first.length, 0.8 * RATE).every((one) => one === 0)).toBe(true);
    expect(difference(samples.subarray(0.8 * RATE), second)).toBeLessThan(1e-4);
  });

  test('brings voices of different levels to one loudness', async () => {
    const lines = [
      { seconds: 4, level: 0.02, speaker: 'ADA' },
      { seconds: 4, level: 0.5, speaker: 'BOB', hertz: 500 },
    ];
    const made = await make(lines, { loudness: -16 });
    const samples = await samplesOf(made.file);
    const meter = await independentMeter();
    expect(meter.mono(RATE, samples)).toBeCloseTo(-16, 0);
    expect(meter.truePeakDb(RATE, samples)).toBeLessThan(-1);
    const [ada, bob] = [samples.subarray(0, 4 * RATE), samples.subarray(4 * RATE)];
    expect(meter.mono(RATE, ada) - meter.mono(RATE, bob)).toBeCloseTo(0, 0);
    expect(made.loudness).toBeCloseTo(meter.mono(RATE, samples), 1);
    expect(made.isTooQuiet).toBe(false);
  });

  test('is too quiet where the peaks do not allow more', async () => {
    const made = await make([{ seconds: 2 }], { loudness: -2 });
    const meter = await independentMeter();
    expect(meter.truePeakDb(RATE, await samplesOf(made.file))).toBeLessThan(-1);
    expect(made.isTooQuiet).toBe(true);
  });

  test.each(['wav', 'mp3', 'ogg'] as const)(
    'has the same bytes each time, and its exact length: %s',
    async (format) => {
      const lines = [
        { seconds: 1.234, sampleRate: 24_000, pauseAfterMs: 250 },
        { seconds: 0.7, sampleRate: 22_050, speaker: 'BOB' },
      ];
      const [one, other] = [
        await make(lines, { format, loudness: -16 }),
        await make(lines, { format, loudness: -16 }),
      ];
      expect(await readFile(one.file)).toEqual(await readFile(other.file));
      const samples = await samplesOf(one.file);
      expect(samples).toHaveLength(Math.round((one.durationMs * RATE) / 1000));
    },
  );
});

async function samplesOf(file: string): Promise<Float32Array> {
  const { channels } = await decodeAudio(await readFile(file));
  return channels[0] ?? new Float32Array(0);
}

function difference(samples: Float32Array, expected: Float32Array): number {
  return samples.reduce((most, one, at) => Math.max(most, Math.abs(one - (expected[at] ?? 0))), 0);
}
