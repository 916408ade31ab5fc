import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { systemRandom } from '../../../src/system/random.ts';
import type { LongTextPlan } from '../../../src/paid/parts/plan.ts';
import type { LongTexts } from '../../../src/paid/parts/record.ts';
import {
  beginRecord,
  resumeRecord,
  listRecords,
  sweepRecords,
} from '../../../src/paid/parts/record.ts';
import { createSpool } from '../../../src/durable/spool.ts';
import { IntentJournal } from '../../../src/paid/intents.ts';
import { forEachEffect } from '../../harness/failing-files.ts';
import { recoverLongText } from '../../../src/paid/recover/recover-long-text.ts';

const TEXT = 'One sentence. Another one.';

const PLAN: LongTextPlan = {
  id: '20260101T000000Z-0a0b0c0d',
  at: '2026-01-01T00:00:00.000Z',
  target: 'hosted',
  origin: 'https://api.example.test',
  via: 'job',
  surface: 'v3',
  delivery: 'file',
  order: { voiceId: 'v', speed: 1.5 },
  format: 'mp3',
  output: '/somewhere/book.mp3',
  temporary: null,
  characters: 25,
  parts: [
    { start: 0, end: 13, key: 'key-0' },
    { start: 14, end: 26, key: 'key-1' },
  ],
};

