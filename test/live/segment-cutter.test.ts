import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SegmentName } from '../../src/live/segment-cutter.ts';
import { createSegmentCutter, SEGMENT_NAMES } from '../../src/live/segment-cutter.ts';
import { certainSentenceEnd } from '../../src/text/sentences.ts';

function cut(pieces: readonly string[], by: SegmentName = 'sentence'): readonly string[] {
  const cutter = createSegmentCutter(by);
  return [...pieces.flatMap((piece) => cutter.write(piece)), ...cutter.flush()];
}

describe('a sentence is complete as soon as nothing can change it', () => {
  test.each([
    ['Stop! ', undefined],
    ['Stop! N', 6],
    ['It costs 3.', undefined],
    ['It costs 3. ', undefined],
    ['It costs 3. 5', undefined],
    ['He came. Then ', 9],
    ['See Dr. Smith ', undefined],
    ['今天。', undefined],
    ['今天。明', 3],
    ['“Stop!” he', undefined],
    ['“Stop!” he said', undefined],
    ['One line\n\nA', 10],
  ])('%j ends at %s', (text, end) => {
    expect(certainSentenceEnd(text)).toBe(end);
  });
});

test('a number that comes in two tokens is not cut', () => {
  expect(cut(['It is 3', '.', '14 or so. ', 'Yes'])).toEqual(['It is 3.14 or so.', 'Yes']);
});

test('lines are segments, and empty ones are none', () => {
  expect(cut(['One. Two.\r\n', '\n  \nThr', 'ee\n'], 'line')).toEqual(['One. Two.', 'Three']);
});

test('the input is one segment, up to what one may hold', () => {
  expect(cut(['One. ', 'Two.'], 'input')).toEqual(['One. Two.']);
  const sentence = `${'word '.repeat(199)}end. `;
  const segments = cut([sentence.repeat(25)], 'input');
  expect(segments.length).toBeGreaterThan(2);
  expect(segments.every((segment) => segment.endsWith('end.'))).toBe(true);
  expect(segments.join(' ')).toBe(sentence.repeat(25).trim());
});

test('a sentence without an end is cut between words', () => {
  const segments = cut(['word '.repeat(5_000)]);
  expect(segments.length).toBeGreaterThan(2);
  for (const segment of segments) {
    expect(segment.length).toBeLessThanOrEqual(10_000);
    expect(segment.split(' ').every((word) => word === 'word')).toBe(true);
  }
});

const UNITS = '. |.|! |?|。|”| |\n|\n\n|Dr|3|The |a|word |“|- |😀|猫|é|(|) '.split('|');
const unit = fc.constantFrom(...UNITS);
const text = fc.array(unit, { maxLength: 60 }).map((units) => units.join(''));

test('however a text comes in pieces, it is cut in the same places, and nothing is lost', () => {
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(...SEGMENT_NAMES),
      (whole, sizes, by) => {
        const characters = Array.from(whole);
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < characters.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1;
          pieces.push(characters.slice(at, at + size).join(''));
          at += size;
        }
        const segments = cut(pieces, by);
        expect(segments).toEqual(cut([whole], by));
        expect(segments.join('').replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''));
      },
    ),
    { numRuns: process.env['FOLEY_TEST_SIZE'] === 'full' ? 5_000 : 300 },
  );
});
