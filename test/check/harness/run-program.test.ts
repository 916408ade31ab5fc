import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram, startProgram } from '../../harness/run-program.ts';
import type { RunOptions } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const runNode = async (script: string, options?: RunOptions) =>
  runProgram(process.execPath, ['-e', script], options);

const startNode = async (script: string, options?: RunOptions) =>
  startProgram(process.execPath, ['-e', script], options);

test('a run gives the exit code and both outputs, byte for byte', async () => {
  const result = await runNode(`
    process.stdout.write(Buffer.from([0, 255, 10]));
    process.stderr.write('said\\n');
    process.exitCode = 21;
  `);
  expect(result).toMatchObject({ code: 21, signal: null, stderr: 'said\n' });
  expect([...result.stdout]).toStrictEqual([0, 255, 10]);
});

test('nothing of the environment of the tests gets in but PATH', async () => {
  process.env['FOLEY_API_KEY'] = 'somebody’s own';
  process.env['NODE_OPTIONS'] = '--no-deprecation';
  const { stdout, sandbox } = await runNode('console.log(JSON.stringify(process.env))', {
    env: { FOLEY_VOICE: 'v' },
  });
  delete process.env['FOLEY_API_KEY'];
  delete process.env['NODE_OPTIONS'];
  expect(JSON.parse(stdout.toString())).toStrictEqual({
    FOLEY_KEEP_ALIVE: '0',
    FOLEY_VOICE: 'v',
    HOME: sandbox.home,
    LANG: 'C.UTF-8',
    PATH: process.env['PATH'],
    TMPDIR: sandbox.temporary,
    TZ: 'UTC',
    XDG_CACHE_HOME: sandbox.cache,
    XDG_CONFIG_HOME: sandbox.config,
    XDG_STATE_HOME: sandbox.state,
  });
});

describe('stdin', () => {
  const report = `
    const stat = require('node:fs').fstatSync(0);
    const text = require('node:fs').readFileSync(0, 'utf8');
    console.log(JSON.stringify({ device: stat.isCharacterDevice(), text }));
  `;

  test('is the null device unless a test gives input', async () => {
    const { stdout } = await runNode(report);
    expect(JSON.parse(stdout.toString())).toStrictEqual({ device: true, text: '' });
  });

  test('is a pipe that ends after the input', async () => {
    const { stdout } = await runNode(report, { input: 'héllo' });
    expect(JSON.parse(stdout.toString())).toStrictEqual({ device: false, text: 'héllo' });
  });

  test('stays open when it is asked to', async () => {
    const running = await startNode(
      `process.stdin.on('data', (d) => process.stdout.write('<' + d + '>'));
       process.stdin.on('end', () => process.stdout.write('end'));`,
      { input: 'a', keepInputOpen: true },
    );
    await running.waitFor('stdout', /<a>/);
    running.write('b');
    await running.waitFor('stdout', /<b>/);
    running.endInput();
    expect((await running.done).stdout.toString()).toBe('<a><b>end');
  });

  test('may be left unread', async () => {
    const result = await runNode('process.exitCode = 3', { input: 'x'.repeat(1_000_000) });
    expect(result.code).toBe(3);
  });
});

test('an output may go straight into a file', async () => {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'out.txt');
  const result = await runNode(`console.log(require('node:fs').fstatSync(1).isFile())`, {
    sandbox,
    stdout: { path: file },
  });
  expect(result.stdout.length).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('true\n');
});

test.runIf(process.platform === 'linux')('an output may be a full device', async () => {
  const { stderr } = await runNode(
    `try { require('node:fs').writeSync(1, 'x') } catch (e) { console.error(e.code) }`,
    { stdout: { path: '/dev/full' } },
  );
  expect(stderr).toBe('ENOSPC\n');
});

test('a closed output reaches the program as a broken pipe', async () => {
  const running = await startNode(`
    process.stdout.on('error', (error) => { console.error(error.code); process.exit(5); });
    setInterval(() => process.stdout.write('x'), 1);
  `);
  await running.waitFor('stdout', /x/);
  running.closeOutput('stdout');
  expect(await running.done).toMatchObject({ code: 5, stderr: 'EPIPE\n' });
});

test('a held output is not read until it is resumed', async () => {
  const running = await startNode(
    `process.stdout.write(Buffer.alloc(2_000_000), () => process.stderr.write('flushed\\n'));
     process.stdin.once('data', (data) => process.stderr.write('got ' + data)).unref();`,
    { holdStdout: true, keepInputOpen: true },
  );
  running.write('ping');
  await running.waitFor('stderr', /got ping/);
  expect(running.stdout.length).toBe(0);
  expect(running.stderr).not.toContain('flushed');
  running.resumeStdout();
  await running.waitFor('stderr', /flushed/);
  running.endInput();
  expect((await running.done).stdout.length).toBe(2_000_000);
});

describe('signals', () => {
  const waiting = `
    process.on('SIGTERM', () => { console.log('stopping'); process.exitCode = 9; clearInterval(t) });
    const t = setInterval(() => undefined, 1000);
    console.error('ready');
  `;

  test('one is sent when stderr says so', async () => {
    const signalAt = { signal: 'SIGTERM', when: /ready/ } as const;
    const result = await runNode(waiting, { signalAt });
    expect(result).toMatchObject({ code: 9, signal: null });
    expect(result.stdout.toString()).toBe('stopping\n');
  });

  test('one that ends the program is named', async () => {
    const signalAt = { signal: 'SIGINT', when: /ready/ } as const;
    expect(await runNode(waiting, { signalAt })).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  test('one is sent when a promise says so', async () => {
    const running = await startNode(waiting);
    const ready = running.waitFor('stderr', /ready/);
    const other = await runNode(waiting, { signalAt: { signal: 'SIGKILL', when: ready } });
    expect(other.signal).toBe('SIGKILL');
  });
});

test('waiting for what never comes ends with the program', async () => {
  const running = await startNode(`console.log('nothing')`);
  await expect(running.waitFor('stdout', /something/)).rejects.toThrow(/stdout ended without/);
});

test('a program that does not end in time is killed, and the error has its output', async () => {
  const script = 'echo stuck >&2; exec sleep 100';
  const running = await startProgram('/bin/sh', ['-c', script], { timeoutMs: 1000 });
  await expect(running.done).rejects.toThrow(/did not end in .*stuck/s);
});

test('a program that does not exist is an error of the test', async () => {
  await expect(runProgram('/nonexistent/program', [])).rejects.toThrow(/could not be started/);
});

test.runIf(process.platform === 'linux')('the peak of memory can be seen', async () => {
  const running = await startNode(
    `globalThis.kept = Buffer.alloc(200_000_000, 1); console.log('full'); setInterval(() => undefined, 1000)`,
  );
  await running.waitFor('stdout', /full/);
  expect(running.peakMemoryBytes()).toBeGreaterThan(200_000_000);
  running.signal('SIGKILL');
  await running.done;
});

test.runIf(process.platform !== 'win32')(
  'an unprivileged sandbox cannot write where permissions forbid it',
  async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await mkdir(path.join(sandbox.out, 'closed'), { mode: 0o555 });
    await symlink('closed', path.join(sandbox.out, 'link'));
    await writeFile(path.join(sandbox.out, 'readable.txt'), 'x');
    const result = await runNode(
      `const fs = require('node:fs');
       fs.writeFileSync('mine.txt', fs.readFileSync('readable.txt'));
       try { fs.writeFileSync('closed/x', '') } catch (e) { console.log(e.code) }`,
      { sandbox },
    );
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toBe('EACCES\n');
  },
);
