import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { PLAIN } from '../../src/cli/render/style.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { table } from '../../src/cli/render/table.ts';

interface Row {
  readonly id: string;
  readonly voice: string;
  readonly text: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id, whole: true },
  { title: 'VOICE', value: ({ voice }) => voice, optional: true },
  { title: 'TEXT', value: ({ text }) => text },
];
const ROWS: readonly Row[] = [
  { id: 'one-long-id', voice: 'a-long-voice', text: 'This is a text of some length.' },
  { id: 'two', voice: '日本語の声', text: 'e\u0301toile 👩‍🚀 क्षि' },
];

const shown = (columns: number): string[] =>
  table(ROWS, COLUMNS, { columns, paint: PLAIN }).split('\n');

describe('a table', () => {
  test('fits every width that its narrowest columns fit', () => {
    for (let columns = 21; columns <= 120; columns += 1) {
      const widths = shown(columns).map((line) => stringWidth(line));
      expect(Math.max(...widths), `on ${columns} columns`).toBeLessThanOrEqual(columns);
    }
  });

  test('leaves out optional columns before it overflows, and never cuts an id', () => {
    expect(shown(31)[0]).toBe('ID           VOICE     TEXT');
    expect(shown(30)[0]).toBe('ID           TEXT');
    expect(shown(12)[1]).toMatch(/^one-long-id {2}/);
  });

  test('keeps whole items of a shortened list, which may be ids', () => {
    const rows = [{ ids: 'model-one, model-two, model-three' }];
    const columns = [{ title: 'MODELS', value: ({ ids }: { ids: string }) => ids }];
    const cell = (width: number) =>
      table(rows, columns, { columns: width, paint: PLAIN }).split('\n')[1];
    expect([cell(40), cell(30), cell(15)]).toEqual([
      'model-one, model-two, model-three',
      'model-one, model-two, …',
      'model-one, …',
    ]);
  });

  test('is aligned with wide and combining characters', () => {
    const [title = '', ...rows] = shown(120);
    const at = stringWidth(title.slice(0, title.indexOf('TEXT')));
    const starts = rows.map((row, index) => row.indexOf(ROWS[index]?.text ?? ''));
    expect(rows.map((row, index) => stringWidth(row.slice(0, starts[index])))).toEqual([at, at]);
  });

  test('is not shortened without a terminal', () => {
    expect(shown(Infinity).join('\n')).toContain('This is a text of some length.');
  });
});
