import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mapConcurrent } from '../../../src/system/concurrency.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { startFaultyService } from './faulty-purchases.ts';
import { killedAfter } from './killed-after.ts';
import type { Shop, Way } from './ways.ts';
import {
  ALL_WAYS,
  creditsOf,
  customer,
  isRepeated,
  openShop,
  TIMEOUT_MS,
  WAYS,
  withTexts,
  sectionOf,
} from './ways.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const AT_ONCE = 3;

/** The records after which each way is killed in the small size; the full size takes every record. */
const SAMPLE: Readonly<Partial<Record<Way, readonly number[]>>> = {
  sync: [2, 4],
  aligned: [2],
  job: [3],
  pauses: [3, 9, 11],
  'pauses as jobs': [4],
  batch: [4],
  'batch, captions': [5],
  'batch, pauses': [6],
  script: [4],
  live: [3],
};
const MOST_RECORDS = 40;

test('killed after each record, then continued', { timeout: 4 * TIMEOUT_MS }, async () => {
  const shop = await openShop();
  const ways = ALL_WAYS.filter((way) => IS_FULL || SAMPLE[way] !== undefined);
  const seen = await mapConcurrent(ways, AT_ONCE, (way) => killOften(way, shop));
  for (const [index, way] of ways.entries()) {
    const [continued = '', credits = '', ...exits] = cellsOf('killed after each record', way);
    expect(continued, way).toBe(isRepeated(way) ? 'the same command' : 'foley recover');
    const outcomes = seen[index] ?? [];
    expect(outcomes.length, way).toBeGreaterThan(IS_FULL ? 3 : 0);
    for (const { cost, exit, problem, record } of outcomes) {
      const what = `${way}, killed after the record ${record}`;
      expect(exits.join(' ').split(', '), `${what}: ${problem}`).toContain(exit);
      expect(credits.split('-').map(Number), what).toContain(cost);
    }
  }
});

interface Killed {
  readonly record: string;
  readonly exit: string;
  readonly cost: number;
  readonly problem: string;
}

async function killOften(way: Way, shop: Shop): Promise<readonly Killed[]> {
  const outcomes: Killed[] = [];
  const sample = SAMPLE[way] ?? [];
  for (let nth = 1; nth < MOST_RECORDS; nth += 1) {
    if (!IS_FULL && !sample.includes(nth)) continue;
    const killed = await killOnce(way, nth, shop);
    if (killed === undefined) return outcomes;
    outcomes.push(killed);
  }
  return outcomes;
}

/** Returns undefined if the command ended before it wrote this record. */
async function killOnce(way: Way, nth: number, shop: Shop): Promise<Killed | undefined> {
  const sandbox = await withTexts();
  const before = await creditsOf(shop, way);
  const { origin, purchases } = await startFaultyService(shop.service.baseUrl, {});
  const env = customer(shop, way, origin);
  const args = [...WAYS[way], '--max-retries', '2', '--json'];
  const { env: hook, lastState } = await killedAfter(sandbox, nth);
  const options = { sandbox, canaryExpectedIn: [] };
  const killed = await runFoley(args, { ...options, env: { ...env, ...hook } });
  if (killed.signal === null) return undefined;
  const next = isRepeated(way) ? args : ['recover'];
  const result = await runFoley(next, { ...options, env });
  const cost = before - (await creditsOf(shop, way));
  const problem = `${result.stdout.toString()}\n${result.stderr}`;
  // Nothing is asked for under two keys.
  for (const keys of purchases.values()) expect(new Set(keys).size, problem).toBe(1);
  // The whole text comes after its parts.
  const [, file] = [...problem.matchAll(/: recovered as (.+?)(?:,|$)/gm)].at(-1) ?? [];
  const isThere = isRepeated(way) || existsSync(file ?? path.join(sandbox.out, 'o.mp3'));
  const record = `${nth} (${await lastState()})`;
  if (result.code === 0) expect(isThere, problem).toBe(true);
  return { record, exit: `exit ${result.code}`, cost, problem };
}

/** Returns the cells of a way in a section whose columns are separated by at least two spaces. */
function cellsOf(fault: string, way: string): readonly string[] {
  const line = sectionOf(fault).lines.find((one) => one.startsWith(`${way}  `)) ?? '';
  return line.split(/\s{2,}/).slice(1);
}
