import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Liveness, Processes } from '../../src/system/processes.ts';
import type { IntentAbout } from '../../src/paid/intents.ts';
import { IntentJournal, listOpenIntents, sweepIntents } from '../../src/paid/intents.ts';
import { logLine } from '../../src/durable/log.ts';
import { Killed, forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import {
  countingRandom,
  failureOf,
  testSystem,
  modeOf,
  namesIn,
} from '../files/file-simulation.ts';

const ABOUT: IntentAbout = {
  what: 'speech',
  endpoint: 'POST /api/open/v3/speech',
  origin: 'https://api.example',
  target: 'hosted',
  idempotencyKey: 'foley-1',
  requestId: null,
  output: 'hello.mp3',
  temporary: '/out/.foley-0.part',
};

/** A process of this test; `others` says what it believes of every other one. */
function processes(pid: number, others: Liveness = 'dead'): Processes {
  const self = { pid, host: 'here', bootId: 'b', pidNamespace: 'n', processStart: '1' };
  return { self, liveness: (other) => (other.pid === pid ? 'alive' : others) };
}

async function simulation(folder?: string) {
  const { state } = await createSandbox();
  const where = folder ?? path.join(state, 'foley', 'intents');
  const journal = (pid: number, files: FileSystem = systemFiles) => {
    const system = testSystem({
      files,
      random: countingRandom(`${pid}`),
      processes: processes(pid),
    });
    const opened = new IntentJournal(system, where);
    onTestFinished(() => opened.close());
    return opened;
  };
  const list = (others: Liveness = 'dead') =>
    listOpenIntents(testSystem({ processes: processes(99, others) }), where);
  return { folder: where, journal, list };
}

describe('the journal of what may cost credits', () => {
  it('knows of an operation before the request is sent, for its owner only', async () => {
    const { folder, journal, list } = await simulation();
    const intent = await journal(1).begin(ABOUT);
    const { open, garbled } = await list();
    expect(garbled).toBe(0);
    expect(open).toEqual([
      {
        id: intent.id,
        generation: 0,
        state: 'planned',
        at: '2024-05-06T07:08:09.000Z',
        about: ABOUT,
        facts: {},
        writer: 'dead',
      },
    ]);
    const [name = ''] = await namesIn(folder);
    expect(name).toMatch(/^20240506T070809Z-1-[0-9a-f]{8}\.jsonl$/);
    expect([await modeOf(folder), await modeOf(path.join(folder, name))]).toEqual([0o700, 0o600]);
  });

  it('follows it, with what becomes known on the way', async () => {
    const { journal, list } = await simulation();
    const intent = await journal(1).begin(ABOUT);
    await intent.advance('sent');
    await intent.advance('accepted', { jobId: 'job-1' });
    await intent.advance('verified', { checksum: 'ef', bytes: 100 });
    expect((await list('alive')).open).toMatchObject([
      { state: 'verified', facts: { jobId: 'job-1', checksum: 'ef', bytes: 100 }, writer: 'alive' },
    ]);
  });

  it('leaves nothing behind when everything has ended', async () => {
    const { folder, journal, list } = await simulation();
    const written = journal(1);
    const first = await written.begin(ABOUT);
    const second = await written.begin(ABOUT);
    expect(first.id).not.toBe(second.id);
    await first.markAs('published');
    await second.markAs('rejected', { problem: 'no such voice' });
    expect((await list()).open).toEqual([]);
    await written.close();
    expect(await namesIn(folder)).toEqual([]);
  });

  it('stays where one has not ended', async () => {
    const { journal, list } = await simulation();
    const written = journal(1);
    await (await written.begin(ABOUT)).markAs('published');
    const second = await written.begin(ABOUT);
    await second.advance('sent');
    await written.close();
    expect((await list()).open.map(({ id }) => id)).toEqual([second.id]);
  });

  it('counts no refunded one that goes on under a new key, though its end was not written', async () => {
    const { folder, journal, list } = await simulation();
    const refunded = await journal(1).begin(ABOUT);
    await refunded.advance('sent');
    const about = { ...ABOUT, idempotencyKey: 'foley-2', renews: refunded.id };
    const next = await journal(2).begin(about);
    const [open, ...others] = (await list()).open;
    expect([open?.id, others]).toEqual([next.id, []]);
    const later = journal(3);
    if (open !== undefined) await later.resume(open).markAs('published');
    await later.close();
    expect((await list()).open).toEqual([]);
    expect(await namesIn(folder)).toEqual([]);
  });

  it('keeps what was sent in its own file, and there only until the operation ends', async () => {
    const { folder, journal, list } = await simulation();
    const written = journal(1);
    const first = await written.begin(ABOUT, Buffer.from('{"text":"\u201cone\u201d"}'));
    const second = await written.begin(ABOUT, Buffer.from('{"text":"two"}'));
    const [one, two] = (await list()).open;
    if (one === undefined || two === undefined) throw new Error('two are open');
    expect((await journal(2).bodyOf(one))?.toString()).toBe('{"text":"\u201cone\u201d"}');
    await first.markAs('published');
    await written.close();
    const [name = '', ...others] = await namesIn(folder);
    expect(others).toEqual([]);
    const content = await readFile(path.join(folder, name), 'utf8');
    expect(content).not.toContain('one');
    expect(await list()).toMatchObject({ open: [{ id: second.id }], garbled: 0 });
    expect(await journal(2).bodyOf(one)).toBeUndefined();
    expect((await journal(2).bodyOf(two))?.toString()).toBe('{"text":"two"}');
  });

  it('keeps the steps of several at once apart', async () => {
    const { journal, list } = await simulation();
    const written = journal(1);
    const intents = await Promise.all(Array.from({ length: 8 }, () => written.begin(ABOUT)));
    await Promise.all(intents.map((intent) => intent.advance('sent')));
    await Promise.all(intents.slice(2).map((intent) => intent.markAs('published')));
    const { open, garbled } = await list();
    expect(garbled).toBe(0);
    expect(new Set(open.map(({ id }) => id))).toEqual(
      new Set(intents.slice(0, 2).map(({ id }) => id)),
    );
  });

  it('is made when there is something to write, and not before', async () => {
    const { folder, journal, list } = await simulation();
    await journal(1).close();
    expect(await namesIn(folder).catch(() => 'no folder')).toBe('no folder');
    expect(await list()).toEqual({ open: [], garbled: 0 });
  });
});

describe('what another process left open', () => {
  it('is settled by a later one, and then both files go', async () => {
    const { folder, journal, list } = await simulation();
    const intent = await journal(1).begin(ABOUT);
    await intent.advance('sent');
    const [open] = (await list()).open;
    if (open === undefined) throw new Error('one was left open');
    const later = journal(2);
    await later.resume(open).markAs('lost', { creditsUsed: 12 });
    expect((await list()).open).toEqual([]);
    expect(await namesIn(folder)).toHaveLength(2);
    await later.close();
    expect(await namesIn(folder)).toEqual([]);
  });

  it('is settled without its temporary file, and without any other file', async () => {
    const { folder, journal, list } = await simulation();
    const first = journal(1);
    const names = [`.foley-${'0'.repeat(24)}.part`, 'mine.mp3'];
    const files = names.map((name) => path.join(path.dirname(path.dirname(folder)), name));
    for (const temporary of files) {
      await writeFile(temporary, 'audio');
      await first.begin({ ...ABOUT, temporary });
    }
    const later = journal(2);
    for (const open of (await list()).open) await later.settle(open, 'abandoned');
    expect((await list()).open).toEqual([]);
    expect(files.map((file) => existsSync(file))).toEqual([false, true]);
  });

  it('stays settled while another, of the same process, is open', async () => {
    const { journal, list } = await simulation();
    const first = journal(1);
    const [one, two] = [await first.begin(ABOUT), await first.begin(ABOUT)];
    const later = journal(2);
    const status = (await list()).open.find(({ id }) => id === one.id);
    if (status === undefined) throw new Error('nothing is open');
    await later.resume(status).markAs('lost');
    await later.close();
    expect((await list()).open.map(({ id }) => id)).toEqual([two.id]);
  });

  it('stays settled when the files of those that ended cannot be looked through', async () => {
    const { folder, journal, list } = await simulation();
    const begun = await journal(1).begin(ABOUT);
    const [status] = (await list()).open;
    if (status === undefined) throw new Error('nothing is open');
    let isBroken = false;
    const files: FileSystem = {
      ...systemFiles,
      readdir: new Proxy(systemFiles.readdir, {
        apply: async (readdir, self, given) => {
          if (isBroken) throw Object.assign(new Error('EIO'), { code: 'EIO' });
          return Reflect.apply(readdir, self, given);
        },
      }),
    };
    const later = journal(2, files);
    await later.resume(status).markAs('lost');
    isBroken = true;
    await later.close();
    expect((await list()).open).toEqual([]);
    expect(begun.id).toBe(status.id);
    expect(await namesIn(folder)).toHaveLength(2);
  });

  it('is not swept away before its first step is there, when nothing is known of its process', async () => {
    const { folder } = await simulation();
    await mkdir(folder, { recursive: true });
    const owner = processes(1).self;
    await writeFile(path.join(folder, '20240506T070809Z-1-00000000.jsonl'), logLine({ owner }));
    const sweep = (others: Liveness) =>
      sweepIntents(testSystem({ processes: processes(99, others) }), folder);
    await sweep('unknown');
    expect(await namesIn(folder)).toHaveLength(1);
    await sweep('dead');
    expect(await namesIn(folder)).toHaveLength(0);
  });

  it('is not swept away while it is open, or while its process runs', async () => {
    const { folder, journal } = await simulation();
    await journal(1).begin(ABOUT);
    await (await journal(2).begin(ABOUT)).markAs('published');
    await sweepIntents(testSystem({ processes: processes(9, 'alive') }), folder);
    expect(await namesIn(folder)).toHaveLength(2);
    await sweepIntents(testSystem({ processes: processes(9, 'dead') }), folder);
    expect((await namesIn(folder)).map((name) => name.split('-')[1])).toEqual(['1']);
  });

  it('reports which of them may still be running', async () => {
    const { journal, list } = await simulation();
    await journal(1).begin(ABOUT);
    expect((await list('unknown')).open[0]?.writer).toBe('unknown');
    expect((await list('alive')).open[0]?.writer).toBe('alive');
  });
});

describe('a damaged journal', () => {
  it('loses no step but the damaged ones', async () => {
    const { folder, journal, list } = await simulation();
    const intent = await journal(1).begin(ABOUT);
    await intent.advance('sent');
    const [name = ''] = await namesIn(folder);
    const file = path.join(folder, name);
    await appendFile(file, '\nv1 00000000 {"id":"x"}\n');
    await appendFile(file, '\nv1 12ab');
    await appendFile(file, logLine({ id: intent.id, generation: 0, state: 'accepted', at: 'now' }));
    await appendFile(file, Buffer.from([0, 255, 254, 10, 128]));
    const { open, garbled } = await list();
    expect(open).toMatchObject([{ state: 'accepted', about: ABOUT }]);
    expect(garbled).toBe(4);
  });

  it('is read however it was torn: every step before the tear counts', async () => {
    const { folder, journal, list } = await simulation();
    const intent = await journal(1).begin(ABOUT);
    await intent.advance('sent');
    const [name = ''] = await namesIn(folder);
    const whole = await readFile(path.join(folder, name));
    const begun = whole.indexOf('"state":"planned"');
    const endOfIntent = whole.indexOf('\n', begun);
    for (let length = 0; length <= whole.length; length += 1) {
      await writeFile(path.join(folder, name), whole.subarray(0, length));
      const { open, garbled } = await list();
      expect(open.map(({ id }) => id)).toEqual(length >= endOfIntent ? [intent.id] : []);
      expect(garbled).toBeLessThanOrEqual(1);
    }
  });

  it('is set aside when nothing in it is open', async () => {
    const { folder, journal, list } = await simulation();
    const written = journal(1);
    await (await written.begin(ABOUT)).markAs('published');
    const [name = ''] = await namesIn(folder);
    await appendFile(path.join(folder, name), '\nv1 12ab');
    await sweepIntents(testSystem({ processes: processes(9) }), folder);
    expect(await namesIn(folder)).toEqual([`${name}.corrupt`]);
    expect(await list()).toEqual({ open: [], garbled: 0 });
  });

  it('shows an operation of which only a later step is readable', async () => {
    const { folder, list } = await simulation();
    await mkdir(folder, { recursive: true });
    const step = { id: 'x', generation: 0, state: 'sent', at: 'now' };
    await writeFile(path.join(folder, 'a.jsonl'), logLine(step));
    expect((await list()).open).toMatchObject([{ id: 'x', about: undefined, writer: 'unknown' }]);
  });

  it('does not take other records for steps', async () => {
    const { folder, list } = await simulation();
    await mkdir(folder, { recursive: true });
    const strange = [
      {},
      { id: 1 },
      { id: 'x', at: '', state: 'odd', generation: 0 },
      { id: 'y', at: '', state: 'sent', generation: 'z' },
    ];
    await writeFile(
      path.join(folder, 'a.jsonl'),
      Buffer.concat(strange.map((one) => logLine(one))),
    );
    expect(await list()).toEqual({ open: [], garbled: 4 });
  });
});

describe('a journal of a newer version', () => {
  it('is not touched, and nothing that costs credits is begun', async () => {
    const { folder, journal, list } = await simulation();
    await mkdir(folder, { recursive: true });
    // Its CRC-32, as gzip has it: `printf %s 'v3 {"step":"of a later foley"}' | gzip | tail -c8 | od -An -tx4`.
    const line = '\nv3 35bbb63b {"step":"of a later foley"}\n';
    await writeFile(path.join(folder, 'newer.jsonl'), line);
    const failure = {
      exitCode: 32,
      code: 'state',
      billed: 'no',
      message: expect.stringContaining('newer foley'),
    };
    expect(await failureOf(list())).toMatchObject(failure);
    expect(await failureOf(journal(1).begin(ABOUT))).toMatchObject(failure);
    expect(await namesIn(folder)).toEqual(['newer.jsonl']);
    expect(await readFile(path.join(folder, 'newer.jsonl'), 'utf8')).toBe(line);
  });
});

describe('whatever goes wrong while an operation is written down', () => {
  it.each([
    { kind: 'full' },
    { kind: 'error', code: 'EIO' },
    { kind: 'error', code: 'EROFS' },
  ] as const)(
    'it is either on the disk, or nothing may be sent and nothing is left: $kind $code',
    async (fault) => {
      await forEachEffect({
        fault,
        prepare: simulation,
        async scenario({ journal }, files) {
          await journal(1, files).begin(ABOUT);
        },
        async check({ folder, list }, { struck, error }) {
          const { open } = await list();
          if (error === undefined) {
            expect(open).toMatchObject([{ state: 'planned', about: ABOUT }]);
          } else {
            expect(error, struck).toMatchObject({ exitCode: 32, code: 'state', billed: 'no' });
            expect(await namesIn(folder).catch(() => []), struck).toEqual([]);
          }
        },
      });
    },
  );

  it('a step that cannot be written spoils neither those before it nor those after it', async () => {
    await forEachEffect({
      fault: { kind: 'full' },
      prepare: simulation,
      async scenario({ journal }, files) {
        const intent = await journal(1).begin(ABOUT);
        const failing = journal(2, files).resume({
          id: intent.id,
          state: intent.state,
          generation: 0,
          at: '',
          about: ABOUT,
          facts: {},
        });
        await failing.advance('sent').catch(() => undefined);
        await failing.advance('accepted', { jobId: 'job-1' });
      },
      async check({ list }, { struck }) {
        const [open] = (await list()).open;
        expect(['planned', 'sent', 'accepted'], struck).toContain(open?.state);
        expect(open?.about).toEqual(ABOUT);
        if (struck === undefined) expect(open).toMatchObject({ facts: { jobId: 'job-1' } });
      },
    });
  });

  it('a kill at any moment leaves the last step that was written, or nothing to be sent', async () => {
    await forEachEffect({
      fault: { kind: 'kill' },
      async prepare() {
        return { ...(await simulation()), sent: { yes: false } };
      },
      async scenario({ journal, sent }, files) {
        const written = journal(1, files);
        const intent = await written.begin(ABOUT);
        sent.yes = true;
        await intent.advance('sent');
        await intent.markAs('published');
        await written.close();
      },
      async check({ list, sent }, { struck, error }) {
        const { open } = await list();
        // Whatever was sent is known of, unless it had come to its end.
        if (sent.yes && error !== undefined) expect(open.length, struck).toBeLessThanOrEqual(1);
        if (error !== undefined) {
          expect(error).toMatchObject({ cause: expect.any(Killed) });
          if (sent.yes) expect(['planned', 'sent']).toContain(open[0]?.state);
        }
      },
    });
  });
});
