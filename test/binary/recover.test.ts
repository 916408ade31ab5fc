import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { Fixture } from './support/fixture.ts';
import {
  filesLeft,
  onSpeech,
  paidAudio,
  createFixture,
  SPEAK,
  spooled,
} from './support/fixture.ts';

const { mp3 } = await paidAudio();

/** A stream that was cut: half of it is in the spool. */
async function lostHalf(): Promise<Fixture & { readonly id: string; readonly spool: string }> {
  const fixture = await createFixture([onSpeech(faults.shortBody(mp3))]);
  expect((await fixture.speak()).code).toBe(25);
  const spool = path.join(fixture.sandbox.state, 'foley', 'spool');
  const id = (await readdir(spool)).find((name) => name.endsWith('.json'))?.slice(0, -5) ?? '';
  return { ...fixture, id, spool };
}

async function itemsOf(fixture: Fixture, args: readonly string[]) {
  const result = await fixture.run(['recover', ...args, '--json']);
  const { items } = Object(JSON.parse(result.stdout.toString()));
  return { code: result.code, items };
}

describe('a part of audio in the spool', () => {
  test('is reported as lost once, and listed afterwards', async () => {
    const fixture = await lostHalf();
    expect((await fixture.run(['recover'])).code).toBe(27);
    const { code, items } = await itemsOf(fixture, []);
    expect(code).toBe(0);
    expect(items).toEqual([expect.objectContaining({ outcome: 'lost', isReported: true })]);
    expect((await spooled(fixture.sandbox)).record).toMatchObject({ complete: false });
  });

  test('is removed by --forget', async () => {
    const fixture = await lostHalf();
    const forgotten = await fixture.run(['recover', '--forget', fixture.id]);
    expect(forgotten.code, forgotten.stderr).toBe(0);
    expect(await filesLeft(fixture.sandbox)).not.toContainEqual(expect.stringContaining('spool/'));
    expect((await fixture.run(['recover'])).stdout.toString()).toMatch(/Nothing was left behind/);
    const list = await fixture.run(['recover', '--list']);
    expect(list).toMatchObject({ code: 0, stderr: 'Nothing was left behind.\n' });
    expect(list.stdout.toString()).toBe('');
    expect((await fixture.run(['recover', '--forget', fixture.id])).code).toBe(2);
  });

  test('whose record is damaged is listed with its file', async () => {
    const fixture = await lostHalf();
    await truncate(path.join(fixture.spool, `${fixture.id}.json`), 10);
    for (const args of [['--list'], []]) {
      const { code, items } = await itemsOf(fixture, args);
      expect(code).toBe(32);
      expect(JSON.stringify(items)).toContain(path.join(fixture.spool, `${fixture.id}.mp3`));
    }
    await fixture.run(['recover', '--forget', fixture.id]);
    expect(await readdir(fixture.spool)).toEqual([]);
  });
});

test('a journal with damaged lines is listed until it is forgotten', async () => {
  const fixture = await createFixture([]);
  const folder = path.join(fixture.sandbox.state, 'foley', 'journal');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path.join(folder, '20260101T000000Z-1-0a0b0c0d.jsonl'), '\nv1 00000000 {"id":\n');
  for (const args of [[], ['--list'], []]) {
    const { code, items } = await itemsOf(fixture, args);
    expect(code).toBe(32);
    expect(items).toEqual([expect.objectContaining({ id: '20260101T000000Z-1-0a0b0c0d' })]);
  }
  const forgotten = await fixture.run(['recover', '--forget', '20260101T000000Z-1-0a0b0c0d']);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  expect(await itemsOf(fixture, [])).toEqual({ code: 0, items: [] });
});

test('a batch whose note is damaged is listed with it, and only where all is asked about', async () => {
  const fixture = await createFixture([]);
  const folder = path.join(fixture.sandbox.state, 'foley', 'batches', 'a'.repeat(32));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path.join(folder, 'unfinished-all.json'), '{"folder');
  const { code, items } = await itemsOf(fixture, []);
  expect(code).toBe(32);
  expect(JSON.stringify(items)).toContain(path.join(folder, 'unfinished-all.json'));
});

test('recover of one id says nothing about batches', async () => {
  const fixture = await lostHalf();
  const folder = path.join(fixture.sandbox.state, 'foley', 'batches', 'a'.repeat(32));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const note = JSON.stringify({ folder: fixture.sandbox.out });
  await writeFile(path.join(folder, 'unfinished-all.json'), note);
  expect((await fixture.run(['recover', fixture.id])).stderr).not.toMatch(/batch/);
});

test('--list shows what a live command works on as running', async () => {
  const fixture = await createFixture([onSpeech(faults.silence())]);
  const running = await fixture.start(SPEAK);
  await fixture.server.paused();
  const { items } = await itemsOf(fixture, ['--list']);
  expect(items).toEqual([
    expect.objectContaining({ what: 'request, still running', running: true }),
  ]);
  running.signal('SIGKILL');
  await running.done;
  const { items: after } = await itemsOf(fixture, ['--list']);
  expect(after).toEqual([
    expect.objectContaining({ what: 'request without a known end', running: false }),
  ]);
});
