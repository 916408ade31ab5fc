import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { drawn, underSeed } from '../../harness/seed.ts';
import fc from 'fast-check';
import type { Books } from '../../binary/support/books.ts';
import { readBooks } from '../../binary/support/books.ts';
import type { Told } from './client.ts';
import { askAll, creditsLeft, untilAllHaveEnded } from './client.ts';
import { startMortalServe } from '../../binary/support/mortal-serve.ts';
import { drawAsks } from '../../binary/support/orders.ts';
import type { Wire } from './wire.ts';
import { get, insist, openWire } from './wire.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const REQUESTS = IS_FULL ? 1_000 : 120;
const CLIENTS = 8;
const ACCOUNTS = ['anna', 'berta', 'clara'];
/** Some are killed while they start, some while they respond. */
const lives = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 10, max: 1_500 }));
const KILLS = IS_FULL ? 100 : 6;
const TIMEOUT_MS = IS_FULL ? 3_600_000 : 300_000;
const GRANT = 1_000_000;

test(
  `${REQUESTS} requests of all kinds to a service that is killed ${KILLS} times: the ledger balances, and nothing is lost or billed twice`,
  async () => {
    await underSeed(async (seed) => {
      const sandbox = await createSandbox();
      const dataDir = path.join(sandbox.out, 'data');
      const flags = ['--accept-keys-file', await writeKeys(sandbox)];
      const deaths = drawn(lives, KILLS, seed);
      const serve = await startMortalServe({ sandbox, dataDir, flags, lives: deaths });
      const wire = openWire(serve, keysOf);
      const told = await askAll(drawAsks(REQUESTS, seed, ACCOUNTS.length), wire, CLIENTS);
      expect(serve.killed()).toBeGreaterThanOrEqual(KILLS / 2);
      await untilAllHaveEnded(wire, ACCOUNTS.length);
      await expectOwnOnly(wire, told);
      const left = await Promise.all(ACCOUNTS.map((_name, account) => creditsLeft(wire, account)));
      await serve.end();
      const books = await readBooks(dataDir);
      expectBalance(books, left);
      expectOnePrice(books);
      expectAsTold(books, told);
      await expectSound(told);
    });
  },
  TIMEOUT_MS,
);

/** Two keys for each account. */
function keysOf(account: number): readonly string[] {
  return ['first', 'second'].map((which) => `${which}-key-of-${ACCOUNTS[account]}`);
}

async function writeKeys({ harness }: Sandbox): Promise<string> {
  const file = path.join(harness, 'keys');
  const lines = ACCOUNTS.flatMap((name, account) =>
    keysOf(account).map((key) => `${key} ${name}\n`),
  );
  await writeFile(file, lines.join(''), { mode: 0o600 });
  return file;
}

function expectBalance({ amounts, faults, operations }: Books, left: readonly number[]): void {
  expect(faults).toEqual([]);
  for (const [account, name] of ACCOUNTS.entries()) {
    const spent = operations
      .filter((operation) => operation.account === name)
      .reduce((sum, operation) => sum + operation.spent, 0);
    expect(amounts.get(`${name} spent`)).toBe(spent);
    expect(left[account]).toBe(GRANT - spent);
  }
}

/** Checks that each request reserved credits once, and then spent or refunded them once. */
function expectOnePrice({ operations }: Books): void {
  for (const operation of operations) {
    const { commits, jobStatus, refunds, spent, state } = operation;
    expect(operation).toMatchObject({ reserves: 1 });
    if (state === 'completed') expect({ commits, refunds }).toEqual({ commits: 1, refunds: 0 });
    else expect({ state, refunds, spent }).toEqual({ state: 'refunded', refunds: 1, spent: 0 });
    if (jobStatus !== undefined) expect([jobStatus, state]).toEqual(['done', 'completed']);
  }
}

function expectAsTold({ operations }: Books, told: readonly Told[]): void {
  const chargedKeys = new Map<string, number>();
  for (const { account, key, state } of operations) {
    if (key === undefined || state !== 'completed') continue;
    const wish = `${account} ${key.replace(/~.*/, '')}`;
    chargedKeys.set(wish, (chargedKeys.get(wish) ?? 0) + 1);
  }
  // Every order with a key was charged under exactly one of its keys.
  const wishes = told.filter(({ order }) => order.key !== undefined);
  for (const { order } of wishes) {
    expect([order.key, chargedKeys.get(`${ACCOUNTS[order.account]} ${order.key}`)]).toEqual([
      order.key,
      1,
    ]);
  }
  expect(chargedKeys.size).toBe(
    new Set(wishes.map(({ order }) => `${order.account} ${order.key}`)).size,
  );
  for (const { order, key, ending, credits, jobId } of told) {
    if (key === undefined || ending === 'conflict') continue;
    const booked = operations.filter(
      (operation) => operation.account === ACCOUNTS[order.account] && operation.key === key,
    );
    expect(booked).toMatchObject([
      { state: 'completed', ...(jobId === undefined ? {} : { id: jobId }) },
    ]);
    if (credits !== undefined) expect(booked).toMatchObject([{ spent: credits }]);
  }
  expectWithoutKey(operations, told);
}

/** Checks that an order without a key is charged at most once a request, and at least once a delivery. */
function expectWithoutKey(operations: Books['operations'], told: readonly Told[]): void {
  for (const [account, name] of ACCOUNTS.entries()) {
    const sent = told.filter(({ order, key }) => order.account === account && key === undefined);
    const came = sent.filter(({ ending }) => ending === 'delivered');
    const charged = operations.filter(
      (operation) =>
        operation.account === name &&
        operation.key === undefined &&
        operation.state === 'completed',
    );
    expect(charged.length).toBeLessThanOrEqual(sent.length);
    expect(charged.length).toBeGreaterThanOrEqual(came.length);
    const ids = new Set(charged.map(({ id }) => id));
    for (const { jobId } of came) if (jobId !== undefined) expect(ids).toContain(jobId);
  }
}

/** Checks that only its own account can read a job. */
async function expectOwnOnly(wire: Wire, told: readonly Told[]): Promise<void> {
  const { jobId, order } = told.find((one) => one.jobId !== undefined) ?? {};
  for (const account of ACCOUNTS.keys()) {
    const { status } = await insist(wire, get(`/api/open/v3/speech/tts/jobs/${jobId}`), account);
    expect([account, status]).toEqual([account, account === order?.account ? 200 : 404]);
  }
}

async function expectSound(told: readonly Told[]): Promise<void> {
  for (const { file } of told) {
    if (file !== undefined) expect((await decodeAudio(file)).durationMs).toBeGreaterThan(300);
  }
}
