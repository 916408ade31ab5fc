import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCodePoints } from '../../src/text/code-points.ts';
import { plainText, withWritten, writtenEdits } from '../../src/text/document.ts';
import { PauseError, readPauses, splitAtPauses } from '../../src/text/pauses.ts';
import { countSteps } from '../harness/count-steps.ts';

describe('the marks of pauses', () => {
  it.each([
    ['One [pause 800ms] two.', 'One two.', [[4, 800]]],
    ['One. [pause 1.5s]\nTwo.', 'One. \nTwo.', [[5, 1_500]]],
    ['One[pause 1s]two', 'One two', [[4, 1_000]]],
    ['One[pause 1s] two', 'One two', [[4, 1_000]]],
    ['[pause 2s] One', 'One', [[0, 2_000]]],
    ['One [PAUSE 60s]', 'One ', [[4, 60_000]]],
    [
      'One [pause 1s][pause 500ms] two',
      'One two',
      [
        [4, 1_000],
        [4, 500],
      ],
    ],
    ['One [pause 0ms] two', 'One two', []],
    ['👋 [ pause  2s ] 👋', '👋 👋', [[2, 2_000]]],
    ['One [paused] two [a pause 1s] [1]', 'One [paused] two [a pause 1s] [1]', []],
  ])('in %j become silence', (text, expected, pauses) => {
    const spoken = readPauses(plainText(text));
    expect(spoken).toEqual(
      plainText(
        expected,
        pauses.map(([at = 0, ms = 0]) => ({ at, ms })),
      ),
    );
  });

  it.each([
    ['One [pause 61s] two', 1, 5, 'is too long'],
    ['One\n👋 [pause] two', 2, 3, 'has no valid length'],
    ['[pause 5]', 1, 1, 'has no valid length'],
    ['[pause -1s]', 1, 1, 'has no valid length'],
    ['[pause 1m]', 1, 1, 'has no valid length'],
    ['[pause 1e3ms]', 1, 1, 'has no valid length'],
    ['[pause one second]', 1, 1, 'has no valid length'],
    ['One [pause 1s', 1, 5, 'is not closed'],
    ['One [pause 1s\n]', 1, 5, 'is not closed'],
    ['[pause 1s [pause 1s]', 1, 1, 'is not closed'],
  ])('in %j are refused with their position', (text, line, column, message) => {
    const read = () => readPauses(plainText(text));
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ name: 'PauseError', line, column }));
  });

  it('keep the written words, and the pauses of the document', () => {
    const source = {
      ...withWritten('The World Wide Web is up [pause 1s] now', [
        { start: 4, end: 18, insert: 'WWW' },
      ]),
      pauses: [{ at: 21, ms: 300 }],
    };
    const spoken = readPauses(source);
    expect(spoken.text).toBe('The World Wide Web is up now');
    expect(spoken.written).toBe('The WWW is up now');
    expect(writtenEdits(spoken)).toEqual([{ start: 4, end: 18, insert: 'WWW' }]);
    expect(spoken.pauses).toEqual([
      { at: 21, ms: 300 },
      { at: 25, ms: 1_000 },
    ]);
  });

  it('leave nothing but the words, whatever is between them', () => {
    const piece = fc.oneof(
      fc.constantFrom('a', 'b.', '👋', '\n', ' ', '[', ']', '[x]', 'pause'),
      fc.integer({ min: 0, max: 60_000 }).map((ms) => `[pause ${ms}ms]`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        let spoken;
        try {
          spoken = readPauses(plainText(text));
        } catch (error) {
          expect(error).toBeInstanceOf(PauseError);
          return;
        }
        const marks = [...text.matchAll(/\[pause (\d+)ms\]/g)].map(([, ms]) => Number(ms));
        expect(spoken.pauses.map(({ ms }) => ms)).toEqual(marks.filter((ms) => ms > 0));
        expect(rest(spoken.text)).toBe(rest(text));
        for (const { at } of spoken.pauses) {
          expect(at).toBeLessThanOrEqual(countCodePoints(spoken.text));
        }
      }),
    );
  });

  it.each(['[pause 1s]', '[pause 1s]a ', '[ pause', '[\t'])(
    'are read in linear time: %j',
    (mark) => {
      const steps = (count: number) =>
        countSteps(() => {
          try {
            splitAtPauses(readPauses(plainText(mark.repeat(count))), 100);
          } catch (error) {
            expect(error).toBeInstanceOf(PauseError);
          }
        });
      expect(steps(8_000)).toBeLessThan(5 * steps(2_000));
    },
  );
});

describe('a text with pauses', () => {
  it('is split at its pauses, which add up if nothing is said between them', () => {
    const text = '[pause 1s] One. [pause 2s] … [pause 3s]\n\n[pause 500ms] Two is long. [pause 4s]';
    const { parts, silences } = splitAtPauses(readPauses(plainText(text)), 8);
    expect(parts.map((part) => part.text)).toEqual(['One.', 'Two is', 'long.']);
    expect(silences).toEqual([1_000, 5_500, 0, 4_000]);
  });

  it('loses no letter and no millisecond', () => {
    const pieces = fc.array(
      fc.record({
        words: fc.stringMatching(/^[a-c👋 .\n]{0,20}$/u),
        ms: fc.integer({ min: 1, max: 60_000 }),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 9 }), (given, limit) => {
        const text = given.map(({ ms, words }) => `${words}[pause ${ms}ms]`).join('');
        const spoken = readPauses(plainText(text));
        const { parts, silences } = splitAtPauses(spoken, limit);
        expect(parts.map((part) => letters(part.text)).join('')).toBe(letters(spoken.text));
        expect(silences).toHaveLength(parts.length + 1);
        expect(total(silences)).toBe(total(given.map(({ ms }) => ms)));
        for (const { end, start, text: part } of parts) {
          expect(spoken.text.slice(start, end)).toBe(part);
          expect(countCodePoints(part)).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });
});

function rest(text: string): string {
  return text.replaceAll(/\[pause \d+ms\]|\s/g, '');
}

function letters(text: string): string {
  return text.replaceAll(/[^a-c]/g, '');
}

function total(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0);
}
