import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/api/retry.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
const DATE = 'Fri, 20 Nov 2026 12:00:00 GMT';

test.each([
  ['0', 0],
  ['7', 7_000],
  ['1.5', 1_500],
  [' 30 ', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri Nov 20 12:00:30 2026', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['-1', undefined],
  ['soon', undefined],
  ['', undefined],
  ['2026-11-20T12:00:30Z', undefined],
  ['1e9', undefined],
  ['Fri, 99 Nov 2026 12:00:30 GMT', undefined],
])('"%s" is %s ms', (header, expected) => {
  expect(parseRetryAfter(header, undefined, NOW)).toBe(expected);
});

test('a date is relative to the date of the response, not to the local clock', () => {
  const wrong = NOW + 24 * 3_600_000;
  expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', DATE, wrong)).toBe(30_000);
  expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', 'garbage', NOW)).toBe(30_000);
});

test('a missing header has no delay', () => {
  expect(parseRetryAfter(undefined, DATE, NOW)).toBeUndefined();
});

test('any header gives a finite delay of at least 0 that makes a valid date', () => {
  const anything = fc.oneof(fc.string(), fc.nat().map(String), fc.bigInt({ min: 0n }).map(String));
  fc.assert(
    fc.property(anything, fc.option(fc.string(), { nil: undefined }), (header, date) => {
      const wait = parseRetryAfter(header, date, NOW);
      if (wait === undefined) return;
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(new Date(NOW + wait).toISOString()).toMatch(/Z$/);
    }),
  );
});