async function stateFolder(): Promise<LongTexts> {
  const root = await mkdtemp(path.join(tmpdir(), 'foley-record-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return {
    folder: path.join(root, 'long-texts'),
    system: {
      files: systemFiles,
      clock: systemClock,
      random: systemRandom,
      platform: process.platform,
      processes: systemProcesses(),
    },
  };
}

describe('the record of a long text', () => {
  test('is on the disk with the text, the plan and the keys before anything is sent', async () => {
    const options = await stateFolder();
    const record = await beginRecord(PLAN, { text: TEXT }, options);
    onTestFinished(() => record.close());
    const [left] = await listRecords(options);
    expect(left).toMatchObject({ id: PLAN.id, plan: PLAN, writer: 'alive', checksum: undefined });
    const folder = path.join(options.folder, PLAN.id);
    expect(await readFile(path.join(folder, 'text.txt'), 'utf8')).toBe(TEXT);
    for (const place of [options.folder, folder]) expect((await stat(place)).mode & 0o077).toBe(0);
    for (const name of await readdir(folder)) {
      expect((await stat(path.join(folder, name))).mode & 0o077).toBe(0);
    }
  });

  test('that cannot be begun leaves no folder and no open file', async () => {
    await forEachEffect({
      fault: { kind: 'error', code: 'EIO' },
      prepare: stateFolder,
      async scenario(options, files) {
        const system = { ...options.system, files };
        await (await beginRecord(PLAN, { text: TEXT }, { ...options, system })).close();
      },
      async check({ folder }, { at, struck, error, open }) {
        expect(open, `left open at ${struck} ${at}`).toEqual([]);
        if (error === undefined || struck === 'close') return;
        const left = await readdir(folder).catch(() => []);
        if (struck !== 'rm') expect(left, `${struck} ${at}`).toEqual([]);
      },
    });
  });

  test('is gone on with where it was', async () => {
    const options = await stateFolder();
    const first = await beginRecord(PLAN, { text: TEXT }, options);
    await first.note({ part: 0, state: 'accepted', jobId: 'job-0', creditsUsed: 7 });
    await first.note({ part: 0, state: 'verified', bytes: 99 });
    await first.note({ part: 1, state: 'accepted', jobId: 'job-1' });
    await first.note({ part: 1, state: 'failed' });
    await first.note({ part: 1, state: 'planned', key: 'key-2' });
    await first.verified('abc');
    await first.close();
    const [left] = await listRecords(options);
    if (left === undefined) throw new Error('the record is not there');
    expect(left.checksum).toBe('abc');
    const second = await resumeRecord(left, options);
    expect(second.part(0)).toEqual({
      state: 'verified',
      key: 'key-0',
      jobId: 'job-0',
      creditsUsed: 7,
      bytes: 99,
    });
    // Under another key nothing of what was known holds.
    expect(second.part(1)).toEqual({ state: 'planned', key: 'key-2' });
    expect(second.partText(1)).toBe('Another one.');
    await second.remove();
    expect(await listRecords(options)).toEqual([]);
    expect(await readdir(options.folder)).toEqual([]);
  });

  test('is skipped when another process has resumed it since it was listed', async () => {
    const options = await stateFolder();
    const record = await beginRecord(PLAN, { text: TEXT }, options);
    onTestFinished(() => record.close());
    const [left] = await listRecords(options);
    if (left === undefined) throw new Error('nothing is there');
    const { system } = options;
    const deps = {
      system,
      texts: options,
      buysLost: false,
      concurrency: notUsed,
      connect: notUsed,
      journal: new IntentJournal(system, path.join(options.folder, 'journal')),
      mediaSource: notUsed,
      notice: () => {},
      onWait: () => {},
      openCaptions: notUsed,
      signal: new AbortController().signal,
      spool: createSpool(system, path.join(options.folder, 'spool')),
    };
    // As it was when the list was made.
    const stale = { ...left, writer: 'dead' as const };
    expect(await recoverLongText(stale, deps)).toMatchObject({ outcome: 'running' });
    await record.remove();
    expect(await recoverLongText(stale, deps)).toMatchObject({ outcome: 'running' });
  });

  test('says less, and never something else, when its end is chopped off', async () => {
    const states = ['planned', 'accepted', 'verified'];
    await assert(
      asyncProperty(integer({ min: 0, max: 400 }), async (lost) => {
        const options = await stateFolder();
        const record = await beginRecord(PLAN, { text: TEXT }, options);
        const journal = path.join(options.folder, PLAN.id, 'journal.jsonl');
        const whole = (await stat(journal)).size;
        await record.note({ part: 0, state: 'accepted', jobId: 'job-0' });
        await record.note({ part: 0, state: 'verified', bytes: 99 });
        await record.close();
        const size = Math.max(whole, (await stat(journal)).size - lost);
        await truncate(journal, size);
        const [left] = await listRecords(options);
        if (left === undefined) throw new Error('the record is not there');
        const resumed = await resumeRecord(left, options);
        const { key, state } = resumed.part(0);
        expect(key).toBe('key-0');
        expect(states).toContain(state);
        // What is written behind a torn line is read.
        await resumed.note({ part: 1, state: 'accepted', jobId: 'job-9' });
        await resumed.close();
        const [again] = await listRecords(options);
        expect(again?.states.get(1)).toMatchObject({ jobId: 'job-9' });
      }),
      { numRuns: 25 },
    );
  });

  test('without a plan is passed over, and removed when it is old', async () => {
    const options = await stateFolder();
    const folder = path.join(options.folder, 'begun');
    await mkdir(folder, { recursive: true });
    expect(await listRecords(options)).toEqual([]);
    await sweepRecords(options);
    expect(await readdir(options.folder)).toEqual(['begun']);
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(folder, longAgo, longAgo);
    const kept = await beginRecord(PLAN, { text: TEXT }, options);
    await sweepRecords(options);
    expect(await readdir(options.folder)).toEqual([PLAN.id]);
    await kept.remove();
  });

  test('that cannot be written is 32, and leaves nothing', async () => {
    const options = await stateFolder();
    const full: LongTexts = {
      ...options,
      system: {
        ...options.system,
        files: {
          ...systemFiles,
          open: (file, flags, mode) =>
            file.endsWith('.jsonl')
              ? Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }))
              : systemFiles.open(file, flags, mode),
        },
      },
    };
    await expect(beginRecord(PLAN, { text: TEXT }, full)).rejects.toMatchObject({ exit: 'state' });
    expect(await readdir(options.folder)).toEqual([]);
  });
});

function notUsed(): never {
  throw new Error('nothing is spoken');
}
