import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEGMENT_MAX_CHARACTERS, segmentText } from '../../../src/service/jobs/job-service.ts';
import { countCodePoints } from '../../../src/text/code-points.ts';

const sentence = 'A sentence of about fifty characters is said here. ';

const texts = (...parts: readonly string[]) => segmentText(parts.join('')).map(({ text }) => text);

describe('the segments of a text', () => {
  it('are one for a short text', () => {
    expect(texts('Hello. Again.')).toEqual(['Hello. Again.']);
  });

  it('end with a sentence, before there are more than 1,000 characters', () => {
    const segments = texts(sentence.repeat(45));
    expect(segments).toEqual([sentence.repeat(19), sentence.repeat(19), sentence.repeat(7)]);
    expect(sentence.repeat(20).length).toBeGreaterThan(SEGMENT_MAX_CHARACTERS);
  });

  it('end with a paragraph that is long enough, and go on over short ones', () => {
    const long = `${sentence.repeat(11)}\n\n`;
    const short = `${sentence.repeat(3)}\r\n\r\n`;
    expect(texts(long, short, short, sentence)).toEqual([long, short + short + sentence]);
    expect(texts(sentence.repeat(11), '\n', sentence)).toHaveLength(1);
  });

  it('cut a sentence that is longer than a segment', () => {
    const endless = 'word '.repeat(500);
    const segments = texts(endless);
    expect(segments.length).toBeGreaterThan(2);
    for (const segment of segments) expect(segment).toMatch(/^(word )+$/);
  });

  it('hold as many characters of two units as of one', () => {
    expect(segmentText('𝒶'.repeat(1_000)).map(({ characters }) => characters)).toEqual([1_000]);
    expect(segmentText('a'.repeat(1_000)).map(({ characters }) => characters)).toEqual([1_000]);
  });

  it('lose nothing, are never empty or too long, and are counted right', () => {
    const words = fc.constantFrom(
      'word',
      'a',
      ' ',
      '. ',
      '\n\n',
      '。',
      '𝒶',
      'é',
      '!?',
      '\u2029',
      '-',
    );
    const text = fc.array(words, { minLength: 1, maxLength: 4_000 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (whole) => {
        const segments = segmentText(whole);
        expect(segments.map((segment) => segment.text).join('')).toBe(whole);
        for (const segment of segments) {
          expect(segment.characters).toBe(countCodePoints(segment.text));
          expect(segment.characters).toBeGreaterThan(0);
          expect(segment.characters).toBeLessThanOrEqual(SEGMENT_MAX_CHARACTERS);
        }
      }),
      { numRuns: 50 },
    );
  });
});
