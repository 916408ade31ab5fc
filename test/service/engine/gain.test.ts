import { assert, double, property } from 'fast-check';
import { expect, test } from 'vitest';
import { amplify, CEILING, gainOf } from '../../../src/service/engine/resample.ts';

test('6 dB are about twice the level, -20 dB a tenth', () => {
  expect(gainOf(0)).toBe(1);
  expect(gainOf(6)).toBeCloseTo(1.995, 3);
  expect(gainOf(-20)).toBeCloseTo(0.1, 10);
});

test('leaves quiet samples alone but for the gain, and its input as it was', () => {
  const samples = Float32Array.of(0, 0.1, -0.2, 0.39);
  expect(amplify(samples, 2)).toEqual(Float32Array.of(0, 0.2, -0.4, 0.78));
  expect(samples).toEqual(Float32Array.of(0, 0.1, -0.2, 0.39));
});

test('never clips, nor turns samples over', () => {
  const level = double({ min: -10, max: 10, noNaN: true });
  assert(
    property(level, level, double({ min: 0, max: 100, noNaN: true }), (first, second, gain) => {
      const [low = 0, high = 0] = amplify(Float32Array.of(first, second).sort(), gain);
      expect(low).toBeLessThanOrEqual(high);
      expect(Math.abs(low)).toBeLessThanOrEqual(Math.fround(CEILING));
      expect(Math.abs(high)).toBeLessThanOrEqual(Math.fround(CEILING));
      expect(Math.fround(Math.max(first, second)) * high).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('bends from where it leaves alone, without a step or a corner', () => {
  const [below = 0, above = 0] = amplify(Float32Array.of(0.8, 0.801), 1);
  expect(above - below).toBeGreaterThan(0.0009);
  expect(above - below).toBeLessThan(0.0011);
});
