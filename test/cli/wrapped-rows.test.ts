import { describe, expect, test } from 'vitest';
import { PLAIN } from '../../src/cli/render/style.ts';
import { wrappedRows } from '../../src/cli/render/table.ts';

describe('rows with wrapped text', () => {
  test('are wrapped within their column, with the hint on its own line', () => {
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

  test('keep commands in backticks on one line', () => {
    const rows = [{ cells: ['a'], text: 'Remove it with `foley engine remove b`.' }];
    expect(wrappedRows(['A', 'B'], rows, { columns: 30, paint: PLAIN })).toBe(
      ['A  B', 'a  Remove it with', '   `foley engine remove b`.'].join('\n'),
    );
  });

  test('are not wrapped without a terminal', () => {
    const text = 'word '.repeat(200).trim();
    const rows = [{ cells: ['a'], text }];
    expect(wrappedRows(['A', 'B'], rows, { columns: Infinity, paint: PLAIN })).toBe(
      `A  B\na  ${text}`,
    );
  });

  test('escape untrusted text', () => {
    const rows = [{ cells: ['\u001b[2J'], text: 'a\u202eb', hint: '\u0007' }];
    expect(wrappedRows(['A', 'B'], rows, { columns: 80, paint: PLAIN })).toBe(
      ['A        B', '\\x1b[2J  a\\u202eb', '         \\x07'].join('\n'),
    );
  });
});
