import { chmod, link, mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { openOutput } from '../../src/durable/publish.ts';
import type { SpoolAbout } from '../../src/durable/spool.ts';
import { SPOOL_AGE_MAX_MS, SPOOL_BYTES_MAX, createSpool } from '../../src/durable/spool.ts';
import { isTemporaryName } from '../../src/durable/files.ts';
import { forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { failureOf, testSystem, modeOf, namesIn, stillClock, textOf } from './file-simulation.ts';

const ABOUT: SpoolAbout = {
  what: 'speech',
  extension: 'mp3',
  output: 'hello.mp3',
  requestId: 'req_1',
  creditsUsed: 12,
  operation: null,
  problem: null,
};

async function simulation(files: FileSystem = systemFiles) {
  const { out, state } = await createSandbox();
  const deps = testSystem({ files, clock: stillClock() });
  const folder = path.join(state, 'foley', 'spool');
  return { out, folder, deps, spool: createSpool(deps, folder) };
}

describe('the spool', () => {
  it('keeps audio as it arrives, for its owner only, with what is known of it', async () => {
    const { spool, folder } = await simulation();
    const writer = await spool.create(ABOUT);
    await writer.write(Buffer.from('first '));
    await writer.write(Buffer.from('second'));
    await writer.keep({ complete: false, problem: 'the answer was cut', creditsUsed: 13 });
    const [entry] = await spool.list();
    expect(entry).toMatchObject({ id: writer.id, path: writer.path, bytes: 12 });
    expect(entry?.record).toEqual({
      version: 1,
      ...ABOUT,
      keptAt: '2024-05-06T07:08:09.000Z',
      complete: false,
      problem: 'the answer was cut',
      creditsUsed: 13,
    });
    expect(await textOf(writer.path)).toBe('first second');
    expect(await modeOf(folder)).toBe(0o700);
    expect([await modeOf(writer.path), await modeOf(entry?.sidecar ?? '')]).toEqual([0o600, 0o600]);
    expect(await namesIn(folder)).toEqual([`${writer.id}.json`, `${writer.id}.mp3`]);
  });

  it('shows what is still arriving as that', async () => {
    const { spool } = await simulation();
    const writer = await spool.create(ABOUT);
    expect((await spool.list())[0]?.record?.complete).toBeNull();
    await writer.discard();
    expect(await spool.list()).toEqual([]);
  });

  it('forgets what got where it was meant to go', async () => {
    const { spool, folder } = await simulation();
    const writer = await spool.create(ABOUT);
    await writer.write(Buffer.from('audio'));
    await writer.discard();
    expect(await namesIn(folder)).toEqual([]);
  });

  it('adopts the file of a stopped output, and appends to it', async () => {
    const { spool, out, deps } = await simulation();
    const output = await openOutput(deps, { path: path.join(out, 'hello.mp3') });
    await output.write(Buffer.from('paid '));
    const released = await output.release();
    if (released === undefined) throw new Error('there was a temporary file');
    const writer = await spool.adopt({ ...released, rest: [Buffer.from('but late, ')] }, ABOUT);
    await writer.write(Buffer.from('and more'));
    await writer.keep({ complete: true });
    expect(await textOf(writer.path)).toBe('paid but late, and more');
    expect(await modeOf(writer.path)).toBe(0o600);
    expect(await namesIn(out)).toEqual([]);
  });

  it('copies a file from another disk', async () => {
    const files = {
      ...systemFiles,
      rename: async (...[from, to]: Parameters<FileSystem['rename']>) => {
        if (String(to).endsWith('.mp3')) {
          throw Object.assign(new Error('injected'), { code: 'EXDEV' });
        }
        return systemFiles.rename(from, to);
      },
    };
    const { spool, out } = await simulation(files);
    const left = path.join(out, 'left.part');
    await writeFile(left, Buffer.alloc(600_000, 7));
    const writer = await spool.adopt({ path: left, bytes: 600_000, rest: [] }, ABOUT);
    await writer.write(Buffer.from('more'));
    await writer.keep({ complete: true });
    expect((await spool.list())[0]?.bytes).toBe(600_004);
    expect(await modeOf(writer.path)).toBe(0o600);
    expect(await namesIn(out)).toEqual([]);
  });

  it('closes a folder that others could look into', async () => {
    const { spool, folder } = await simulation();
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    await (await spool.create(ABOUT)).discard();
    expect(await modeOf(folder)).toBe(0o700);
  });

  it('lists audio whose sidecar is damaged, of a later version or missing', async () => {
    const { spool, folder } = await simulation();
    await mkdir(folder, { recursive: true });
    const ids = [
      '20240101T000000Z-00000001',
      '20240101T000000Z-00000002',
      '20240101T000000Z-00000003',
    ];
    for (const id of ids) await writeFile(path.join(folder, `${id}.wav`), 'audio');
    await writeFile(path.join(folder, `${ids[0]}.json`), '{"version":1,"what"');
    await writeFile(path.join(folder, `${ids[1]}.json`), '{"version":2}');
    await writeFile(path.join(folder, 'something-else.mp3'), 'not ours');
    const listed = await spool.list();
    expect(listed.every(({ record }) => record === undefined)).toBe(true);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
  });

  it('is empty where there is no folder, and says so where there cannot be one', async () => {
    const { spool, folder } = await simulation();
    expect(await spool.list()).toEqual([]);
    expect(await spool.prune()).toEqual([]);
    await mkdir(path.dirname(folder), { recursive: true });
    await writeFile(folder, 'a file');
    expect(await failureOf(spool.create(ABOUT))).toMatchObject({ exitCode: 32, code: 'state' });
    expect(await failureOf(spool.list())).toMatchObject({ exitCode: 32 });
  });

  it('never lets an extension lead anywhere', async () => {
    const { spool, folder } = await simulation();
    const writer = await spool.create({ ...ABOUT, extension: '../../mp3' });
    expect(path.dirname(writer.path)).toBe(folder);
    await writer.keep({ complete: true });
    expect((await spool.list()).map(({ id }) => id)).toEqual([writer.id]);
  });
});

async function filled(ages: readonly number[], bytes: number) {
  const { spool, folder, deps } = await simulation();
  const ids: string[] = [];
  for (const age of ages) {
    const clock = stillClock(deps.clock.now() - age);
    const writer = await createSpool({ ...deps, clock }, folder).create(ABOUT);
    await writer.keep({ complete: true });
    const file = await systemFiles.open(writer.path, 'r+');
    await file.truncate(bytes);
    await file.close();
    ids.push(writer.id);
  }
  return { spool, folder, ids };
}

describe('pruning the spool', () => {
  it('removes what is older than a day', async () => {
    const { spool, ids } = await filled([SPOOL_AGE_MAX_MS + 1, SPOOL_AGE_MAX_MS, 5], 10);
    expect((await spool.prune()).map(({ id }) => id)).toEqual(ids.slice(0, 1));
    expect((await spool.list()).map(({ id }) => id)).toEqual(ids.slice(1));
  });

  it('removes the oldest until the rest has room, but never the last that came', async () => {
    const third = Math.ceil(SPOOL_BYTES_MAX / 3);
    const { spool, ids } = await filled([4000, 3000, 2000, 1000], third);
    expect((await spool.prune()).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const large = await filled([1000], SPOOL_BYTES_MAX + 1);
    expect(await large.spool.prune()).toEqual([]);
  });

  it('leaves what may still be arriving', async () => {
    const { spool, folder } = await simulation();
    const arriving = await spool.create(ABOUT);
    const file = await systemFiles.open(arriving.path, 'r+');
    await file.truncate(SPOOL_BYTES_MAX);
    await file.close();
    const other = await spool.create(ABOUT);
    await other.write(Buffer.from('more'));
    await other.keep({ complete: true });
    expect(await spool.prune()).toEqual([]);
    await arriving.discard();
    expect(await namesIn(folder)).toHaveLength(2);
  });

  it('removes sidecars that were left alone for a day', async () => {
    const { spool, folder, deps } = await simulation();
    await mkdir(folder, { recursive: true });
    const now = deps.clock.now() / 1000;
    for (const [name, age] of [
      ['20240101T000000Z-00000001', 2 * 86_400],
      ['20240101T000000Z-00000002', 5],
    ] as const) {
      await writeFile(path.join(folder, `${name}.json`), '{}');
      await utimes(path.join(folder, `${name}.json`), now - age, now - age);
    }
    await spool.prune();
    expect(await namesIn(folder)).toEqual(['20240101T000000Z-00000002.json']);
  });
});

describe('whatever goes wrong while paid audio is kept', () => {
  it.each([
    { kind: 'full' },
    { kind: 'error', code: 'EIO' },
    { kind: 'error', code: 'EACCES' },
  ] as const)(
    'every byte of it is still somewhere, and the failure says so: $kind $code',
    async (fault) => {
      await forEachEffect({
        fault,
        async prepare() {
          const { out, folder, deps } = await simulation();
          const left = path.join(out, 'left.part');
          await writeFile(left, 'paid audio');
          await link(left, path.join(out, 'second-name'));
          return { left, folder, deps, out };
        },
        async scenario({ left, folder, deps }, files) {
          const spool = createSpool({ ...deps, files }, folder);
          const writer = await spool.adopt({ path: left, bytes: 10, rest: [] }, ABOUT);
          await writer.keep({ complete: true });
        },
        async check({ left, folder, deps }, { struck, error, open }) {
          expect(open, `left open at ${struck}`).toEqual([]);
          const entries = await createSpool({ ...deps, files: systemFiles }, folder)
            .list()
            .catch(() => []);
          const texts = await Promise.all(
            [left, ...entries.map((entry) => entry.path)].map((file) => textOf(file)),
          );
          expect(texts, struck).toContain('paid audio');
          if (struck === undefined) expect(entries[0]?.record?.complete).toBe(true);
          if (error !== undefined) expect(error, struck).toMatchObject({ exitCode: 32 });
          const names = await namesIn(folder).catch(() => []);
          if (struck !== 'unlink')
            expect(
              names.filter((name) => isTemporaryName(name)),
              struck,
            ).toEqual([]);
        },
      });
    },
  );

  it('names the file when it cannot adopt it', async () => {
    const { spool, folder, out } = await simulation();
    await mkdir(path.dirname(folder), { recursive: true });
    await writeFile(folder, 'a file');
    const left = path.join(out, 'left.part');
    await writeFile(left, 'a');
    expect(await failureOf(spool.adopt({ path: left, bytes: 1, rest: [] }, ABOUT))).toMatchObject({
      exitCode: 32,
      details: { left },
    });
  });
});
