import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test, vi } from 'vitest';
import type { Cue, CueShape } from '../../../src/captions/cue-shape.ts';
import { lineText } from '../../../src/captions/cue-shape.ts';
import { shapeCues } from '../../../src/captions/shape-cues.ts';
import { tokenize } from '../../../src/captions/tokens.ts';
import {
  arbitraryShape,
  arbitraryText,
  arbitraryTimings,
  WORDS,
} from '../../captions/arbitrary-timings.ts';

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
const numRuns = isFull ? 20_000 : 200;

vi.setConfig({ testTimeout: isFull ? 900_000 : 30_000 });

describe('the tokens of a text', () => {
  test('have every visible character once, in order', () => {
    fc.assert(
      fc.property(arbitraryText, (text) => {
        let from = 0;
        for (const { start, end, text: piece } of tokenize(text)) {
          expect(text.slice(start, end)).toBe(piece);
          expect(text.slice(from, start)).toMatch(/^[\s\p{Cc}\p{Cf}]*$/u);
          expect(piece).not.toMatch(/^\s|\s$|^[\s\p{Cf}]*$|\p{Cc}/u);
          from = end;
        }
        expect(text.slice(from)).toMatch(/^[\s\p{Cc}\p{Cf}]*$/u);
      }),
      { numRuns },
    );
  });
});

describe('cues of any text and timings', () => {
  test('have every word of the text once, in order', () => {
    holds((cues, _, text) => {
      const words = cues.flatMap(({ lines }) => lines.flat().map((word) => word.text));
      expect(words).toStrictEqual(tokenize(text).map((token) => token.text));
    });
  });

  test('never overlap or run backwards, and have a duration', () => {
    holds((cues) => {
      let earliest = 0;
      for (const { startMs, endMs } of cues) {
        expect(startMs).toBeGreaterThanOrEqual(earliest);
        expect(endMs).toBeGreaterThan(startMs);
        expect(Number.isInteger(startMs) && Number.isInteger(endMs)).toBe(true);
        earliest = endMs;
      }
    });
  });

  test('keep the limits, or are a single word that exceeds one', () => {
    holds((cues, { maxChars, maxDurationMs, maxLines }) => {
      for (const { startMs, endMs, lines } of cues) {
        expect(lines.length).toBeLessThanOrEqual(maxLines);
        if (lines.flat().length === 1) continue;
        expect(endMs - startMs).toBeLessThanOrEqual(maxDurationMs);
        for (const line of lines) expect(stringWidth(lineText(line))).toBeLessThanOrEqual(maxChars);
      }
    });
  });

  test('have no empty lines, and no white space at the ends of lines', () => {
    holds((cues) => {
      for (const { lines } of cues) {
        expect(lines.length).toBeGreaterThan(0);
        for (const line of lines) expect(lineText(line)).toMatch(/^\S([^\r\n\u2028\u2029]*\S)?$/u);
      }
    });
  });
});

describe('cues of 10,000 words of many scripts', () => {
  const words = fc.array(fc.constantFrom(...WORDS), { minLength: 10_000, maxLength: 10_000 });

  test('have all words, in order, within the limits', () => {
    fc.assert(
      fc.property(
        arbitraryTimings(words.map((list) => list.join(' '))),
        arbitraryShape,
        (timings, shape) => {
          const cues = shapeCues(timings, shape);
          const shown = cues.flatMap(({ lines }) => lines.flat().map((word) => word.text));
          expect(shown.join(' ')).toBe(
            tokenize(timings.text)
              .map((token) => token.text)
              .join(' '),
          );
          expect(
            cues.every(({ endMs }, index) => endMs <= (cues[index + 1]?.startMs ?? endMs)),
          ).toBe(true);
          expect(cues.every(({ lines }) => lines.length <= shape.maxLines)).toBe(true);
        },
      ),
      { numRuns: isFull ? 100 : 2 },
    );
  });
});

function holds(check: (cues: readonly Cue[], shape: CueShape, text: string) => void): void {
  fc.assert(
    fc.property(arbitraryTimings(), arbitraryShape, (timings, shape) => {
      check(shapeCues(timings, shape), shape, timings.text);
    }),
    { numRuns },
  );
}
