import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';

/** The guide, whose tables are compared with what foley prints. */
const PAGE = readFileSync(new URL('../../docs/reading-text.md', import.meta.url), 'utf8');

test('each row of the guide is how foley text --reading reads it', async () => {
  const rows = rowsOf('| written | spoken |');
  expect(rows.length).toBeGreaterThanOrEqual(35);
  expect(await read(rows, 'en-US')).toEqual(rows.map(([, spoken]) => spoken));
});

test('each row about regions is how both of them are read', async () => {
  const rows = rowsOf('| written | en-US | en-GB |');
  expect(rows.length).toBeGreaterThanOrEqual(4);
  expect(await read(rows, 'en-US')).toEqual(
    rows.map(([, american]) => american?.replace('en-US: ', '')),
  );
  expect(await read(rows, 'en-GB')).toEqual(
    rows.map(([, , british]) => british?.replace('en-GB: ', '')),
  );
});

test.each([
  ['Markdown', 'markdown', 11],
  ['HTML and EPUB', 'html', 6],
] as const)('each row about %s is what foley text prints', async (name, format, count) => {
  const rows = rowsOf(`| ${name} | sent |`);
  expect(rows.length).toBeGreaterThanOrEqual(count);
  for (const [written = '', sent] of rows) {
    const { stdout } = await runFoley(['text', '--text-format', format, '--', written]);
    expect(stdout.toString(), written).toBe(`${sent}\n`);
  }
});

/** Returns the cells of all tables with this header, without the marks of code. */
function rowsOf(header: string): string[][] {
  const tables = PAGE.split(`${header}\n`).slice(1);
  return tables.flatMap((rest) =>
    rest
      .split('\n\n', 1)
      .join('')
      .split('\n')
      .slice(1)
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replace(/^(`+)(.*)\1$/, '$2')),
      ),
  );
}

/** Returns how the first cell of each row is read. */
async function read(rows: readonly string[][], language: string): Promise<unknown> {
  const input = rows.map(([written]) => written).join('\n\n');
  const { stdout } = await runFoley(['text', '--reading', '--json', '-l', language], { input });
  return Object(parseJsonDocument(stdout)).reading;
}
