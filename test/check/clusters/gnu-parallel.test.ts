import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { requireTool } from '../../harness/require-tool.ts';
import type { Cluster } from './cluster.ts';
import { recipeBlocks, startCluster } from './cluster.ts';

/** Returns the exit code and the signal of each job, in the order of the jobs. */
async function readJobs({ sandbox }: Cluster): Promise<readonly string[]> {
  const [, ...rows] = (await readFile(path.join(sandbox.out, 'jobs.tsv'), 'utf8')).split('\n');
  const columns = rows.filter((row) => row !== '').map((row) => row.split('\t'));
  return columns
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, , , , , , code, signal]) => `${code} ${signal}`);
}

test('the recipe for GNU parallel speaks each item once, also when a job is killed', async () => {
  requireTool('parallel');
  const cluster = await startCluster(1);
  const [command = ''] = await recipeBlocks('batch.md', 'GNU parallel');
  const running = cluster.run(`PARALLEL='--joblog jobs.tsv' ${command}`);
  process.kill(await cluster.payingTask(), 'SIGKILL');
  // The refused job, and the killed one.
  expect(await running).toMatchObject({ code: 2 });
  const jobs = await readJobs(cluster);
  expect(jobs.toSorted()).toEqual([...Array.from({ length: 6 }, () => '0 0'), '0 9', '3 0']);
  await cluster.expectUnfinished();
  const second = await cluster.run(`PARALLEL='--joblog jobs.tsv --resume-failed' ${command}`);
  expect(second.code, second.stderr).toBe(0);
  expect(second.stdout.toString().match(/other shards/g)).toHaveLength(2);
  await cluster.expectDone();
}, 300_000);

test('items of jobs that GNU parallel kills after the first failure are billed once', async () => {
  requireTool('parallel');
  const cluster = await startCluster(1);
  const [command = ''] = await recipeBlocks('batch.md', 'GNU parallel');
  const running = cluster.run(`PARALLEL='--joblog jobs.tsv --halt now,fail=1' ${command}`);
  process.kill(await cluster.payingTask(), 'SIGKILL');
  expect(await running).toMatchObject({ code: 137 });
  // Jobs that GNU parallel killed are not in the file.
  expect(await readJobs(cluster)).toEqual(['0 9']);
  await cluster.expectUnfinished();
  const second = await cluster.run(`PARALLEL='--joblog jobs.tsv --resume-failed' ${command}`);
  expect([second.code, second.stderr.match(/shard \d of 8/g)?.length]).toEqual([0, 8]);
  await cluster.expectDone();
}, 300_000);
