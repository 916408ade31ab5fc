import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codePointOffset,
  countCodePoints,
  hasMoreCodePointsThan,
  sliceCodePoints,
} from '../../src/text/code-points.ts';

/** Any UTF-16 units, with lone surrogates. */
const anyText = fc
  .string({ unit: 'binary' })
  .chain((text) =>
    fc
      .array(fc.constantFrom('\ud83d', '\ude00', 'a', '😀', 'é', '\u200d'), { maxLength: 12 })
      .map((units) => text + units.join('')),
  );

describe('code points', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['né', 2],
    ['日本語', 3],
    ['😀', 1],
    ['👩‍👧', 3],
    ['\ud83d', 1],
    ['\ude00\ud83d', 2],
  ])('counts %j as %d', (text, count) => {
    expect(countCodePoints(text)).toBe(count);
  });

  it('agrees with iterating over the characters', () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), fc.nat(20), (text, start, end) => {
        const characters = Array.from(text);
        expect(countCodePoints(text)).toBe(characters.length);
        expect(sliceCodePoints(text, start, end)).toBe(characters.slice(start, end).join(''));
        expect(sliceCodePoints(text, start)).toBe(characters.slice(start).join(''));
        expect(hasMoreCodePointsThan(text, end)).toBe(characters.length > end);
        expect(codePointOffset(text, start)).toBe(characters.slice(0, start).join('').length);
      }),
    );
  });
});
