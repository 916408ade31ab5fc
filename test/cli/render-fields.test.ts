import { describe, expect, test } from 'vitest';
import { renderFields } from '../../src/cli/render/table.ts';
import { PLAIN } from '../../src/cli/render/style.ts';

const ROWS = [
  ['id', '0b1e2d3c-4f56-7890-abcd-ef0123456789'],
  ['tier', ''],
  ['silence', '210 ms at the beginning, 241 ms at the end'],
] as const;

describe('a list of fields', () => {
  test('wraps values at the width of the terminal, and never cuts an id', () => {
    expect(renderFields(ROWS, { columns: 30, paint: PLAIN })).toBe(
      [
        'id       0b1e2d3c-4f56-7890-abcd-ef0123456789',
        'silence  210 ms at the',
        '         beginning, 241 ms at',
        '         the end',
      ].join('\n'),
    );
  });

  test('is one line per field without a terminal', () => {
    expect(renderFields(ROWS, { columns: Infinity, paint: PLAIN }).split('\n')).toHaveLength(2);
  });
});
