import { describe, expect, test } from 'vitest';
import { VOICE_ID } from '../../binary/support/orders.ts';
import { expectSoundIn } from '../../binary/support/sound.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

describe('a folder of texts', () => {
  const TREE = {
    'book/intro.txt': 'Top.',
    'book/one/intro.txt': 'One.',
    'book/one/deep/end.md': 'Deep.',
    'book/two/intro.txt': 'Two.',
    'book/two/.hidden/never.txt': 'Never.',
    'book/two/table.csv': 'text\nNever.',
  };

  test('is spoken with its subfolders, which {dir} mirrors', async () => {
    const { sandbox, charged, events } = await batchSandbox(TREE);
    const args = ['book', '--output-dir', 'audio', '--name', '{dir}/{name}.{ext}'];
    const { items, result } = await events(args);
    expect(result.code, result.stderr).toBe(0);
    expect(items.map(({ id, output }) => `${id} ${output}`).toSorted()).toEqual([
      'end audio/one/deep/end.mp3',
      'intro audio/intro.mp3',
      'one/intro audio/one/intro.mp3',
      'two/intro audio/two/intro.mp3',
    ]);
    await expectSoundIn(sandbox, 'audio/one/deep/end.mp3');
    expect(await charged()).toBe('Top.One.Deep.Two.'.length);
  });

  test('requires {dir} for texts of one name, and --no-recursive leaves out subfolders', async () => {
    const { batch, charged, events } = await batchSandbox(TREE);
    const same = await batch(['book', '--output-dir', 'audio']);
    expect(same.code).toBe(2);
    expect(same.stderr).toMatch(/intro\.mp3.*\{dir\}/s);
    expect(await charged()).toBe(0);
    const flat = await events(['book', '--output-dir', 'audio', '--no-recursive']);
    expect(flat.statuses).toEqual({ intro: 'done' });
  });
});

describe('a table', () => {
  test('has an item in each row, and columns with the names of the keys of a list', async () => {
    const table = [
      'id,Notes,text,voiceId,format,speed,textNormalization',
      `intro,for ada,"Hello, ""you"".",${VOICE_ID},wav,1.5,false`,
      ',,"Two',
      'lines.",,,,',
    ].join('\r\n');
    const { charged, events } = await batchSandbox({ 'c.csv': `\ufeff${table}\r\n` });
    const { items, result } = await events(['c.csv', '--output-dir', 'audio']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(/c\.csv.*"Notes"/);
    expect(items.map(({ id, output }) => `${id} ${output}`).toSorted()).toEqual([
      'c-2 audio/c-2.mp3',
      'intro audio/intro.wav',
    ]);
    expect(await charged()).toBe('Hello, "you".Two\r\nlines.'.length);
  });

  test('may have its texts in any column, and other separators', async () => {
    const { charged, events } = await batchSandbox({
      'c.csv': 'id;text_de;text_en\na;Hallo, du.;Hello, you.\n',
    });
    const { result, statuses } = await events(['c.csv', '--text-column', 'text_en']);
    expect(result.code, result.stderr).toBe(0);
    expect(statuses).toEqual({ a: 'done' });
    expect(await charged()).toBe('Hello, you.'.length);
  });

  test('with an invalid header or row is refused before the first request', async () => {
    const { batch, charged, write } = await batchSandbox({});
    for (const [table, flags, message] of BAD_TABLES) {
      await write('c.csv', table);
      const result = await batch(['c.csv', ...flags]);
      expect(result.code, result.stderr).toBe(2);
      expect(result.stderr).toMatch(message);
    }
    expect(await charged()).toBe(0);
  });

  test('is required for --text-column', async () => {
    const { batch } = await batchSandbox({ 'a.txt': 'Hello.' });
    const result = await batch(['a.txt', '--text-column', 'text']);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/--text-column requires a \.csv/);
  });
});

test('a file that is not a text is refused before the first request, alone and in a list', async () => {
  const { batch, charged, write } = await batchSandbox({});
  for (const name of ['a.json', 'a.pdf', 'a.xml', 'a.log', 'a.JSON', 'a.mp3']) {
    await write(name, 'Hello.');
    await write('list.jsonl', JSON.stringify({ file: name }));
    for (const args of [[name], ['--jsonl', 'list.jsonl']]) {
      const result = await batch(args);
      expect(result.code, result.stderr).toBe(2);
      expect(result.stderr).toMatch(new RegExp(`${name} .*\\.txt`, 's'));
    }
  }
  expect(await charged()).toBe(0);
});

const BAD_TABLES: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['id,words\na,Hello.\n', [], /c\.csv has no column "text".*words/s],
  ['text\nHello.\n', ['--text-column', 'txt'], /no column "txt".*text/s],
  ['text,text\na,b\n', [], /column "text" twice/],
  ['text,voice_id\na,b\n', [], /"voice_id".*voiceId/s],
  ['text,id\na,b,c\n', [], /c\.csv, line 2.*3.*2|c\.csv, line 2.*2.*3/s],
  ['text\n"a\n', [], /c\.csv, line \d.*quot/is],
  ['text,speed\na,fast\n', [], /line 2: speed is "fast"/],
  ['text,id\n,a\n', [], /line 2.*neither text nor file/],
  ['', [], /c\.csv.*empty/],
];
