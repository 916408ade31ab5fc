import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { PLAIN } from '../../src/cli/look.ts';
import { wrap, wrappedRows } from '../../src/cli/wrapped-rows.ts';

describe('rows whose text goes on in further lines', () => {
  test('below its own column, with the hint in a line of its own', () => {
    const rows = [
      { cells: ['ok', 'node'], text: 'all is well' },
      { cells: ['problem', 'x'], text: 'one two three four five six', hint: 'mend it' },
    ];
    expect(wrappedRows(['STATE', 'CHECK', 'FOUND'], rows, { columns: 40, paint: PLAIN })).toBe(
      [
        'STATE    CHECK  FOUND',
        'ok       node   all is well',
        'problem  x      one two three four five',
        '                six',
        '                mend it',
      ].join('\n'),
    );
  });

  test('where nobody looks nothing is broken, however long it is', () => {
    const text = 'word '.repeat(200).trim();
    const rows = [{ cells: ['a'], text }];
    expect(wrappedRows(['A', 'B'], rows, { columns: Infinity, paint: PLAIN })).toBe(
      `A  B\na  ${text}`,
    );
  });

  test('what is not ours is made safe', () => {
    const rows = [{ cells: ['\u001b[2J'], text: 'a\u202eb', hint: '\u0007' }];
    expect(wrappedRows(['A', 'B'], rows, { columns: 80, paint: PLAIN })).toBe(
      ['A        B', '\\x1b[2J  a\\u202eb', '         \\x07'].join('\n'),
    );
  });
});

test('a wrapped text loses nothing, and no line of several words is too wide', () => {
  const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '語', 'é') }));
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 40 }), (given, width) => {
      const text = given.join(' ');
      const lines = wrap(text, width);
      expect(lines.join(' ')).toBe(text);
      for (const line of lines.filter((one) => one.includes(' '))) {
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});
