import fc from 'fast-check';
import { expect, test } from 'vitest';
import { durationMs, durationText } from '../../src/text/duration.ts';

test.each([
  [0, '0ms'],
  [1, '1ms'],
  [500, '500ms'],
  [1_500, '1500ms'],
  [7_000, '7s'],
  [90_000, '90s'],
  [600_000, '10m'],
  [3_600_000, '1h'],
])('%d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test('a formatted duration parses to the same value', () => {
  fc.assert(fc.property(fc.nat(), (ms) => durationMs(durationText(ms)) === ms));
});
