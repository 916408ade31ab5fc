import path from 'node:path';
import { expect, test } from 'vitest';
import { installPythonTools } from '../../harness/python-tools.ts';
import { recipeBlocks, startCluster } from './cluster.ts';

const PACKAGES = path.join(import.meta.dirname, '../python/snakemake.txt');

test('the recipe for Snakemake speaks each item once, also when a job is killed', async () => {
  const bin = await installPythonTools(PACKAGES);
  const cluster = await startCluster(1);
  const [rules = '', command = ''] = await recipeBlocks('guides/scale-out.md', 'Snakemake');
  await cluster.write('Snakefile', rules);
  const snakemake = () => cluster.run(command, bin);
  const running = snakemake();
  process.kill(await cluster.payingTask(), 'SIGKILL');
  const first = await running;
  expect(first.code).toBe(1);
  // The refused job, and the killed one.
  expect(first.stderr).toMatch(/returned non-zero exit status 3\./);
  expect(first.stderr).toMatch(/died with <Signals.SIGKILL: 9>/);
  expect(first.stderr).toMatch(/6 of 9 steps/);
  await cluster.expectUnfinished();
  const second = await snakemake();
  expect(second.code, second.stderr).toBe(0);
  expect(second.stderr).toMatch(/\bspeak +2\n/);
  await cluster.expectDone();
  const third = await snakemake();
  expect(third).toMatchObject({ code: 0, stderr: expect.stringMatching(/Nothing to be done/) });
}, 600_000);
