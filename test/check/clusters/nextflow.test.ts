import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { installOnce } from '../../harness/install-once.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { recipeBlocks, startCluster } from './cluster.ts';

const PACKAGE = path.join(import.meta.dirname, 'nextflow');

/** Without access to them, Nextflow stores no results for `-resume`, and does not say so. */
const JAVA_PACKAGES =
  'java.lang java.io java.nio java.nio.file.spi java.net java.util java.util.regex sun.nio.ch sun.nio.fs'.split(
    ' ',
  );

/** Installs Nextflow from Maven Central, and returns the folder of its command. */
async function installNextflow(): Promise<string> {
  const [java, maven] = [requireTool('java'), requireTool('mvn')];
  return installOnce('nextflow-24.10.0', async (folder) => {
    await cp(PACKAGE, folder, { recursive: true });
    const args = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    await execa(maven, args, { cwd: folder });
    const opened = JAVA_PACKAGES.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);
    const options = `${opened.join(' ')} -cp '${folder}/jars/*'`;
    const program = `#!/bin/sh\nexec '${java}' ${options} nextflow.cli.Launcher "$@"\n`;
    await writeFile(path.join(folder, 'nextflow'), program, { mode: 0o755 });
  });
}

test('the recipe for Nextflow speaks each item once, also when a task is killed', async () => {
  const programs = await installNextflow();
  const cluster = await startCluster(0);
  const [workflow = '', command = ''] = await recipeBlocks('guides/scale-out.md', 'Nextflow');
  const nextflow = () =>
    cluster.run(
      `export NXF_HOME="$HOME" NXF_OFFLINE=true NXF_ANSI_LOG=false; ${command}`,
      programs,
    );
  await cluster.write('nextflow.config', 'executor.cpus = 4\n');

  const retries = 'task.attempt <= 3';
  expect(workflow).toContain(retries);
  await cluster.write('main.nf', workflow.replace(retries, 'false'));
  const withoutRetries = nextflow();
  process.kill(await cluster.payingTask(), 'SIGKILL');
  const failed = await withoutRetries;
  expect(failed.code).toBe(1);
  expect(failed.stdout.toString()).toMatch(/terminated with an error exit status \(137\)/);
  await cluster.expectUnfinished();

  await cluster.write('main.nf', workflow);
  const done = await nextflow();
  expect(done.code, done.stdout.toString()).toBe(0);
  expect(done.stdout.toString()).toMatch(/Cached process > speak/);
  await cluster.expectDone();
}, 600_000);
