import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { inputFile } from '../../../src/batch/plan/inputs.ts';
import { countItems } from '../../../src/batch/plan/items.ts';
import { parseNameTemplate, planItems } from '../../../src/batch/plan/plan.ts';
import type { BatchPlanOptions } from '../../../src/batch/plan/plan.ts';
import { systemFiles } from '../../../src/system/file-system.ts';

test('a plan of a hundred thousand lines uses hardly more memory than one of ten thousand', async () => {
  const [small, large] = [await growth(10_000), await growth(100_000)];
  // Only a digest of each name grows with the number of items.
  expect(large).toBeLessThan(small * 2 + 24 * 1024 * 1024);
});

const OPTIONS: Omit<BatchPlanOptions, 'sources' | 'total'> = {
  files: systemFiles,
  platform: 'linux',
  sidecars: () => [],
  template: parseNameTemplate('{name}.{ext}'),
  defaults: {
    voiceId: 'v',
    modelId: undefined,
    format: undefined,
    configuredFormat: undefined,
    controls: {},
  },
};

/** Returns the peak memory of planning this number of lines, in bytes above the start. */
async function growth(lines: number): Promise<number> {
  const root = await mkdtemp(path.join(tmpdir(), 'foley-plan-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const file = path.join(root, `${lines}.txt`);
  const text = 'Some text of the usual length of a line. '.repeat(2);
  await writeFile(file, Array.from({ length: lines }, (_, index) => `${index} ${text}\n`).join(''));
  const sources = [{ kind: 'lines', file: inputFile(file, systemFiles), name: 'line' } as const];
  const total = await countItems({ sources });
  const before = memory();
  let most = 0;
  let count = 0;
  for await (const _item of planItems({ ...OPTIONS, sources, total })) {
    count += 1;
    if (count % (lines / 10) === 0) most = Math.max(most, memory() - before);
  }
  expect(count).toBe(lines);
  return most;
}

/** Runs the garbage collector in a process without the flag for it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}

function memory(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}
