import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../harness/failing-files.ts';
import { failingFiles } from '../../harness/failing-files.ts';
import type { BatchSimulation, Place, RunOutcome } from '../../batch/batch-simulation.ts';
import {
  chargesAt,
  createBatchSimulation,
  filesAt,
  runOnce,
  writeLines,
} from '../../batch/batch-simulation.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['kills it', { kind: 'kill' }],
  ['fails with EIO', { kind: 'error', code: 'EIO' }],
  ['finds the disk full from then on', { kind: 'full' }],
];
const STRIDE = process.env['FOLEY_TEST_SIZE'] === 'full' ? 1 : 16;
const FILES = [
  'line-1.json',
  'line-1.srt',
  'line-1.wav',
  'line-2.json',
  'line-2.srt',
  'line-2.wav',
];

let simulation: BatchSimulation;
let places = 0;

beforeAll(async () => {
  simulation = await createBatchSimulation();
});
afterAll(async () => {
  await simulation.end();
});

describe('items with captions, whose streams cannot be repeated, when the k-th effect fails', () => {
  it.each(FAULTS.map(([name, fault], turn) => [name, fault, turn] as const))(
    'and %s: each is delivered or reported as lost, and bought again only with --retry-failed',
    { timeout: 300_000 },
    async (_name, fault, turn) => {
      for (let at = 1 + turn * 5; ; at += STRIDE) {
        const place = await simulation.newPlace();
        places += 1;
        await writeLines(place, [`First ${places}.`, `Second ${places}.`]);
        const broken = await runOnce(simulation, place, {
          isAligned: true,
          failing: failingFiles(at, fault),
        });
        const what = `effect ${at} (${broken.struck ?? 'none'})`;
        await expectOncePaid(place, what);
        const again = await runOnce(simulation, place, { isAligned: true });
        await expectOncePaid(place, what);
        expect(again.failure, what).toBeUndefined();
        const lost = lostOf(again);
        const files = await filesAt(place);
        for (const { item, output } of again.results) {
          // Items that are not lost have all their captions.
          if (!lost.has(item.id)) expect(files.has(output ?? ''), `${what}: ${item.id}`).toBe(true);
        }
        const retried = await runOnce(simulation, place, { isAligned: true, retriesFailed: true });
        expect([...lostOf(retried)], what).toEqual([]);
        expect([...(await filesAt(place)).keys()].toSorted(), what).toEqual(FILES);
        for (const [text, charges] of chargesAt(simulation, place)) {
          expect(charges, `${what}: ${text}`).toBeLessThanOrEqual(2);
        }
        expect(await readdir(path.join(place.outputDir, '.foley', 'tmp')), what).toEqual([]);
        if (broken.struck === undefined) {
          expect([...lost], what).toEqual([]);
          return;
        }
      }
    },
  );
});

/** Returns the items that were reported as lost. The engine of this test has no word times: delivered items are partial. */
function lostOf({ results }: RunOutcome): ReadonlySet<string> {
  const failed = results.filter(({ status }) => status === 'failed');
  const lost = failed.filter(({ error }) => error?.exit !== 'partial');
  expect(lost.map(({ error }) => error?.exit)).toEqual(lost.map(() => 'lost'));
  return new Set(lost.map(({ item }) => item.id));
}

async function expectOncePaid(place: Place, what: string): Promise<void> {
  for (const [name, content] of await filesAt(place)) {
    if (name.endsWith('.wav'))
      expect(verifyBytes('wav', content).problem, `${what}: ${name}`).toBeUndefined();
    if (name.endsWith('.json'))
      expect(() => JSON.parse(content.toString()), `${what}: ${name}`).not.toThrow();
  }
  for (const [text, charges] of chargesAt(simulation, place))
    expect(charges, `${what}: ${text}`).toBe(1);
}
