import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import type { KeyAbout } from '../../src/batch/journal/keys.ts';
import { bodyDigest, itemKey, namespaceSecret, openSecret } from '../../src/batch/journal/keys.ts';
import { readJournals } from '../../src/batch/journal/journal.ts';
import { PURCHASE_STATES, mergeStep } from '../../src/paid/purchase.ts';
import type { ItemStatus, ItemStep } from '../../src/batch/journal/journal.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { Log, parseLog } from '../../src/durable/log.ts';
import {
  countingRandom,
  failureOf,
  testSystem,
  modeOf,
  namesIn,
  stillClock,
} from '../files/file-simulation.ts';
import { newFolder, processesOf } from './batch-folders.ts';

const ABOUT: KeyAbout = {
  origin: 'https://service.test',
  endpoint: 'POST /jobs',
  body: bodyDigest(Buffer.from('{}')),
  generation: 0,
};

describe('the key of an item', () => {
  it('is the same for the same purchase, different for any other, and a valid header', () => {
    const secret = namespaceSecret('one');
    const keys = [
      ABOUT,
      { ...ABOUT, origin: 'https://other.test' },
      { ...ABOUT, endpoint: 'POST /other' },
      { ...ABOUT, body: bodyDigest(Buffer.from('{ }')) },
      { ...ABOUT, generation: 1 },
    ].map((about) => itemKey(secret, about));
    expect(new Set([...keys, itemKey(namespaceSecret('two'), ABOUT)]).size).toBe(keys.length + 1);
    expect(itemKey(namespaceSecret('one'), { ...ABOUT })).toBe(keys[0]);
    for (const key of keys) expect(key).toMatch(/^foley1-[\w-]{32}$/);
  });
});

describe('the secret of a folder', () => {
  it('is created once by many processes, and readable by its owner only', async () => {
    const place = await places();
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, racer) =>
        openSecret({ system: testSystem({ random: countingRandom(`racer ${racer}`) }), ...place }),
      ),
    );
    expect(new Set(opened.map(({ secret }) => hex(secret))).size).toBe(1);
    expect(opened[0]?.secret).toHaveLength(32);
    expect(await modeOf(path.join(place.folder, 'secret'))).toBe(0o600);
    expect(await namesIn(place.temporaries)).toEqual([]);
  });

  it('is restored from its copy when it is removed or damaged', async () => {
    const place = await places();
    const { isCopied, secret } = await openSecret({ system: testSystem(), ...place });
    expect(isCopied).toBe(true);
    const again = { system: testSystem({ random: countingRandom('another') }), ...place };
    await rm(path.join(place.folder, 'secret'));
    expect(hex((await openSecret(again)).secret)).toBe(hex(secret));
    await writeFile(path.join(place.folder, 'secret'), 'torn');
    expect(hex((await openSecret(again)).secret)).toBe(hex(secret));
    await rm(place.copyFolder, { recursive: true });
    expect(await failureOf(openSecret(again))).toMatchObject({
      exit: 'state',
      message: expect.stringMatching(/damaged/),
    });
  });

  it('in the output folder wins over the copy of an earlier folder of the same name', async () => {
    const place = await places();
    const first = await openSecret({ system: testSystem(), ...place });
    const other = { ...place, folder: path.join(place.folder, 'moved') };
    await mkdir(other.folder);
    await writeFile(path.join(other.folder, 'secret'), `${'ab'.repeat(32)}\n`);
    expect(hex((await openSecret({ system: testSystem(), ...other })).secret)).toBe(
      'ab'.repeat(32),
    );
    expect(hex(first.secret)).not.toBe('ab'.repeat(32));
  });
});

describe('the status of an item', () => {
  const steps = fc.array(
    fc.record({
      item: fc.constant('a'),
      body: fc.constant('b'),
      generation: fc.integer({ min: 0, max: 2 }),
      state: fc.constantFrom(...PURCHASE_STATES),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('is the latest state of the highest generation, in any order of the records', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (all, order) => {
        const shuffled = all.toSorted(() => ((order.next().value ?? 0) % 3) - 1);
        const { generation, state } = merged(all) ?? {};
        expect(merged(shuffled)).toMatchObject({ generation, state });
        expect(generation).toBe(Math.max(...all.map((step) => step.generation)));
      }),
    );
  });
});

describe('a log', () => {
  it('has all lines complete and in order when many are written at once', async () => {
    const folder = await newFolder();
    const file = new Log(testSystem(), { path: path.join(folder, 'x.jsonl'), head: [] });
    const written = Array.from({ length: 300 }, async (_, n) => {
      if (n % 7 === 0) return file.queue([{ n }]);
      await file.append([{ n }]);
      if (n % 5 === 0) await file.sync();
    });
    await Promise.all(written);
    file.queue([{ n: 300 }]);
    await file.close();
    const { garbled, records } = parseLog(await readFile(path.join(folder, 'x.jsonl'), 'utf8'));
    expect(garbled).toBe(0);
    expect(records.map(({ n }) => n)).toEqual(Array.from({ length: 301 }, (_, n) => n));
  });
});

describe('the folder of a batch', () => {
  it('is refused to a second process that opens it at the same time', async () => {
    const root = await newFolder();
    let second: Promise<unknown> | undefined;
    const files: typeof systemFiles = {
      ...systemFiles,
      open: async (file, ...rest) => {
        if (file === path.join(root, '.foley', 'tmp')) {
          second ??= failureOf(openAt(root, 1));
          await second.catch(() => undefined);
        }
        return systemFiles.open(file, ...rest);
      },
    };
    const first = await openAt(root, 2, files);
    expect(await second).toMatchObject({ exit: 'state' });
    await first.close();
  });
});

