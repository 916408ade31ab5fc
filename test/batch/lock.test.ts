import { link, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../src/batch/journal/lock.ts';
import { lockBatch } from '../../src/batch/journal/lock.ts';
import type { Shard } from '../../src/batch/plan/shard.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Liveness } from '../../src/system/processes.ts';
import { countingRandom, failureOf, testSystem, stillClock } from '../files/file-simulation.ts';
import { newFolder, processesOf } from './batch-folders.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

interface Racer {
  readonly folder: string;
  readonly pid: number;
  readonly shard?: Shard;
  readonly fates?: ReadonlyMap<number, Liveness>;
  readonly lastActivity?: number;
  readonly files?: FileSystem;
  readonly platform?: NodeJS.Platform;
}

function lock({
  fates,
  files = systemFiles,
  folder,
  lastActivity,
  pid,
  platform = 'linux',
  shard,
}: Racer): Promise<Lock> {
  const system = testSystem({
    files,
    random: countingRandom(`${pid}`),
    clock: stillClock(NOW),
    platform,
    processes: processesOf(pid, fates),
  });
  return lockBatch(system, { folder, shard, lastActivity: async () => lastActivity });
}

const shardOf = (index: number, total: number): Shard => ({ index, total });
const DEAD = new Map<number, Liveness>([[1, 'dead']]);
const UNKNOWN = new Map<number, Liveness>([[1, 'unknown']]);

describe('the lock of a folder', () => {
  it('is held by one of many processes that take it at once', async () => {
    const folder = await newFolder();
    const racers = Array.from({ length: 12 }, (_, pid) => lock({ folder, pid: pid + 1 }));
    const outcomes = await Promise.allSettled(racers);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['all']);
  });

  it('names its owner in the failure of others, and is free after its release', async () => {
    const folder = await newFolder();
    const first = await lock({ folder, pid: 1 });
    expect(await failureOf(lock({ folder, pid: 2 }))).toMatchObject({
      exit: 'state',
      message: expect.stringMatching(/process 1 on host/),
      details: { pid: 1 },
    });
    await first.release();
    await lock({ folder, pid: 2 });
    // A second release does not remove the lock of the next owner.
    await first.release();
    expect(await readdir(folder)).toEqual(['all']);
  });

  it('of a dead process is replaced by one of many', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const folder = await newFolder();
      await lock({ folder, pid: 1 });
      const racers = Array.from({ length: 16 }, (_, pid) =>
        lock({ folder, pid: pid + 2, fates: DEAD }),
      );
      const outcomes = await Promise.allSettled(racers);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await readdir(folder)).toEqual(['all']);
    }
  });

  it('removes the unfinished lock of a rival', async () => {
    const folder = await newFolder();
    const early = path.join(folder, `.foley-${'0'.repeat(24)}.part`);
    await writeFile(early, '');
    const files: FileSystem = {
      ...systemFiles,
      rename: async (from, to) => {
        await systemFiles.rename(from, to);
        // The rival writes to the renamed file.
        if (from === early) await writeFile(to, JSON.stringify({ mark: 'rival' }));
      },
    };
    await lock({ folder, pid: 1, files });
    expect(await readdir(folder)).toEqual(['all']);
  });

  it('of a dead process is replaced after another process died while replacing it', async () => {
    const folder = await newFolder();
    await lock({ folder, pid: 1 });
    const [mark] = /[0-9a-f]{16}/.exec(await readFile(path.join(folder, 'all'), 'utf8')) ?? [];
    const right = path.join(folder, `all.${mark}`);
    await link(path.join(folder, 'all'), right);
    const racers = Array.from({ length: 8 }, (_, pid) =>
      lock({ folder, pid: pid + 2, fates: DEAD }),
    );
    const outcomes = await Promise.allSettled(racers);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['all']);
  });

  it('of a dead process is replaced on Windows although a virus scanner has it open', async () => {
    const folder = await newFolder();
    await lock({ folder, pid: 1 });
    let refusals = 0;
    const files: FileSystem = {
      ...systemFiles,
      rename: async (from, to) => {
        refusals += 1;
        if (refusals < 3) throw Object.assign(new Error('in use'), { code: 'EPERM' });
        await systemFiles.rename(from, to);
      },
    };
    await lock({ folder, pid: 2, fates: DEAD, files, platform: 'win32' });
    expect(await readdir(folder)).toEqual(['all']);
  });

  it.each([
    ['wrote a second ago', NOW - 1_000, 'is kept'],
    ['wrote two hours ago', NOW - 2 * HOUR_MS, 'is replaced'],
    ['never wrote', undefined, 'is replaced'],
  ])('of a process in an unknown state that %s (%s) %s', async (_, lastActivity, what) => {
    const folder = await newFolder();
    await lock({ folder, pid: 1 });
    const next = lock({
      folder,
      pid: 2,
      fates: UNKNOWN,
      ...(lastActivity === undefined ? {} : { lastActivity }),
    });
    if (what === 'is replaced') await next;
    else expect(await failureOf(next)).toMatchObject({ exit: 'state' });
  });

  it('of a shard allows the other shards of the same total, and nothing else', async () => {
    const folder = await newFolder();
    await lock({ folder, pid: 1, shard: shardOf(1, 3) });
    expect(await lock({ folder, pid: 2, shard: shardOf(2, 3) })).toMatchObject({
      hasOtherShards: true,
    });
    for (const shard of [shardOf(1, 3), shardOf(1, 2), shardOf(3, 4)]) {
      expect(await failureOf(lock({ folder, pid: 3, shard }))).toMatchObject({ exit: 'state' });
    }
    expect(await failureOf(lock({ folder, pid: 3 }))).toMatchObject({ exit: 'state' });
    expect((await readdir(folder)).toSorted()).toEqual(['1-of-3', '2-of-3']);
  });
});
