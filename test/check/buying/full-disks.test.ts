import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { mapConcurrent } from '../../../src/system/concurrency.ts';
import { onSmallDisk } from '../../harness/small-disk.ts';
import type { Fault } from './faulty-purchases.ts';
import { startFaultyService } from './faulty-purchases.ts';
import type { Shop, Way } from './ways.ts';
import {
  ALL_WAYS,
  creditsOf,
  customer,
  isRepeated,
  lineOf,
  openShop,
  sectionOf,
  TIMEOUT_MS,
  WAY_WIDTH,
  WAYS,
  withTexts,
} from './ways.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const AT_ONCE = 3;
/** The ways of the small size. */
const SAMPLE: ReadonlySet<Way> = new Set(['sync', 'job', 'pauses', 'batch', 'script', 'live']);
const SOON = { interval: 10, timeout: 15_000 };
const DISK_KIB = 32_768;

const CASES = [
  ['state', 'full'],
  ['state', 'filled while the service speaks'],
  ['output', 'full'],
  ['output', 'filled while the service speaks'],
] as const;

test.each(CASES)('the disk of the %s is %s', { timeout: TIMEOUT_MS }, async (disk, when) => {
  const shop = await openShop();
  const ways = ALL_WAYS.filter((way) => IS_FULL || SAMPLE.has(way));
  const lines = await mapConcurrent(ways, AT_ONCE, (way) =>
    buyOnFullDisk(way, shop, { disk, isFull: when === 'full' }),
  );
  const wanted = sectionOf(`the disk of the ${disk} is ${when}`).lines;
  const starts = ways.map((way) => `${way.padEnd(WAY_WIDTH)} `);
  expect(lines).toEqual(wanted.filter((line) => starts.some((start) => line.startsWith(start))));
});

/** Buys, makes room on the disk, and continues. Returns the line of the table. */
async function buyOnFullDisk(
  way: Way,
  shop: Shop,
  { disk, isFull }: { readonly disk: 'output' | 'state'; readonly isFull: boolean },
): Promise<string> {
  const sandbox = await withTexts();
  const before = await creditsOf(shop, way);
  const marks = {
    asked: path.join(sandbox.out, 'asked'),
    filled: path.join(sandbox.out, 'filled'),
  };
  const onPurchase = async (): Promise<void> => {
    await writeFile(marks.asked, '');
    await vi.waitFor(() => access(marks.filled), SOON);
  };
  const fault: Fault = isFull ? {} : { onPurchase };
  const { origin, purchases } = await startFaultyService(shop.service.baseUrl, fault);
  const words = WAYS[way].map((word) => `'${word}'`).join(' ');
  const command = `foley ${words} --max-retries 2 --json`;
  const place =
    disk === 'state' ? 'export XDG_STATE_HOME="$PWD/small"' : 'cp *.txt small; cd small';
  const fill = `cat /dev/zero > "$TOP/small/used" 2> "$TOP/list"`;
  // A command that ends before it asks must not be waited for in vain.
  const run = isFull
    ? `${fill}; ${command} > "$TOP/said" 2> "$TOP/first"`
    : `${command} > "$TOP/said" 2> "$TOP/first" & until [ -e "$TOP/asked" ] || ! kill -0 $!; do sleep 0.02; done
       ${fill}; touch "$TOP/filled"; wait $!`;
  const next = isRepeated(way) ? command : 'foley recover --json';
  const script = `TOP="$PWD"; ${place}
    ${run}; echo "$?" > "$TOP/code"; cat "$TOP/first" >&2
    rm "$TOP/small/used"; ${next} > "$TOP/again" 2>&1; echo "$(cat "$TOP/code") $?"`;
  const env = customer(shop, way, origin);
  const result = await onSmallDisk(sandbox, DISK_KIB, script, { env, canaryExpectedIn: [] });
  const [first, second] = result.stdout.toString().trim().split(' ').map(Number);
  const requests = Math.max(0, ...[...purchases.values()].map(({ length }) => length));
  for (const keys of purchases.values()) expect(new Set(keys).size).toBe(1);
  const credits = before - (await creditsOf(shop, way));
  const code = first ?? null;
  const line = lineOf(way, { requests, credits, result: { ...result, code } });
  const counts = line.slice(0, 40).padEnd(40);
  return `${counts}then exit ${second}`.padEnd(54).concat(line.slice(40)).trimEnd();
}
