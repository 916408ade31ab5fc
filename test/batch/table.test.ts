import { describe, expect, it } from 'vitest';
import { inputBytes } from '../../src/batch/plan/inputs.ts';
import { openTable } from '../../src/batch/plan/table.ts';

async function rowsIn(content: string, name = 'a.csv'): Promise<unknown> {
  const { rows } = await openTable(inputBytes(name, Buffer.from(content)), 'text');
  const found: unknown[] = [];
  for await (const { fields, line } of rows()) found.push([line, Object.fromEntries(fields)]);
  return found;
}

const ONE = { id: 'a', text: 'One, two' };

describe('the rows of a table', () => {
  it.each([
    ['an empty last row', 'a.csv', 'id,text\na,"One, two"\n,\n', [[2, ONE]]],
    ['a last row of spaces', 'a.csv', 'id,text\r\na,"One, two"\r\n , \r\n  \r\n', [[2, ONE]]],
    ['an empty row in the middle', 'a.csv', 'id,text\n,\na,"One, two"\n', [[3, ONE]]],
    ['a row of too many empty cells', 'a.csv', 'id,text\na,"One, two"\n,,,\n', [[2, ONE]]],
    ['a named separator', 'a.csv', 'sep=;\r\nid;text\r\na;One, two\r\n', [[3, ONE]]],
    ['a quoted separator', 'a.csv', '\ufeff"sep=|"\nid|text\na|One, two\n', [[3, ONE]]],
    ['tabs', 'a.tsv', 'id\ttext\na\tOne, two\n', [[2, ONE]]],
    ['one column of tabs', 'a.TSV', 'text\nOne, two\n', [[2, { text: 'One, two' }]]],
    ['a text like a separator', 'a.csv', 'text\nsep=;\n', [[2, { text: 'sep=;' }]]],
  ])('with %s', async (_what, name, content, expected) => {
    expect(await rowsIn(content, name)).toEqual(expected);
  });

  it('must have as many cells as columns', async () => {
    await expect(rowsIn('id,text\na,b,c\n')).rejects.toThrow(/a\.csv, line 2 is not valid CSV/);
  });
});
