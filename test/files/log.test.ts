import { copyFile, cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { IntentJournal, listOpenIntents } from '../../src/paid/intents.ts';
import { Log, readLog } from '../../src/durable/log.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { systemProcesses } from '../../src/system/processes.ts';
import { listRecords, resumeRecord } from '../../src/paid/parts/record.ts';
import { manualClock } from '../api/manual-clock.ts';
import { failingFiles, forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { testSystem, namesIn } from './file-simulation.ts';

const FIXTURES = path.resolve('test/fixtures/journals');
const processes = { ...systemProcesses(), liveness: () => 'dead' as const };

describe('files of the build before', () => {
  it('an intent journal is read with its steps, its bodies and its torn line', async () => {
    const { state: folder } = await createSandbox();
    await copyFile(path.join(FIXTURES, 'intents.jsonl'), path.join(folder, 'old.jsonl'));
    const deps = { ...testSystem(), folder, processes };
    const { garbled, open } = await listOpenIntents(deps, deps.folder);
    expect(garbled).toBe(1);
    expect(open).toMatchObject([
      {
        id: '17b38de86d9a29a5',
        state: 'sent',
        about: { idempotencyKey: 'foley-sent', payer: 'account-1', output: '/somewhere/sent.mp3' },
        facts: {},
        writer: 'dead',
      },
      {
        id: 'eebfc88f01a54522',
        state: 'accepted',
        about: { idempotencyKey: 'foley-job', endpoint: 'POST /api/open/v3/speech/tts/jobs' },
        facts: { jobId: 'job-1', creditsUsed: 6 },
      },
    ]);
    const journal = new IntentJournal(deps, deps.folder);
    const bodies = await Promise.all(open.map((status) => journal.bodyOf(status)));
    expect(bodies.map(String)).toEqual(['{"text":"Sent “once”.","voiceId":"v"}', 'undefined']);
  });

  it.each(['journal.jsonl', 'plan.jsonl'])(
    'a long text is read and resumed from %s',
    async (only) => {
      const { state } = await createSandbox();
      const folder = path.join(state, 'long-texts');
      const id = '20260101T000000Z-0a0b0c0d';
      await mkdir(path.join(folder, id), { recursive: true });
      for (const name of ['text.txt', only]) {
        await cp(path.join(FIXTURES, 'long-text', name), path.join(folder, id, name));
      }
      const options = { system: testSystem({ processes }), folder };
      const [left] = await listRecords(options);
      if (left === undefined) throw new Error('the record is not there');
      expect(left).toMatchObject({ id, writer: 'dead', isDamaged: only === 'plan.jsonl' });
      expect(left.plan.parts.map(({ key }) => key)).toEqual(['key-0', 'key-1', 'key-2']);
      const record = await resumeRecord(left, options);
      expect(record.partText(2)).toBe('A third one.');
      if (only === 'journal.jsonl') {
        expect(left.checksum).toBe('ab'.repeat(32));
        expect(left.temporaries).toEqual(['/somewhere/.foley-1.part', '/somewhere/.foley-2.part']);
        expect([0, 1, 2].map((part) => record.part(part))).toEqual([
          {
            state: 'verified',
            key: 'key-0',
            jobId: 'job-0',
            creditsUsed: 13,
            quotaRemaining: 87,
            bytes: 24,
          },
          { state: 'accepted', key: 'key-1b', jobId: 'job-1b', requestId: 'req-9' },
          { state: 'planned', key: 'key-2' },
        ]);
      }
      await record.close();
    },
  );
});

function logIn(folder: string, files: FileSystem = systemFiles, clock = manualClock()): Log {
  return new Log(testSystem({ files, clock }), {
    path: path.join(folder, 'a.jsonl'),
    head: [{ head: 1 }],
  });
}

describe('a log', () => {
  it('makes no file before its first append, nor when it is closed without one', async () => {
    const { state } = await createSandbox();
    await logIn(state).close();
    expect(await namesIn(state)).toEqual([]);
  });

  it('returns where records end, so that a part of them can be overwritten', async () => {
    const { state } = await createSandbox();
    const log = logIn(state);
    const [, end] = await Promise.all([log.append([{ n: 1 }]), log.append([{ n: 2 }], 'now')]);
    log.overwrite(Buffer.from('~'), end - 2);
    await log.append([{ n: 3 }]);
    await log.close();
    const { garbled, records } =
      (await readLog(path.join(state, 'a.jsonl'), 'log', systemFiles)) ?? {};
    expect(garbled).toBe(1);
    expect(records).toEqual([{ head: 1 }, { n: 1 }, { n: 3 }]);
  });

  it('syncs once for all that ask at once, and the folder of a new file with the first', async () => {
    const { state } = await createSandbox();
    const { effects, files } = failingFiles(Infinity, { kind: 'kill' });
    const log = logIn(state, files);
    await log.append([{ n: 0 }]);
    await Promise.all([1, 2, 3].map((n) => log.append([{ n }], 'now')));
    expect(effects.toSorted()).toEqual([
      'close',
      'create',
      'open',
      'sync',
      'sync',
      'write',
      'write',
    ]);
    await log.append([{ n: 4 }], 'now');
    expect(effects.filter((name) => name === 'sync')).toHaveLength(3);
    await log.close();
  });

  it('writes records that may wait together with the next record', async () => {
    const { state } = await createSandbox();
    const { effects, files } = failingFiles(Infinity, { kind: 'kill' });
    const log = logIn(state, files);
    const waiting = [1, 2].map((n) => log.appendSoon([{ n }]));
    await log.append([{ n: 3 }]);
    await Promise.all(waiting);
    expect(effects.filter((name) => name === 'write')).toHaveLength(1);
    await log.close();
    const { records } = (await readLog(path.join(state, 'a.jsonl'), 'log', systemFiles)) ?? {};
    expect(records).toEqual([{ head: 1 }, { n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('writes records that may wait after 50 ms, or when it is closed', async () => {
    const { state } = await createSandbox();
    const clock = manualClock();
    const log = logIn(state, systemFiles, clock);
    const recordsNow = async (): Promise<unknown> =>
      (await readLog(path.join(state, 'a.jsonl'), 'log', systemFiles))?.records;
    const first = log.appendSoon([{ n: 1 }]);
    clock.advance(49);
    expect(await recordsNow()).toBeUndefined();
    clock.advance(1);
    await first;
    expect(await recordsNow()).toEqual([{ head: 1 }, { n: 1 }]);
    const second = log.appendSoon([{ n: 2 }]);
    await log.close();
    await second;
    expect(await recordsNow()).toEqual([{ head: 1 }, { n: 1 }, { n: 2 }]);
  });

  it('reports to every waiting record that the write failed', async () => {
    const { state } = await createSandbox();
    const { files } = failingFiles(1, { kind: 'full' });
    const log = logIn(state, files);
    const waiting = [1, 2].map((n) => log.appendSoon([{ n }]));
    await log.close();
    const results = await Promise.allSettled(waiting);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it.each([{ kind: 'full' }, { kind: 'error', code: 'EIO' }] as const)(
    'removes a new file when its first records do not reach the disk, and tries again: $kind',
    async (fault) => {
      await forEachEffect({
        fault,
        prepare: () => createSandbox(),
        async scenario({ state }, files) {
          const log = logIn(state, files);
          const first = await log.append([{ n: 1 }], 'now').catch((error: unknown) => {
            return error instanceof Error ? error : new Error(String(error));
          });
          if (first instanceof Error) {
            expect(await namesIn(state)).toEqual([]);
            await log.append([{ n: 1 }], 'now');
          }
          await log.close();
        },
        async check({ state }, { error }) {
          if (error !== undefined) return;
          const log = await readLog(path.join(state, 'a.jsonl'), 'log', systemFiles);
          expect(log?.records).toEqual([{ head: 1 }, { n: 1 }]);
        },
      });
    },
  );
});
