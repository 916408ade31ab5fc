import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SegmentName } from '../../src/live/feed-text.ts';
import { createSegmentCutter, SEGMENT_NAMES } from '../../src/live/feed-text.ts';
import { firstSentence } from '../../src/text/sentences.ts';

function cut(pieces: readonly string[], by: SegmentName = 'sentence'): readonly string[] {
  const cutter = createSegmentCutter(by);
  return [...pieces.flatMap((piece) => cutter.write(piece)), ...cutter.flush()];
}

describe('a sentence is complete when more text cannot change its end', () => {
  test.each([
    ['Stop!', undefined],
    ['Stop! ', 6],
    ['It costs 3.', undefined],
    ['It costs 3. ', undefined],
    ['It costs 3. 5', 12],
    ['He came. ', undefined],
    ['He came. T', 9],
    ['He came. “', undefined],
    ['He came. t', undefined],
    ['He came.\n', 9],
    ['See Dr. Smith ', undefined],
    ['At 5 p.m. The', undefined],
    ['At 5 p.m. The ', 10],
    ['今天。', undefined],
    ['今天。明', 3],
    ['“Stop!” he', undefined],
    ['“Stop!” he said', undefined],
    ['“Stop!” H', 8],
    ['A line\n', undefined],
    ['A line\nB', undefined],
    ['A line\nBecause', 7],
    ['A line\n\n', 8],
  ])('%j ends at %s', (text, end) => {
    expect(firstSentence(text, { isOpen: true, limit: Infinity }).end).toBe(end);
  });
});

describe('a long first sentence', () => {
  const clause = `Next ${'word '.repeat(11)}`.trim();
  const long = `${clause}, ${clause}, ${clause}.`;

  test('begins with a clause as the first segment', () => {
    expect(cut([`${long} ${long}`])).toEqual([`${clause},`, `${clause}, ${clause}.`, long]);
  });

  test('is cut before its end arrives', () => {
    const cutter = createSegmentCutter('sentence');
    expect(cutter.write(long.slice(0, 120))).toEqual([]);
    expect(cutter.write(long.slice(120, 122))).toEqual([`${clause},`]);
  });

  test('is not cut at an abbreviation', () => {
    const text = `${'word '.repeat(20)}with Dr. Smith and ${'word '.repeat(10)}to its end.`;
    expect(cut([text])).toEqual([text]);
  });

  test('is not cut near its start', () => {
    const text = 'One, two, three. And four, five, six.';
    expect(cut([text])).toEqual(['One, two, three.', 'And four, five, six.']);
  });
});

test('text without stops is cut between words, after 400 characters', () => {
  const segments = cut(['word '.repeat(200)]);
  expect(segments.map(({ length }) => length)).toEqual([399, 399, 199]);
});

test('a number in two pieces is not cut', () => {
  expect(cut(['It is 3', '.', '14 or so. ', 'Yes'])).toEqual(['It is 3.14 or so.', 'Yes']);
});

test('lines are segments; empty lines are skipped', () => {
  expect(cut(['One. Two.\r\n', '\n  \nThr', 'ee\n'], 'line')).toEqual(['One. Two.', 'Three']);
});

test('the input is one segment, up to the limit of a segment', () => {
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

test('the cuts do not depend on the pieces, and nothing is lost', () => {
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
