import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CodePointRange } from '../../src/contract/unspoken.ts';
import { formatRanges, parseRanges, UNSPOKEN_MAX_RANGES } from '../../src/contract/unspoken.ts';

/** Ascending ranges that do not touch. */
function rangesOf(lengths: readonly (readonly [gap: number, length: number])[]): CodePointRange[] {
  let at = 0;
  return lengths.map(([gap, length]) => {
    const start = at + gap;
    at = start + length;
    return { start, end: at };
  });
}

const length = fc.integer({ min: 1, max: 30 });
const lengths = (maxLength: number) =>
  fc.array(fc.tuple(length, length), { minLength: 1, maxLength });

describe('the ranges of X-Foley-Unspoken', () => {
  it('are written with an excluded end', () => {
    const ranges = [
      { start: 6, end: 8 },
      { start: 20, end: 22 },
    ];
    expect(formatRanges(ranges)).toBe('6-8,20-22');
    expect(parseRanges('6-8,20-22')).toEqual(ranges);
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(lengths(UNSPOKEN_MAX_RANGES), (given) => {
        const ranges = rangesOf(given);
        expect(parseRanges(formatRanges(ranges))).toEqual(ranges);
      }),
    );
  });

  it('are few for any text and hold every position, merged where the gaps are smallest', () => {
    fc.assert(
      fc.property(lengths(2_000), (given) => {
        const ranges = rangesOf(given);
        const value = formatRanges(ranges);
        expect(value.length).toBeLessThanOrEqual(8_192);
        const read = parseRanges(value) ?? [];
        expect(read.length).toBe(Math.min(ranges.length, UNSPOKEN_MAX_RANGES));
        const isHeld = (one: CodePointRange): boolean =>
          read.some(({ start, end }) => start <= one.start && one.end <= end);
        expect(ranges.every(isHeld)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    '',
    ' ',
    '6',
    '6-',
    '-8',
    '8-6',
    '6-6',
    '06-8',
    '6-8,',
    '6-8, 20-22',
    '6-8,7-9',
    '20-22,6-8',
    '6–8',
    '6-8;20-22',
    '1e1-20',
    '0-9999999999',
    '\u001b[31m',
    `0-1${',2-3'.repeat(4_000)}`,
  ])('are not read from %j', (value) => {
    expect(parseRanges(value)).toBeUndefined();
  });
});
