import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { type Bundle, buildBundle } from './support/bundle.ts';
import { temporaryFolder, testService } from './support/test-service.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await buildBundle({ paying: 'test/service/support/paying-process.ts' });
});

afterAll(() => bundle.remove());

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(bundle.folder, 'dist', 'paying.cjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function output(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    child.on('close', () => resolve(text));
  });
}

async function open(dataDir: string): Promise<Store> {
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  onTestFinished(() => store.close());
  return store;
}

describe('several processes on one data directory', () => {
  it('pay each for its own, and one of them for what they share', async () => {
    const dataDir = join(await temporaryFolder(), 'fresh');
    const children = Array.from({ length: 8 }, () => start('pay', dataDir, '5'));
    const statuses = await Promise.all(children.map((child) => output(child)));
    expect(statuses.filter((status) => status === '200')).toHaveLength(1);
    expect(statuses.filter((status) => status === '409')).toHaveLength(7);
    const store = await open(dataDir);
    verifyLedger(store, { full: true });
    const { balance } = await testService({ store });
    expect((await balance()).credits).toBe(1_000_000 - (8 * 5 + 1) * 9);
    expect(store.read((db) => db.all('SELECT 1 FROM owner'))).toEqual([]);
  });

  it('give back what one had begun when it was killed, and leave it alone before', async () => {
    const dataDir = await temporaryFolder();
    const child = start('hang', dataDir);
    await new Promise((resolve) => {
      child.stdout?.once('data', resolve);
    });
    const store = await open(dataDir);
    const before = await testService({ store });
    expect((await before.balance()).credits).toBe(1_000_000 - 9);
    const ended = output(child);
    child.kill('SIGKILL');
    await ended;
    const after = await testService({ store });
    expect((await after.balance()).credits).toBe(1_000_000);
    verifyLedger(store, { full: true });
  });
});
