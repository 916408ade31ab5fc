import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ShellResult } from '../../harness/in-shell.ts';
import { skipWithout } from '../../harness/require-tool.ts';
import { startProgram } from '../../harness/run-program.ts';
import { debianPackages } from '../debian-programs.ts';
import type { Cluster } from './cluster.ts';
import { recipeBlocks, startCluster } from './cluster.ts';

const CPUS = 4;

type Slurm = (command: string) => Promise<ShellResult>;

/** Starts the daemons of Slurm on loopback, with this machine as the only node, and returns a runner of its commands. */
async function startSlurm({ run, sandbox }: Cluster): Promise<Slurm> {
  if (process.getuid?.() !== 0) skipWithout('the rights of root');
  const root = await debianPackages('slurmctld', 'slurmd', 'slurm-client', 'munge');
  // Paths without spaces.
  const folder = await mkdtemp(path.join(tmpdir(), 'slurm-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  const libraries = path.join(root, 'usr/lib/x86_64-linux-gnu');
  const programs = `${root}/usr/bin:${root}/usr/sbin`;
  const [controller, node] = [await freePort(), await freePort()];
  await writeFile(path.join(folder, 'key'), randomBytes(32), { mode: 0o400 });
  for (const name of ['state', 'spool', 'socket']) await mkdir(path.join(folder, name));
  const settings = [
    `ClusterName=test\nSlurmctldHost=${hostname()}(127.0.0.1)`,
    `SlurmctldPort=${controller}\nSlurmdPort=${node}`,
    'CommunicationParameters=NoCtldInAddrAny,NoInAddrAny',
    `SlurmUser=root\nAuthInfo=socket=${folder}/socket/munge`,
    `PluginDir=${libraries}/slurm-wlm`,
    `StateSaveLocation=${folder}/state\nSlurmdSpoolDir=${folder}/spool`,
    `SlurmctldPidFile=${folder}/controller.pid\nSlurmdPidFile=${folder}/node.pid`,
    'ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres',
    'SlurmdParameters=config_overrides\nSchedulerParameters=batch_sched_delay=0,sched_interval=1',
    `NodeName=${hostname()} NodeAddr=127.0.0.1 CPUs=${CPUS}`,
    'PartitionName=main Nodes=ALL Default=YES',
  ];
  await writeFile(path.join(folder, 'slurm.conf'), `${settings.join('\n')}\n`);
  const env = {
    LD_LIBRARY_PATH: `${libraries}:${libraries}/slurm-wlm`,
    SLURM_CONF: path.join(folder, 'slurm.conf'),
  };
  const daemon = (name: string, ...args: readonly string[]) =>
    startProgram(path.join(root, 'usr/sbin', name), args, { sandbox, env, timeoutMs: 300_000 });
  const files = ['key', 'log', 'pid', 'seed'].map((name) => `--${name}-file=${folder}/${name}`);
  await daemon('munged', '--foreground', '--force', `--socket=${folder}/socket/munge`, ...files);
  await daemon('slurmctld-wlm', '-D');
  await daemon('slurmd-wlm', '-D', '-d', path.join(root, 'usr/sbin/slurmstepd-wlm'));
  const slurm: Slurm = (command) =>
    run(
      `export LD_LIBRARY_PATH='${env.LD_LIBRARY_PATH}' SLURM_CONF='${env.SLURM_CONF}'; ${command}`,
      programs,
    );
  const state = async (): Promise<string> => (await slurm('sinfo -h -o %T')).stdout.toString();
  await expect.poll(state, { interval: 500 }).toBe('idle\n');
  return slurm;
}

/** Returns a port that was free. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = Object(server.address());
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return Number(port);
}

/** Waits until no task is left, more often than `sbatch --wait` looks. */
async function untilEmpty(slurm: Slurm): Promise<void> {
  const queue = async (): Promise<string> => (await slurm('squeue -h')).stdout.toString();
  await expect.poll(queue, { interval: 300 }).toBe('');
}

/** Returns the state and the exit code, with the signal, of each task that did not complete. */
async function failedTasks(slurm: Slurm) {
  const { stdout } = await slurm('scontrol show job -o');
  const rows = stdout.toString().split('\n');
  return rows.flatMap((row) => {
    const [, task, state, code] =
      /ArrayTaskId=(\d+) .*JobState=(\w+) .*ExitCode=(\S+)/.exec(row) ?? [];
    return task === undefined || state === 'COMPLETED' ? [] : [{ task, state, code }];
  });
}

test('the recipe for Slurm speaks each item once, also when a task is killed', async () => {
  const cluster = await startCluster(1);
  const slurm = await startSlurm(cluster);
  const [script = ''] = await recipeBlocks('batch.md', 'Slurm');
  await cluster.write('speak.sh', script);
  await slurm('sbatch speak.sh');
  process.kill(await cluster.payingTask(), 'SIGKILL');
  await untilEmpty(slurm);
  const failed = await failedTasks(slurm);
  expect(failed.map(({ state, code }) => `${state} ${code}`).toSorted()).toEqual([
    'FAILED 0:9',
    'FAILED 3:0',
  ]);
  await cluster.expectUnfinished();
  const tasks = failed.map(({ task }) => task).join(',');
  const second = await slurm(`sbatch --wait --array=${tasks} speak.sh`);
  expect(second.code, second.stderr).toBe(0);
  await cluster.expectDone();
}, 600_000);

test('tasks that Slurm cancels save the items that they have paid for', async () => {
  const cluster = await startCluster(1);
  const slurm = await startSlurm(cluster);
  const [script = ''] = await recipeBlocks('batch.md', 'Slurm');
  await cluster.write('speak.sh', script);
  expect(await slurm('sbatch speak.sh')).toMatchObject({ code: 0 });
  const cancelled = await cluster.payingTask();
  expect(await slurm('scancel --name=speak.sh')).toMatchObject({ code: 0 });
  await untilEmpty(slurm);
  expect(await cluster.hasSaved(cancelled)).toBe(true);
  await slurm('sbatch speak.sh');
  await untilEmpty(slurm);
  await cluster.expectDone();
}, 600_000);
