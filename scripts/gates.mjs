// Runs a list of gates one after the other, or some at once, and says at the end which failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { failedTestsFile } from './failed-tests.mjs';
import { isSetUp, root } from './set-up.mjs';

/** The command of a tool of a package: Windows cannot start the scripts of node_modules/.bin without a shell. */
export function tool(name, ...args) {
  const folder = path.join(root, 'node_modules', name === 'tsc' ? 'typescript' : name);
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin[name];
  return [process.execPath, path.join(folder, file), ...args];
}

/** The command that runs projects of vitest.config.mts. */
export const vitest = (...projects) =>
  tool(
    'vitest',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    '--reporter=default',
    '--reporter=./scripts/failed-tests.mjs',
  );

/**
 * Sets the clone up and runs the gates, or with `--only NAME` those whose name begins so. Sets the exit code.
 * Gates of an inner list run at once; their output is printed as each ends.
 * @param listGates returns the gates; called after the set-up, because the commands name files of installed packages
 */
export async function runChosenGates(listGates) {
  if (!isSetUp()) return;
  const gates = listGates();
  const at = process.argv.indexOf('--only');
  const only = process.argv[at + 1];
  const chosen = at === -1 ? gates : gates.flat().filter(({ name }) => name.startsWith(only));
  rmSync(failedTestsFile, { force: true });
  const results = [];
  for (const step of chosen) {
    results.push(
      ...(Array.isArray(step) ? await Promise.all(step.map(runQuietly)) : [await runAloud(step)]),
    );
  }
  summarize(results);
}

async function runAloud({ name, command }) {
  process.stdout.write(`\n── ${name}\n`);
  const started = performance.now();
  const child = spawn(command[0], command.slice(1), { cwd: root, stdio: ['ignore', 1, 2] });
  const [code] = await once(child, 'close');
  return report(name, code, started);
}

async function runQuietly({ name, command }) {
  const started = performance.now();
  const child = spawn(command[0], command.slice(1), {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [buffer(child.stdout), buffer(child.stderr)];
  const [code] = await once(child, 'close');
  process.stdout.write(`\n── ${name}\n`);
  process.stdout.write(await stdout);
  process.stderr.write(await stderr);
  return report(name, code, started);
}

function report(name, code, started) {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`── ${name}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`);
  return { name, isPassed: code === 0 };
}

function summarize(results) {
  const failed = results.filter(({ isPassed }) => !isPassed).map(({ name }) => name);
  if (existsSync(failedTestsFile))
    process.stdout.write(`\n${readFileSync(failedTestsFile, 'utf8')}`);
  if (failed.length > 0) process.stdout.write(`\nfailed: ${failed.join(', ')}\n`);
  process.stdout.write(`\n${results.length - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
