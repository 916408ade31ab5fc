// Runs a list of gates one after the other, and says at the end which failed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { failedTestsFile } from './failed-tests.mjs';
import { isSetUp, root } from './set-up.mjs';

export const bin = (name) => path.join(root, 'node_modules/.bin', name);

/** The command that runs one project of vitest.config.mts. */
export const vitest = (project) => [
  bin('vitest'),
  'run',
  '--project',
  project,
  '--reporter=default',
  '--reporter=./scripts/failed-tests.mjs',
];

/** Sets the clone up and runs the gates, or with `--only NAME` those whose name begins so. Sets the exit code. */
export function runChosenGates(gates) {
  if (!isSetUp()) return;
  const at = process.argv.indexOf('--only');
  const only = process.argv[at + 1];
  runGates(at === -1 ? gates : gates.filter(({ name }) => name.startsWith(only)));
}

function runGates(list) {
  const failed = [];
  rmSync(failedTestsFile, { force: true });
  for (const { name, command } of list) {
    const started = performance.now();
    process.stdout.write(`\n── ${name}\n`);
    const { status } = spawnSync(command[0], command.slice(1), {
      cwd: root,
      stdio: ['ignore', 1, 2],
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`── ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`);
    if (status !== 0) failed.push(name);
  }
  if (existsSync(failedTestsFile))
    process.stdout.write(`\n${readFileSync(failedTestsFile, 'utf8')}`);
  if (failed.length > 0) process.stdout.write(`\nfailed: ${failed.join(', ')}\n`);
  process.stdout.write(`\n${list.length - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
