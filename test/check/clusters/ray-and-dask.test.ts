import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installPythonTools } from '../../harness/python-tools.ts';
import { recipeBlocks, startCluster } from './cluster.ts';

const PACKAGES = path.join(import.meta.dirname, '../python/ray-and-dask.txt');

/** The retries in each recipe, and what keeps its network services on this machine. */
const RECIPES = [
  { heading: 'Ray', retries: 'max_retries=3', local: ['ray.init()', 'ray.init(num_cpus=2)'] },
  {
    heading: 'Dask',
    retries: ' retries=3',
    local: ['Client(', 'Client(n_workers=2, dashboard_address="127.0.0.1:0", '],
  },
] as const;

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
}

test.each(RECIPES)(
  'the recipe for $heading speaks each item once, also when foley or a worker is killed',
  async ({ heading, retries, local: [from, to] }) => {
    const bin = await installPythonTools(PACKAGES);
    const cluster = await startCluster(0);
    const [recipe = ''] = await recipeBlocks('guides/scale-out.md', heading);
    expect(recipe).toContain(retries);
    await cluster.write('speak.py', recipe.replace(from, to));
    await cluster.write('once.py', recipe.replace(from, to).replace(/(retries=)3/, '$10'));
    // The paths of its sockets must be short.
    const sockets = await mkdtemp(path.join(tmpdir(), 'ray-'));
    onTestFinished(async () => rm(sockets, { recursive: true }));
    const python = (file: string) => cluster.run(`RAY_TMPDIR='${sockets}' python ${file}`, bin);

    const withoutRetries = python('once.py');
    process.kill(await cluster.payingTask(), 'SIGKILL');
    const failed = await withoutRetries;
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/CalledProcessError:.* died with <Signals\.SIGKILL: 9>/);
    await cluster.expectUnfinished();

    const running = python('speak.py');
    const orphan = await cluster.payingTask();
    process.kill(await parentOf(orphan), 'SIGKILL');
    const done = await running;
    expect(done.code, done.stderr).toBe(0);
    const output = done.stdout.toString() + done.stderr;
    expect(output).toMatch(/A worker died or was killed|Restarting worker/);
    expect(await cluster.hasSaved(orphan)).toBe(false);
    await cluster.expectDone();
  },
  600_000,
);
