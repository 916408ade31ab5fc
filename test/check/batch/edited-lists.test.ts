import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const LINES = ['--lines', 'list.txt', '--output-dir', 'audio', '--format', 'wav'];
const JSONL = ['--jsonl', 'list.jsonl', '--output-dir', 'audio'];
const TEXTS = ['One.', 'Two by two.', 'Three.', 'Four of them.', 'Five.', 'Six in all.'];

interface Spoken extends BatchSandbox {
  /** The first audio of each text. */
  readonly audio: ReadonlyMap<string, Buffer>;
  readonly paid: number;
}

/** Speaks a list of lines once. */
async function spokenLines(more: readonly string[] = []): Promise<Spoken> {
  const sandbox = await batchSandbox({ 'list.txt': TEXTS.join('\n') });
  const { result } = await sandbox.events([...LINES, ...more]);
  expect(result.code, result.stderr).toBe(0);
  const audio = new Map<string, Buffer>();
  for (const [at, text] of TEXTS.entries()) audio.set(text, await sandbox.read(outputOf(at)));
  return { ...sandbox, audio, paid: await sandbox.charged() };
}

function outputOf(at: number, ending = 'wav'): string {
  return `audio/list-${at + 1}.${ending}`;
}

/** Checks that every output has the audio of its text, and that exactly these texts were billed since. */
async function expectEdited(
  { audio, charged, events, paid, read, write }: Spoken,
  { bought = '', more = [], texts }: { bought?: string; more?: string[]; texts: readonly string[] },
): Promise<void> {
  await write('list.txt', texts.join('\n'));
  const { result } = await events([...LINES, ...more]);
  expect(result.code, result.stderr).toBe(0);
  expect(await charged()).toBe(paid + bought.length);
  for (const [at, text] of texts.entries()) {
    const before = audio.get(text);
    if (before !== undefined) expect(before.equals(await read(outputOf(at))), text).toBe(true);
  }
  const again = await events([...LINES, ...more]);
  expect(again.summary).toMatchObject({ done: 0, failed: 0, skipped: texts.length });
  expect(await charged()).toBe(paid + bought.length);
}

describe('a billed list that is edited', () => {
  test('speaks only a line that was inserted at the top', async () => {
    const spoken = await spokenLines();
    await expectEdited(spoken, { texts: ['A new one.', ...TEXTS], bought: 'A new one.' });
    expect(await readdir(path.join(spoken.sandbox.out, 'audio/.foley/kept'))).toEqual([]);
  });

  test('costs nothing for lines that are removed, reordered and put back', async () => {
    const spoken = await spokenLines();
    await expectEdited(spoken, { texts: TEXTS.filter((_, at) => at !== 2) });
    await expectEdited(spoken, { texts: TEXTS.toReversed() });
    await expectEdited(spoken, { texts: [...TEXTS.slice(2), ...TEXTS.slice(0, 2)] });
    await expectEdited(spoken, { texts: TEXTS });
  });

  test('moves captions and word times with their audio', async () => {
    const more = ['--subtitles', 'srt', '--timings'];
    const spoken = await spokenLines(more);
    const captions = new Map<string, Buffer>();
    for (const [at, text] of TEXTS.entries()) {
      captions.set(text, await spoken.read(outputOf(at, 'srt')));
    }
    // One line is removed and put back later: its audio was kept.
    for (const texts of [TEXTS.slice(1), TEXTS.toReversed(), TEXTS]) {
      await expectEdited(spoken, { texts, more });
      for (const [at, text] of texts.entries()) {
        expect(await spoken.read(outputOf(at, 'srt')), text).toEqual(captions.get(text));
        const timings = Object(JSON.parse((await spoken.read(outputOf(at, 'json'))).toString()));
        expect(timings.text).toBe(text);
      }
    }
  });

  test('does not speak a text file again that was renamed, or whose audio was renamed', async () => {
    const { batch, sandbox, charged, events, read } = await batchSandbox({
      'texts/a.txt': 'Alpha.',
    });
    const args = ['texts', '--output-dir', 'audio'];
    await batch(args);
    const [audio, paid] = [await read('audio/a.mp3'), await charged()];
    await rename(path.join(sandbox.out, 'texts/a.txt'), path.join(sandbox.out, 'texts/b.txt'));
    expect((await events(args)).statuses).toEqual({ b: 'done' });
    expect(await read('audio/b.mp3')).toEqual(audio);
    await rename(path.join(sandbox.out, 'texts/b.txt'), path.join(sandbox.out, 'texts/c.txt'));
    await rename(path.join(sandbox.out, 'audio/b.mp3'), path.join(sandbox.out, 'audio/c.mp3'));
    await rm(path.join(sandbox.out, 'audio/a.mp3'));
    expect((await events(args)).statuses).toEqual({ c: 'skipped' });
    expect(await charged()).toBe(paid);
  });
});

