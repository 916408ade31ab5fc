// `npm test`: makes the clone ready and runs every gate, in the order in which they fail fastest.
// `npm test -- --only unit` runs one of them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { failedTestsFile } from './failed-tests.mjs';
import { isSetUp, root } from './set-up.mjs';

const bin = (name) => path.join(root, 'node_modules/.bin', name);
const vitest = (project) => [
  bin('vitest'),
  'run',
  '--project',
  project,
  '--reporter=default',
  '--reporter=./scripts/failed-tests.mjs',
];
const gates = [
  {
    name: 'lint and import direction',
    command: [bin('oxlint'), '--type-aware', '--deny-warnings'],
  },
  { name: 'format', command: [bin('oxfmt'), '--check'] },
  { name: 'types', command: [bin('tsc'), '--noEmit'] },
  { name: 'unused code', command: [bin('knip')] },
  { name: 'generated files', command: [process.execPath, 'scripts/generate.mjs', '--check'] },
  { name: 'unit', command: vitest('unit') },
  { name: 'conformance', command: vitest('conformance') },
  { name: 'binary', command: vitest('binary') },
  { name: 'validators', command: vitest('validators') },
  { name: 'packed tarball', command: [process.execPath, 'scripts/packed.mjs'] },
];

if (isSetUp()) runGates(chosen());

function chosen() {
  const at = process.argv.indexOf('--only');
  return at === -1 ? gates : gates.filter(({ name }) => name.startsWith(process.argv[at + 1]));
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
