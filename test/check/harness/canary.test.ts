import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { canaryKey } from '../../harness/canary.ts';
import { runProgram, startProgram } from '../../harness/run-program.ts';
import type { RunOptions } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const runNode = async (script: string, options: RunOptions) =>
  runProgram(process.execPath, ['-e', script], options);

const leaks = [
  ['stdout', 'console.log("key: " + process.env.KEY)'],
  ['stderr', 'console.error(process.env.KEY)'],
  ['state/log', 'fs.writeFileSync("../state/log", process.env.KEY)'],
  ['out/x.bin', 'fs.writeFileSync("x.bin", Buffer.from(process.env.KEY, "latin1"))'],
  ['stdout', 'console.log(Buffer.from(process.env.KEY).toString("hex"))'],
  ['stdout', 'console.log(btoa("user:" + process.env.KEY + "@"))'],
  ['stdout', 'console.log(btoa("user-" + process.env.KEY))'],
  ['stdout', 'console.log(btoa("a:b:" + process.env.KEY + "12"))'],
  [
    'config/foley/x',
    'fs.mkdirSync("../config/foley"); fs.writeFileSync("../config/foley/x", process.env.KEY)',
  ],
] as const;

test.each(leaks)('a key that leaks into %s fails the run: %s', async (place, script) => {
  const env = { KEY: canaryKey() };
  await expect(runNode(`const fs = require('node:fs'); ${script}`, { env })).rejects.toThrow(
    new RegExp(`leaked into ${place}`),
  );
});

test('the failure does not show the key', async () => {
  const key = canaryKey();
  const running = runNode('console.log(process.env.KEY)', { env: { KEY: key } });
  await expect(running).rejects.not.toThrow(key);
});

test('the account store may hold a key when only its owner can read it', async () => {
  const result = await runNode(
    `fs.mkdirSync('../config/foley');
     fs.writeFileSync('../config/foley/accounts.json', process.env.KEY, { mode: 0o600 });`,
    { env: { KEY: canaryKey() } },
  );
  expect(result.code).toBe(0);
});

test('a key file that the test wrote is no leak, but a copy of it is', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.home, 'key'), canaryKey());
  const read = `const key = fs.readFileSync('../home/key');`;
  expect((await runNode(read, { sandbox })).code).toBe(0);
  await expect(runNode(`${read} fs.writeFileSync('copy', key)`, { sandbox })).rejects.toThrow(
    'leaked into out/copy',
  );
});

test('a key of another run in the same file of tests is found too', async () => {
  const key = canaryKey();
  canaryKey();
  await expect(runNode(`console.log('${key}')`, {})).rejects.toThrow('stdout');
});

test('a key may show where the test says that the service sent it as data', async () => {
  const options = { env: { KEY: canaryKey() }, canaryExpectedIn: ['stdout'] } as const;
  expect((await runNode('console.log(process.env.KEY)', options)).code).toBe(0);
  await expect(runNode('console.error(process.env.KEY)', options)).rejects.toThrow('stderr');
});

test.fails('a leak fails a test that does not ask how the program ended', async () => {
  const key = canaryKey();
  const running = await startProgram(process.execPath, ['-e', `console.log('${key}')`]);
  await running.waitFor('stdout', /canary/);
});

test('a key is found in a large file, over the edge of two pieces, and in a folder', async () => {
  const sandbox = await createSandbox();
  await mkdir(path.join(sandbox.out, 'sub'));
  const key = canaryKey();
  await expect(
    runNode(`fs.writeFileSync('sub/b', 'x'.repeat(2_097_140) + '${key}')`, { sandbox }),
  ).rejects.toThrow('leaked into out/sub/b');
});