function list(outputs: Readonly<Record<string, string>>): string {
  const items = Object.entries(outputs);
  return items.map(([text, output]) => JSON.stringify({ text, output })).join('\n');
}

function withId(id: string): string {
  return JSON.stringify({ id, text: 'Alpha.', output: 'a.mp3' });
}

describe('a billed list of objects that is edited', () => {
  test('exchanges two outputs that change places', async () => {
    const { batch, charged, events, read, write } = await batchSandbox({
      'list.jsonl': list({ 'Alpha.': 'a.mp3', 'Bravo.': 'b.mp3', 'Charlie.': 'c.mp3' }),
    });
    await batch(JSONL);
    const [a, b, c] = [
      await read('audio/a.mp3'),
      await read('audio/b.mp3'),
      await read('audio/c.mp3'),
    ];
    const paid = await charged();
    await write('list.jsonl', list({ 'Alpha.': 'b.mp3', 'Bravo.': 'c.mp3', 'Charlie.': 'a.mp3' }));
    const { plan, summary } = await events(JSONL);
    expect(plan).toMatchObject({ toSpeak: 0, toFetch: 0, toReuse: 3 });
    expect(summary).toMatchObject({ done: 3, creditsUsed: 0 });
    expect(await read('audio/b.mp3')).toEqual(a);
    expect(await read('audio/c.mp3')).toEqual(b);
    expect(await read('audio/a.mp3')).toEqual(c);
    expect(await charged()).toBe(paid);
  });

  test('buys nothing for a new id', async () => {
    const { batch, charged, events, write } = await batchSandbox({ 'list.jsonl': withId('first') });
    await batch(JSONL);
    const paid = await charged();
    await write('list.jsonl', withId('second'));
    expect((await events(JSONL)).statuses).toEqual({ second: 'skipped' });
    expect(await charged()).toBe(paid);
  });

  test('buys equal items once, and gives each its own file', async () => {
    const items = ['a', 'b', 'c'].map((id) => JSON.stringify({ id, text: 'The same.' }));
    const { sandbox, charged, events, read } = await batchSandbox({
      'list.jsonl': items.join('\n'),
    });
    const first = await events(JSONL);
    expect(first.plan).toMatchObject({ toSpeak: 1, toReuse: 2, characters: 'The same.'.length });
    expect(first.statuses).toEqual({ a: 'done', b: 'done', c: 'done' });
    expect(await charged()).toBe('The same.'.length);
    expect(await read('audio/b.mp3')).toEqual(await read('audio/a.mp3'));
    // Only the named item is bought again.
    expect((await events([...JSONL, '--redo', 'b'])).statuses).toEqual({
      a: 'skipped',
      b: 'done',
      c: 'skipped',
    });
    expect(await charged()).toBe(2 * 'The same.'.length);
    expect((await events(JSONL)).summary).toMatchObject({ skipped: 3 });
    await rm(path.join(sandbox.out, 'audio/.foley'), { recursive: true });
    expect((await events(JSONL)).summary).toMatchObject({ done: 3 });
    expect(await charged()).toBe(2 * 'The same.'.length);
  });

  test('does not replace a file that the batch did not make by audio that moves', async () => {
    const { batch, charged, read, write } = await batchSandbox({
      'list.jsonl': list({ 'Alpha.': 'a.mp3' }),
      'audio/b.mp3': 'mine',
    });
    await batch(JSONL);
    const paid = await charged();
    await write('list.jsonl', list({ 'Alpha.': 'b.mp3' }));
    expect((await batch(JSONL)).code).toBe(31);
    expect((await read('audio/b.mp3')).toString()).toBe('mine');
    expect((await batch([...JSONL, '--overwrite'])).code).toBe(0);
    expect(await read('audio/b.mp3')).toEqual(await read('audio/a.mp3'));
    expect(await charged()).toBe(paid);
  });

  test('buys equal items once when each shard has its own process', async () => {
    const texts = ['One.', 'Same.', 'Three.', 'Same.', 'Same.', 'Six.'];
    const { batch, sandbox, charged, write } = await batchSandbox({ 'list.txt': texts.join('\n') });
    const shares = async (): Promise<void> => {
      const runs = [1, 2, 3].map((share) =>
        batch([...LINES, '--shard', `${share}/3`, '--subtitles', 'srt']),
      );
      for (const { code, stderr } of await Promise.all(runs)) expect(code, stderr).toBe(0);
    };
    await shares();
    const paid = await charged();
    expect(paid).toBe('One.Same.Three.Six.'.length);
    await write('list.txt', ['Zero.', ...texts].join('\n'));
    await shares();
    expect(await charged()).toBe(paid + 'Zero.'.length);
    const names = filesOf(await snapshot(path.join(sandbox.out, 'audio')));
    expect(names.filter((name) => /^list-\d\.(?:wav|srt)$/.test(name))).toHaveLength(14);
  });
});
