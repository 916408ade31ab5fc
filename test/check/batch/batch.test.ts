import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const TEXTS = {
  'texts/a.txt': 'Alpha speaks.',
  'texts/b.md': 'Bravo.',
  'texts/c.txt': 'Charlie says so.',
};
const ALL_CREDITS = 'Alpha speaks.Bravo.Charlie says so.'.length;
const OUT = ['texts', '--output-dir', 'audio'];

describe('foley batch of a folder', () => {
  test('prints no warnings of the runtime with many items at a time', async () => {
    const lines = Array.from({ length: 24 }, (_, index) => `Line ${index}.`).join('\n');
    const { batch } = await batchSandbox({ 'lines.txt': lines });
    const many = ['--lines', 'lines.txt', '--name', '{index}.{ext}', '-j', '16', '--quiet'];
    expect(await batch(many)).toMatchObject({ code: 0, stderr: '' });
  });

  test('--redo buys one item again, --redo-list those in a file', async () => {
    const { batch, charged, events, write } = await batchSandbox(TEXTS);
    await batch(OUT);
    expect((await events([...OUT, '--redo', 'b'])).statuses).toEqual({
      a: 'skipped',
      b: 'done',
      c: 'skipped',
    });
    expect(await charged()).toBe(ALL_CREDITS + 'Bravo.'.length);
    await write('again.txt', 'a\nb\n');
    const { statuses } = await events([...OUT, '--redo-list', 'again.txt']);
    expect(statuses).toEqual({ a: 'done', b: 'done', c: 'skipped' });
    expect(await charged()).toBe(ALL_CREDITS + 'Bravo.Bravo.Alpha speaks.'.length);
    expect((await events(OUT)).statuses).toEqual({ a: 'skipped', b: 'skipped', c: 'skipped' });
  });

  test('two folders with one namespace are billed once', async () => {
    const { batch, charged } = await batchSandbox(TEXTS);
    const here = ['texts', '--idempotency-namespace', 'book'];
    expect((await batch([...here, '--output-dir', 'one'])).code).toBe(0);
    expect((await batch([...here, '--output-dir', 'two'])).code).toBe(0);
    expect(await charged()).toBe(ALL_CREDITS);
    expect((await batch([...OUT])).code).toBe(0);
    expect(await charged()).toBe(2 * ALL_CREDITS);
  });
});

describe('foley batch of other inputs', () => {
  test('texts without letters and digits are left out, from every input', async () => {
    const { batch, charged, write } = await batchSandbox({});
    await write('lines.txt', 'One.\n...\n');
    await write('table.csv', 'id,text\na,One.\nb,...\nc,“…”\n');
    await write('list.jsonl', '{"text":"One."}\n{"text":"..."}\n');
    await write('folder/a.txt', 'One.');
    await write('folder/b.txt', '...');
    for (const [inputs, leftOut] of [
      [['--lines', 'lines.txt'], 'lines.txt, line 2 has'],
      [['table.csv'], 'table.csv, line 3 and 1 other text of this file have'],
      [['--jsonl', 'list.jsonl'], 'list.jsonl, line 2 has'],
      [['folder'], `${path.join('folder', 'b.txt')} has`],
    ] as const) {
      for (const run of ['1 done, 0 failed, 0 skipped', '0 done, 0 failed, 1 skipped']) {
        const result = await batch([
          ...inputs,
          '--output-dir',
          `audio-${inputs.length}-${leftOut.slice(0, 5)}`,
        ]);
        expect(result).toMatchObject({ code: 0 });
        expect(result.stderr).toContain(
          `foley: ${leftOut} no letter or digit to speak: left out\n`,
        );
        expect(result.stdout.toString()).toContain(run);
      }
    }
    await write('words.tsv', '...\tand so on\n');
    const lexicon = ['--lines', 'lines.txt', '--lexicon', 'words.tsv', '--output-dir', 'all'];
    const before = await charged();
    expect((await batch(lexicon)).stdout.toString()).toContain('2 done, 0 failed, 0 skipped');
    expect(await charged()).toBeGreaterThan(before);
    await write('only.txt', '...\n* * *\n');
    const none = await batch(['--lines', 'only.txt']);
    expect(none).toMatchObject({ code: 2 });
    expect(none.stderr).toContain(
      'there is no text to speak: the inputs have no letters or digits',
    );
  });

  test('a text that is left out does not rename the items after it', async () => {
    const { batch, sandbox, write } = await batchSandbox({});
    await write('list.jsonl', '{"text":"One."}\n{"text":"..."}\n{"text":"Three."}\n');
    expect(await batch(['--jsonl', 'list.jsonl', '--output-dir', 'audio'])).toMatchObject({
      code: 0,
    });
    const names = await readdir(path.join(sandbox.out, 'audio'));
    expect(names.filter((name) => name.endsWith('.mp3')).sort()).toEqual([
      'item-1.mp3',
      'item-3.mp3',
    ]);
  });
});
