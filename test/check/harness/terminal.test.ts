import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { skipWithout } from '../../harness/require-tool.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { availableDrivers, startProgramInTerminal } from '../../harness/terminal.ts';
import type { TerminalDriver, TerminalOptions } from '../../harness/terminal.ts';

const DRIVERS = ['script', 'python3'] as const;

const startNode = async (driver: TerminalDriver, script: string, options?: TerminalOptions) => {
  if (!availableDrivers().includes(driver)) {
    skipWithout('script or python3');
  }
  return startProgramInTerminal(process.execPath, ['-e', script], options, driver);
};

test.each(DRIVERS)('%s: the program has a terminal of the wanted size', async (driver) => {
  const running = await startNode(
    driver,
    `console.log([0, 1, 2].map((fd) => require('node:tty').isatty(fd)).join(), String(process.stdout.columns), "it's")`,
    { columns: 61 },
  );
  const result = await running.done;
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout.toString()).toBe("true,true,true 61 it's\r\n");
});

test.each(DRIVERS)('%s: a prompt can be answered', async (driver) => {
  const running = await startNode(
    driver,
    `process.stdout.write('Name? ');
     process.stdin.once('data', (data) => { console.log('Hello ' + data); process.stdin.pause() })`,
  );
  await running.waitFor('stdout', /Name\? $/);
  running.write('you\r');
  expect((await running.done).stdout.toString()).toMatch(/Hello you/);
});

test.each(DRIVERS)('%s: the exit code comes through', async (driver) => {
  const running = await startNode(driver, 'process.exitCode = 21');
  expect(await running.done).toMatchObject({ code: 21, signal: null });
});

test.each(DRIVERS)('%s: Ctrl-C is an interrupt', async (driver) => {
  const running = await startNode(
    driver,
    `console.log('ready'); setInterval(() => undefined, 1000)`,
  );
  await running.waitFor('stdout', /ready/);
  running.write('\u0003');
  expect(await running.done).toMatchObject({ code: 130, signal: null });
});

test.each(DRIVERS)('%s: outputs and stdin can be somewhere else', async (driver) => {
  const sandbox = await createSandbox();
  const running = await startNode(
    driver,
    `console.error([0, 1, 2].map((fd) => require('node:tty').isatty(fd)).join()); console.log('out')`,
    { sandbox, stdin: { path: '/dev/null' }, stdout: { path: path.join(sandbox.out, "a 'file'") } },
  );
  expect((await running.done).stdout.toString()).toBe('false,false,true\r\n');
  expect(await readFile(path.join(sandbox.out, "a 'file'"), 'utf8')).toBe('out\n');
});
