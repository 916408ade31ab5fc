import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { Scene } from './support/scene.ts';
import { filesLeft, onSpeech, paidAudio, scene, SPEAK, spooled } from './support/scene.ts';

const { mp3 } = await paidAudio();

/** A stream that was cut: half of it is in the spool. */
async function lostHalf(): Promise<Scene & { readonly id: string; readonly spool: string }> {
  const stage = await scene([onSpeech(faults.shortBody(mp3))]);
  expect((await stage.speak()).code).toBe(25);
  const spool = path.join(stage.box.state, 'foley', 'spool');
  const id = (await readdir(spool)).find((name) => name.endsWith('.json'))?.slice(0, -5) ?? '';
  return { ...stage, id, spool };
}

async function itemsOf(stage: Scene, args: readonly string[]) {
  const result = await stage.run(['recover', ...args, '--json']);
  const { items } = Object(JSON.parse(result.stdout.toString()));
  return { code: result.code, items };
}

describe('a part of audio in the spool', () => {
  test('is reported as lost once, and listed afterwards', async () => {
    const stage = await lostHalf();
    expect((await stage.run(['recover'])).code).toBe(27);
    const { code, items } = await itemsOf(stage, []);
    expect(code).toBe(0);
    expect(items).toEqual([expect.objectContaining({ outcome: 'lost', isReported: true })]);
    expect((await spooled(stage.box)).record).toMatchObject({ complete: false });
  });

  test('is removed by --forget', async () => {
    const stage = await lostHalf();
    const forgotten = await stage.run(['recover', '--forget', stage.id]);
    expect(forgotten.code, forgotten.stderr).toBe(0);
    expect(await filesLeft(stage.box)).not.toContainEqual(expect.stringContaining('spool/'));
    expect((await stage.run(['recover'])).stdout.toString()).toMatch(/Nothing was left behind/);
    const list = await stage.run(['recover', '--list']);
    expect(list).toMatchObject({ code: 0, stderr: 'Nothing was left behind.\n' });
    expect(list.stdout.toString()).toBe('');
    expect((await stage.run(['recover', '--forget', stage.id])).code).toBe(2);
  });

  test('whose record is damaged is listed with its file', async () => {
    const stage = await lostHalf();
    await truncate(path.join(stage.spool, `${stage.id}.json`), 10);
    for (const args of [['--list'], []]) {
      const { code, items } = await itemsOf(stage, args);
      expect(code).toBe(32);
      expect(JSON.stringify(items)).toContain(path.join(stage.spool, `${stage.id}.mp3`));
    }
    await stage.run(['recover', '--forget', stage.id]);
    expect(await readdir(stage.spool)).toEqual([]);
  });
});

test('a journal with damaged lines is listed until it is forgotten', async () => {
  const stage = await scene([]);
  const folder = path.join(stage.box.state, 'foley', 'journal');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path.join(folder, '20260101T000000Z-1-0a0b0c0d.jsonl'), '\nv1 00000000 {"id":\n');
  for (const args of [[], ['--list'], []]) {
    const { code, items } = await itemsOf(stage, args);
    expect(code).toBe(32);
    expect(items).toEqual([expect.objectContaining({ id: '20260101T000000Z-1-0a0b0c0d' })]);
  }
  const forgotten = await stage.run(['recover', '--forget', '20260101T000000Z-1-0a0b0c0d']);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  expect(await itemsOf(stage, [])).toEqual({ code: 0, items: [] });
});

test('a batch whose note is damaged is listed with it, and only where all is asked about', async () => {
  const stage = await scene([]);
  const folder = path.join(stage.box.state, 'foley', 'batches', 'a'.repeat(32));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path.join(folder, 'unfinished-all.json'), '{"folder');
  const { code, items } = await itemsOf(stage, []);
  expect(code).toBe(32);
  expect(JSON.stringify(items)).toContain(path.join(folder, 'unfinished-all.json'));
});

test('recover of one id says nothing about batches', async () => {
  const stage = await lostHalf();
  const folder = path.join(stage.box.state, 'foley', 'batches', 'a'.repeat(32));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const note = JSON.stringify({ folder: stage.box.out });
  await writeFile(path.join(folder, 'unfinished-all.json'), note);
  expect((await stage.run(['recover', stage.id])).stderr).not.toMatch(/batch/);
});

test('--list shows what a live command works on as running', async () => {
  const stage = await scene([onSpeech(faults.silence())]);
  const running = await stage.start(SPEAK);
  await stage.server.paused();
  const { items } = await itemsOf(stage, ['--list']);
  expect(items).toEqual([
    expect.objectContaining({ what: 'request, still running', running: true }),
  ]);
  running.signal('SIGKILL');
  await running.done;
  const { items: after } = await itemsOf(stage, ['--list']);
  expect(after).toEqual([
    expect.objectContaining({ what: 'request without a known end', running: false }),
  ]);
});
