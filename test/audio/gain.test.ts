import { expect, test } from 'vitest';
import { amplify, gainOf } from '../../src/audio/resample.ts';

test('6 dB are about twice the level, -20 dB a tenth', () => {
  expect(gainOf(0)).toBe(1);
  expect(gainOf(6)).toBeCloseTo(1.995, 3);
  expect(gainOf(-20)).toBeCloseTo(0.1, 10);
});

test('multiplies samples, and leaves its input as it was', () => {
  const samples = Float32Array.of(0, 0.1, -0.2, 0.9);
  expect(amplify(samples, 2)).toEqual(Float32Array.from([0, 0.2, -0.4, 1.8]));
  expect(samples).toEqual(Float32Array.of(0, 0.1, -0.2, 0.9));
});