describe('an interrupted --redo', () => {
  it.each([
    ['in the same second', 0],
    ['an hour later', 3_600_000],
    ['after the clock went back an hour', -3_600_000],
  ])('is continued by the next one, %s', async (_when, laterMs) => {
    const root = await newFolder();
    const first = await openAt(root, 9);
    await first.end();
    await first.close();
    const open = (run: number) => openAt(root, run, systemFiles, { laterMs, redo: 'items' });
    const stopped = await open(8);
    await stopped.close();
    const next = await open(7);
    expect(next.redoToken).toBe(stopped.redoToken);
    await next.end();
    await next.close();
    const again = await open(6);
    expect(again.redoToken).not.toBe(stopped.redoToken);
    await again.close();
  });
});

describe('the journals of many runs', () => {
  it('are merged without changing their content, and damaged ones are kept', async () => {
    const root = await newFolder();
    const journals = path.join(root, '.foley', 'journal');
    for (let run = 1; run <= 60; run += 1) {
      const folder = await openAt(root, run);
      await folder.plan([stepOf(run)]);
      await folder.note({ ...stepOf(run), about: undefined, facts: {} }, 'accepted', {
        jobId: `${run}`,
      });
      await folder.close();
      if (run !== 3) continue;
      const [first = ''] = await readdir(journals);
      await writeFile(path.join(journals, first), '\nv1 torn', { flag: 'a' });
    }
    const names = await readdir(journals);
    expect(names.filter((name) => name.endsWith('.jsonl')).length).toBeLessThan(40);
    expect(names.filter((name) => name.endsWith('.corrupt'))).toHaveLength(1);
    const { index } = await readJournals([journals], systemFiles);
    for (let run = 1; run <= 60; run += 1) {
      expect(index.statusOf(`item ${run}`, 'b')).toMatchObject({
        state: 'accepted',
        about: { output: `${run}.mp3` },
        facts: { jobId: `${run}` },
      });
      expect(index.filesAt(`${run}.mp3`)).toEqual([]);
    }
  });

  it('are merged in the state folder, too, and remember every delivered request', async () => {
    const root = await newFolder();
    for (let run = 1; run <= 60; run += 1) {
      const folder = await openAt(root, run);
      const generation = run % 2;
      const step = { ...stepOf(run), body: `b${Math.floor(run / 2)}`, generation };
      await folder.plan([step]);
      folder.notePublished({ ...step, about: step.about, facts: {} }, { jobId: `job ${run}` });
      await folder.close();
      // The journal is lost.
      await rm(path.join(root, '.foley'), { recursive: true });
    }
    const { index } = await openAt(root, 61);
    const jobs = Array.from({ length: 60 }, (_, run) => `job ${run + 1}`);
    expect(jobs.filter((job) => !index.isDelivered(job))).toEqual([]);
    expect(index.isDelivered('job 61')).toBe(false);
    expect(index.deliveredOf('b7')).toMatchObject({ generation: 1, facts: { jobId: 'job 15' } });
    expect(index.statusOf('item 15', 'b7')).toBeUndefined();
    const [copies = ''] = await readdir(path.join(root, 'copies'));
    const names = await readdir(path.join(root, 'copies', copies));
    expect(names.filter((name) => name.endsWith('.jsonl')).length).toBeLessThan(40);
  });

  it('are read with any part of their end cut off: each item then has an earlier state', async () => {
    const root = await newFolder();
    const folder = await openAt(root, 1);
    await folder.plan([stepOf(1)]);
    const status: ItemStatus = { ...stepOf(1), about: undefined, facts: {} };
    await folder.note(status, 'accepted', { jobId: 'j' });
    await folder.note(status, 'verified', { sha256: 's', bytes: 1 });
    await folder.close();
    const journals = path.join(root, '.foley', 'journal');
    const [name = ''] = await readdir(journals);
    const whole = await readFile(path.join(journals, name));
    for (let length = 0; length <= whole.length; length += 1) {
      await writeFile(path.join(journals, name), whole.subarray(0, length));
      const { index } = await readJournals([journals], systemFiles);
      expect([undefined, 'planned', 'accepted', 'verified']).toContain(
        index.statusOf('item 1', 'b')?.state,
      );
    }
  });
});

/** Returns the places of a secret in a new folder. */
async function places() {
  const root = await newFolder();
  const folder = path.join(root, '.foley');
  const temporaries = path.join(folder, 'tmp');
  await mkdir(temporaries, { recursive: true });
  return { folder, temporaries, copyFolder: path.join(root, 'state', 'batch') };
}

function hex(secret: Uint8Array): string {
  return Buffer.from(secret).toString('hex');
}

function merged(all: readonly ItemStep[]): ItemStatus | undefined {
  return all.reduce<ItemStatus | undefined>((before, step) => mergeStep(before, step), undefined);
}

/** Opens the folder of a batch as its n-th process; the earlier ones are dead. */
function openAt(
  root: string,
  run: number,
  files = systemFiles,
  { laterMs = 0, redo }: { readonly laterMs?: number; readonly redo?: string } = {},
) {
  const clock = stillClock(stillClock().time + laterMs);
  return openBatchFolder({
    system: {
      ...testSystem({ random: countingRandom(`run ${run}`), files, clock }),
      processes: processesOf(run, new Map(Array.from({ length: run }, (_, pid) => [pid, 'dead']))),
    },
    outputDir: root,
    outputFlag: '--output-dir',
    isNewFolder: false,
    copies: path.join(root, 'copies'),
    shard: undefined,
    namespace: undefined,
    redo,
  });
}

function stepOf(run: number): ItemStep {
  return {
    item: `item ${run}`,
    body: 'b',
    generation: 0,
    state: 'planned',
    about: { output: `${run}.mp3`, key: 'k', origin: 'o' },
  };
}
