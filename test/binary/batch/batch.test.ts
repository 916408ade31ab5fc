import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import { expectSound, expectSoundIn } from '../support/sound.ts';
import { batchSandbox, lastLine, wholeLastLine } from './batch-sandbox.ts';
import { filesLeft } from '../support/fixture.ts';

const TEXTS = {
  'texts/a.txt': 'Alpha speaks.',
  'texts/b.md': 'Bravo.',
  'texts/c.txt': 'Charlie says so.',
};
const ALL_CREDITS = 'Alpha speaks.Bravo.Charlie says so.'.length;
const OUT = ['texts', '--output-dir', 'audio'];

describe('foley batch of a folder', () => {
  test('speaks every text to a file of its name, and reports the counts on the last line', async () => {
    const { batch, sandbox, charged } = await batchSandbox({
      ...TEXTS,
      'texts/notes.csv': 'no text',
    });
    const result = await batch(OUT);
    expect(result.code, result.stderr).toBe(0);
    expect(wholeLastLine(result)).toBe(`3 done, 0 failed, 0 skipped, ${ALL_CREDITS} credits used`);
    for (const name of ['a', 'b', 'c']) await expectSoundIn(sandbox, `audio/${name}.mp3`);
    expect(await charged()).toBe(ALL_CREDITS);
    const files = filesOf(await snapshot(path.join(sandbox.out, 'audio')));
    expect(files.filter((name) => !name.startsWith('.foley/'))).toEqual([
      'a.mp3',
      'b.mp3',
      'c.mp3',
    ]);
  });

  test('skips finished items in the next run, which costs nothing', async () => {
    const { batch, charged, events } = await batchSandbox(TEXTS);
    await batch(OUT);
    const { result, statuses, summary } = await events(OUT);
    expect(result.code).toBe(0);
    expect(statuses).toEqual({ a: 'skipped', b: 'skipped', c: 'skipped' });
    expect(summary).toMatchObject({ done: 0, failed: 0, skipped: 3, creditsUsed: 0 });
    expect(await charged()).toBe(ALL_CREDITS);
  });

  test('fetches a removed file again without billing it', async () => {
    const { batch, sandbox, charged, events, read } = await batchSandbox(TEXTS);
    await batch(OUT);
    const before = await read('audio/b.mp3');
    await rm(path.join(sandbox.out, 'audio/b.mp3'));
    const { statuses, summary } = await events(OUT);
    expect(statuses).toEqual({ a: 'skipped', b: 'done', c: 'skipped' });
    expect(summary).toMatchObject({ done: 1, creditsUsed: 0 });
    expect(await read('audio/b.mp3')).toEqual(before);
    expect(await charged()).toBe(ALL_CREDITS);
  });

  test.each([
    ['its text', { 'texts/b.md': 'Bravo changed.' }, []],
    ['its control', {}, ['--speed', '1.5']],
  ])(
    'an item is spoken again when %s changed, and replaces the old file',
    async (_, files, flags) => {
      const { batch, charged, events, read, write } = await batchSandbox({
        'texts/b.md': 'Bravo.',
      });
      await batch(OUT);
      const [before, paid] = [await read('audio/b.mp3'), await charged()];
      for (const [name, text] of Object.entries(files)) await write(name, text);
      const { statuses } = await events([...OUT, ...flags]);
      expect(statuses).toEqual({ b: 'done' });
      const after = await read('audio/b.mp3');
      expect(after).not.toEqual(before);
      await expectSound(after);
      expect(await charged()).toBeGreaterThan(paid);
      // The earlier content was billed before.
      const both = await charged();
      await write('texts/b.md', 'Bravo.');
      expect((await events(OUT)).statuses).toEqual({ b: 'done' });
      expect(await read('audio/b.mp3')).toEqual(before);
      expect(await charged()).toBe(both);
    },
  );

  test('a lost journal does not bill anything twice', async () => {
    const { batch, sandbox, charged, events } = await batchSandbox(TEXTS);
    await batch(OUT);
    await rm(path.join(sandbox.out, 'audio', '.foley'), { recursive: true });
    const { statuses } = await events(OUT);
    expect(statuses).toEqual({ a: 'done', b: 'done', c: 'done' });
    expect(await charged()).toBe(ALL_CREDITS);
  });
});

describe('foley batch of other inputs', () => {
  test('lines are named after their file and number, also from a pipe', async () => {
    const { batch, sandbox, events, write } = await batchSandbox({});
    await write('phrases.txt', '\ufeffOne.\r\n\r\n...\r\nTwo.\n* * *\nThree.');
    const { items, plan, result } = await events(['--lines', 'phrases.txt', '--format', 'wav']);
    expect(result.code, result.stderr).toBe(0);
    expect(plan).toMatchObject({ items: 3, toSpeak: 3, characters: 'One.Two.Three.'.length });
    expect(items.map(({ id, output }) => `${id} ${output}`).toSorted()).toEqual([
      'phrases-1 phrases-1.wav',
      'phrases-2 phrases-2.wav',
      'phrases-3 phrases-3.wav',
    ]);
    await expectSoundIn(sandbox, 'phrases-3.wav');
    const args = ['--lines', '-', '--name', 'part-{index}.{ext}', '--output-dir', 'piped'];
    const piped = await batch(args, { input: 'Four.\nFive.\n' });
    expect(piped.code, piped.stderr).toBe(0);
    await expectSoundIn(sandbox, 'piped/part-2.mp3');
  });

  test('a list can have every field of a request', async () => {
    const { sandbox, events, service, write } = await batchSandbox({});
    const { bytes } = await service.ask('/api/open/v3/voices');
    const voiceId = Object(JSON.parse(bytes.toString())).items[1].voiceId;
    await write('lists/hello.txt', 'From a file beside the list.');
    const list = [
      { id: 'intro', text: 'Hello.', output: 'part-1/intro.wav', speed: 1.2 },
      { id: 'body', file: 'hello.txt', voiceId, modelId: 'vendor-s2pro', format: 'ogg' },
      { text: 'No id.' },
    ];
    await write('lists/items.jsonl', list.map((item) => JSON.stringify(item)).join('\n'));
    const { items, result } = await events([
      '--jsonl',
      'lists/items.jsonl',
      '--output-dir',
      'audio',
    ]);
    expect(result.code, result.stderr).toBe(0);
    const byId = new Map(items.map((item) => [item.id, item]));
    expect(byId.get('intro')).toMatchObject({ output: 'audio/part-1/intro.wav', format: 'wav' });
    expect(byId.get('body')).toMatchObject({
      output: 'audio/body.ogg',
      voiceId,
      modelId: 'vendor-s2pro',
    });
    expect(byId.get('item-3')).toMatchObject({ output: 'audio/item-3.mp3' });
    for (const { output } of items) await expectSoundIn(sandbox, String(output));
  });

  test('--dry-run shows the plan and writes nothing', async () => {
    const { batch, sandbox, charged, events } = await batchSandbox(TEXTS);
    const before = await filesLeft(sandbox);
    const shown = await batch([...OUT, '--dry-run', '--credit-rate', '1']);
    expect(shown.code, shown.stderr).toBe(0);
    expect(lastLine(shown)).toMatch(
      new RegExp(`^3 to speak \\(${ALL_CREDITS} characters, about ${ALL_CREDITS} credits\\)`),
    );
    expect(await filesLeft(sandbox)).toEqual(before);
    expect(await charged()).toBe(0);
    await events(OUT);
    expect(lastLine(await batch([...OUT, '--dry-run']))).toMatch(/^0 to speak .* 3 done before/);
  });
});
