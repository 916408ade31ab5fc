import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mapConcurrent } from '../../../src/system/concurrency.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Fault } from './faulty-purchases.ts';
import { startFaultyService } from './faulty-purchases.ts';
import type { Shop, Way } from './ways.ts';
import {
  ALL_WAYS,
  creditsOf,
  customer,
  errorOf,
  lineOf,
  openShop,
  sectionOf,
  TIMEOUT_MS,
  WAYS,
  withTexts,
} from './ways.ts';

const always = (fate: ReturnType<NonNullable<Fault['purchase']>>): Fault => ({
  purchase: () => fate,
});
const once = (fate: ReturnType<NonNullable<Fault['purchase']>>): Fault => ({
  purchase: (nth) => (nth === 1 ? fate : 'answered'),
});
const BACK_MS = 400;
/** Commands that run at the same time; they mostly wait. */
const AT_ONCE = 3;
const UNAVAILABLE = { status: 503, code: 'ERR_MODEL_UNAVAILABLE', retryAfter: 0 };

const FAULTS: Readonly<Record<string, Fault>> = {
  'no fault': {},
  '503, Retry-After: 0, always': always(UNAVAILABLE),
  '503, Retry-After: 0, once': once(UNAVAILABLE),
  '503, Retry-After: 300': always({ ...UNAVAILABLE, retryAfter: 300 }),
  '500 without Retry-After, always': always({ status: 500, code: 'ERR_INTERNAL' }),
  '429, Retry-After: 0, always': always({ status: 429, code: 'ERR_RATE_LIMITED', retryAfter: 0 }),
  '400': always({ status: 400, code: 'ERR_INVALID_REQUEST' }),
  '401': always({ status: 401, code: 'ERR_UNAUTHORIZED' }),
  '402': always({ status: 402, code: 'ERR_INSUFFICIENT_CREDITS' }),
  'reset before the answer, always': always('reset'),
  'reset before the answer, once': once('reset'),
  'the answer is lost, once': once('lost'),
  'the answer is lost, always': always('lost'),
  'refunded, once': once({ status: 409, code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' }),
  '500, then refunded, once': {
    purchase: (nth) => {
      if (nth === 1) return { status: 500, code: 'ERR_INTERNAL' };
      return nth === 2 ? { status: 409, code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' } : 'answered';
    },
  },
  'in progress, once': once({ status: 409, code: 'ERR_REQUEST_IN_PROGRESS', retryAfter: 0 }),
  'key conflict': always({ status: 409, code: 'ERR_REQUEST_ID_CONFLICT' }),
  'the download is reset, once': { download: (nth) => (nth === 1 ? 'reset' : 'answered') },
  'the download: 503, once': { download: (nth) => (nth === 1 ? UNAVAILABLE : 'answered') },
  'gone from the start': { isGone: true },
  'gone before it gets the request': always('gone before'),
  'gone before it answers': always('gone during'),
  'gone before it gets the request, then back': { ...once('gone before'), goneMs: BACK_MS },
  'gone before it answers, then back': { ...once('gone during'), goneMs: BACK_MS },
  'gone after it answers, then back': { ...once('gone after'), goneMs: BACK_MS },
  'gone before it answers, then another in its place': {
    ...once('gone during'),
    goneMs: BACK_MS,
    forgets: true,
  },
  'gone after it answers, then another in its place': {
    ...once('gone after'),
    goneMs: BACK_MS,
    forgets: true,
  },
  'the download: 404, always': { download: () => ({ status: 404, code: 'ERR_NOT_FOUND' }) },
};

test.each(Object.entries(FAULTS))('%s', { timeout: TIMEOUT_MS }, async (name, fault) => {
  // What is not made as a job has no download.
  const ways = ALL_WAYS.filter((way) => fault.download === undefined || DOWNLOADED.has(way));
  const shop = await openShop(fault.forgets);
  const outcomes = await mapConcurrent(ways, AT_ONCE, (way) => buy(way, shop, fault));
  const { lines, reasons } = sectionOf(name);
  expect(outcomes.map(({ line }) => line)).toEqual(lines);
  const [usual] = outcomes;
  const others = outcomes.filter(({ kind }) => kind !== usual?.kind).map(({ way }) => way);
  expect(reasons).toEqual(others);
});

test.each(['pauses', 'pauses as jobs'] as const)(
  'a part that may be billed outweighs one that is not: %s',
  { timeout: TIMEOUT_MS },
  async (way) => {
    const shop = await openShop();
    const sandbox = await withTexts();
    const before = await creditsOf(shop, way);
    const { origin } = await startFaultyService(shop.service.baseUrl, {
      purchase: (nth, text) =>
        nth > 1 ? 'answered' : text.startsWith('Hello') ? UNAVAILABLE : 'lost',
    });
    const options = { sandbox, env: customer(shop, way, origin), canaryExpectedIn: [] };
    const result = await runFoley([...WAYS[way], '--max-retries', '0', '--json'], options);
    expect(errorLine(result)).toMatchObject({ exitCode: 26, billed: 'unknown' });
    // The audio of a job is fetched; a stream is lost.
    const recovered = await runFoley(['recover'], options);
    expect(recovered.code).toBe(way === 'pauses' ? 27 : 0);
    expect(before - (await creditsOf(shop, way))).toBe(10);
  },
);

test.each(['job', 'long text', 'pauses as jobs', 'batch', 'batch, pauses'] as const)(
  'a download without a response is repeated as often as --max-retries says: %s',
  { timeout: TIMEOUT_MS },
  async (way) => {
    const shop = await openShop();
    const sandbox = await withTexts();
    await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"concurrency": 1}');
    let downloads = 0;
    const { origin } = await startFaultyService(shop.service.baseUrl, {
      download: (nth) => {
        downloads = nth;
        return UNAVAILABLE;
      },
    });
    const options = { sandbox, env: customer(shop, way, origin), canaryExpectedIn: [] };
    const result = await runFoley([...WAYS[way], '--max-retries', '2'], options);
    expect(result.code, result.stderr).not.toBe(0);
    expect(downloads, result.stderr).toBe(3);
  },
);

interface Outcome {
  readonly way: Way;
  readonly line: string;
  /** What must be the same for each way: requests for a text, exit code and error code. */
  readonly kind: string;
}

async function buy(way: Way, shop: Shop, fault: Fault): Promise<Outcome> {
  const sandbox = await withTexts();
  // One part after the other, so that the same parts are bought before one fails.
  await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"concurrency": 1}');
  const before = await creditsOf(shop, way);
  const { other, service } = shop;
  const faulty = await startFaultyService(service.baseUrl, fault, other?.baseUrl);
  const { origin, purchases } = faulty;
  // Connections that are refused are retries too. How many there are before the service is back is chance.
  const retries = fault.goneMs === undefined ? '2' : '6';
  const result = await runFoley([...WAYS[way], '--max-retries', retries, '--json'], {
    sandbox,
    env: customer(shop, way, origin),
    canaryExpectedIn: [],
  });
  const requests = Math.max(0, ...[...purchases.values()].map(({ length }) => length));
  const credits = before - (await creditsOf(shop, way));
  const { code } = errorOf(result);
  const line = lineOf(way, { requests, credits, result });
  return { way, line, kind: [requests, result.code, code].join() };
}

/** Ways that make jobs, whose audio is downloaded. */
const DOWNLOADED: ReadonlySet<Way> = new Set([
  'job',
  'long text',
  'pauses as jobs',
  'batch',
  'batch, pauses',
  'script',
]);
