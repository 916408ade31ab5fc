import { array, assert, asyncProperty, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { createResampler } from '../../src/audio/resample.ts';

function tone(hertz: number, sampleRate: number, length: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / sampleRate),
  );
}

/** Resamples what comes in slices of these lengths, over and over. */
async function resampled(
  samples: Float32Array,
  [inputRate, outputRate]: readonly [number, number],
  sliceLengths: readonly number[],
): Promise<Float32Array> {
  const resampler = await createResampler(inputRate, outputRate);
  const parts: number[] = [];
  for (let at = 0, turn = 0; at < samples.length; turn += 1) {
    const length = sliceLengths[turn % sliceLengths.length] ?? 1;
    parts.push(...resampler.push(samples.subarray(at, at + length)));
    at += length;
  }
  parts.push(...resampler.finish());
  resampler.close();
  return Float32Array.from(parts);
}

test.each([
  [16_000, 44_100],
  [22_050, 44_100],
  [44_100, 16_000],
  [48_000, 44_100],
] as const)('a tone of %i Hz is the same tone at %i Hz, in place', async (...rates) => {
  const [inputRate, outputRate] = rates;
  const output = await resampled(tone(440, inputRate, inputRate), rates, [4_000]);
  const ideal = tone(440, outputRate, outputRate);
  expect(output).toHaveLength(outputRate);
  const middle = { from: 1_000, to: outputRate - 1_000 };
  const errors = output
    .subarray(middle.from, middle.to)
    .map((x, i) => x - (ideal[middle.from + i] ?? 0));
  expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.002);
});

test('slices of any length give what the whole gives, and exactly its share', async () => {
  const samples = tone(300, 16_000, 9_001);
  const whole = await resampled(samples, [16_000, 44_100], [samples.length]);
  expect(whole).toHaveLength(Math.round((9_001 * 44_100) / 16_000));
  await assert(
    asyncProperty(
      array(integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 8 }),
      async (lengths) => {
        expect(await resampled(samples, [16_000, 44_100], lengths)).toEqual(whole);
      },
    ),
    { numRuns: 20 },
  );
});

test('few samples, one and none have their share too', async () => {
  for (const length of [0, 1, 2, 7]) {
    const output = await resampled(new Float32Array(length).fill(0.5), [16_000, 44_100], [1]);
    expect(output).toHaveLength(Math.round((length * 44_100) / 16_000));
  }
});

test('equal rates change nothing', async () => {
  const samples = tone(440, 16_000, 100);
  expect(await resampled(samples, [16_000, 16_000], [33])).toEqual(samples);
});

test('streams side by side do not mix', async () => {
  const [first, second] = await Promise.all([
    createResampler(16_000, 44_100),
    createResampler(16_000, 44_100),
  ]);
  const silence = new Float32Array(4_000);
  const heard = [first.push(tone(440, 16_000, 4_000)), second.push(silence)];
  first.close();
  expect(second.push(silence).every((sample) => sample === 0)).toBe(true);
  expect(heard[1]?.every((sample) => sample === 0)).toBe(true);
  expect(heard[0]?.some((sample) => sample > 0.4)).toBe(true);
  second.close();
});

test('rates that are none are refused', async () => {
  await expect(createResampler(16_000, 0)).rejects.toThrow('Cannot resample 16000 to 0 Hz.');
});
