import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { MediaTaskError } from '../../../src/service/media/child/messages.ts';
import { createTaskRunner } from '../../../src/service/media/child/run-task.ts';
import type { TaskOptions } from '../../../src/service/media/child/run-task.ts';
import { FONT_FILE, MEDIA_CHILD_FILE } from '../../../src/service/worker-file.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { temporaryFolder } from '../support/test-service.ts';
import { requirePosix } from '../../harness/posix.ts';

const RESULT = Type.Object({ answer: Type.Number() });
type Options = TaskOptions<typeof RESULT>;

/** A child with this program, which first writes its process id to a file. */
async function child(program: string) {
  const folder = await temporaryFolder();
  const note = path.join(folder, 'pid');
  const file = path.join(folder, 'child.cjs');
  await writeFile(
    file,
    `require('node:fs').writeFileSync(${JSON.stringify(note)}, String(process.pid));
     process.once('message', (call) => { ${program} });`,
  );
  const clock = manualClock();
  const run = createTaskRunner({ clock, file: pathToFileURL(file), env: { FOLEY_ONLY: 'this' } });
  const begin = (options: Partial<Options> = {}) =>
    run(
      'inspect',
      { question: 6 },
      {
        result: RESULT,
        deadlineMs: 1_000,
        signal: new AbortController().signal,
        ...options,
      },
    );
  return {
    clock,
    begin,
    /** Resolves when the child runs. */
    started: () => vi.waitFor(async () => expect(await pidOf(note)).toBeGreaterThan(0), WAIT),
    /** Resolves when it runs no more. */
    gone: async () => {
      const pid = await pidOf(note);
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/), WAIT);
    },
  };
}

/** 0 while it is not written. */
async function pidOf(note: string): Promise<number> {
  return Number(await readFile(note, 'utf8').catch(() => '0'));
}

const WAIT = { interval: 5, timeout: 60_000 };

async function failureOf(running: Promise<unknown>): Promise<MediaTaskError> {
  const error: unknown = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof MediaTaskError) return error;
  throw new Error('it did not fail as a task does', { cause: error });
}

describe('a task in a process of its own', () => {
  test('gives its result also when its exit is seen first', async () => {
    const last = JSON.stringify({ type: 'done', result: { answer: 42 } });
    // A process that outlives it has the channel as well, and sends what it had not sent.
    const heir = `
      setInterval(() => {
        if (process.ppid === Number(process.argv[1])) return;
        require('node:fs').writeSync(3, ${JSON.stringify(`${last}\n`)});
        process.exit();
      }, 5);`;
    const { begin } = await child(`
      const stdio = ['ignore', 'ignore', 'ignore', 3];
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(heir)}, String(process.pid)], { stdio });
      process.exit(0);`);
    expect(await begin()).toEqual({ answer: 42 });
  });

  test('gets its order, reports its progress, and returns its result', async () => {
    const told: number[] = [];
    const { begin, gone } = await child(`
      process.send({ type: 'progress', fraction: 0.5 });
      process.send({ type: 'done', result: { answer: call.order.question * 7 } });
    `);
    expect(await begin({ onProgress: (fraction) => told.push(fraction) })).toEqual({ answer: 42 });
    expect(told).toEqual([0.5]);
    await gone();
  });

  test('fails with the reason that it reports', async () => {
    const { begin, gone } = await child(
      `process.send({ type: 'failed', reason: 'unsupported', message: 'is no media' });`,
    );
    expect(await failureOf(begin())).toMatchObject({
      reason: 'unsupported',
      message: 'is no media',
    });
    await gone();
  });

  test('is killed at its deadline, whatever it is doing', async () => {
    const { begin, clock, gone, started } = await child('for (;;);');
    const running = failureOf(begin());
    await started();
    clock.advance(1_000);
    expect((await running).reason).toBe('timeout');
    await gone();
  });

  test('is killed when it is aborted', async () => {
    const { begin, gone, started } = await child('for (;;);');
    const leaving = new AbortController();
    const running = begin({ signal: leaving.signal });
    await started();
    leaving.abort(new Error('the client left'));
    await expect(running).rejects.toThrow('the client left');
    await gone();
  });

  test('that dies is a failure of its own', async () => {
    const { begin } = await child('process.abort();');
    expect((await failureOf(begin())).reason).toBe('died');
  });

  test('that cannot be begun is a failure of its own, and of nothing else', async () => {
    const { begin } = await child('');
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    // As when another version of Node was installed in the place of this one.
    process.execPath = path.join(await temporaryFolder(), 'node');
    const uncaught = vi.fn();
    process.on('uncaughtExceptionMonitor', uncaught);
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', uncaught));
    expect((await failureOf(begin())).reason).toBe('failed');
    await new Promise((resolve) => setImmediate(resolve));
    expect(uncaught).not.toHaveBeenCalled();
  });

  test('that needs more memory than it may have dies alone', async () => {
    const { begin } = await child(
      'const all = []; for (;;) all.push(Array.from({ length: 1000 }, () => ({})));',
    );
    expect((await failureOf(begin({ memoryMb: 32 }))).reason).toBe('died');
  });

  test.each([`'nonsense'`, `{ type: 'done', result: { answer: 'x' } }`])(
    'that sends %s is refused',
    async (news) => {
      const { begin, gone } = await child(`process.send(${news});`);
      expect((await failureOf(begin())).reason).toBe('failed');
      await gone();
    },
  );

  test('has the environment that it was given, and nothing else', async () => {
    const { begin } = await child(
      `process.send({ type: 'done', result: { answer: Object.keys(process.env).filter((name) => name.startsWith('FOLEY_') || name === 'PATH').length } });`,
    );
    expect(await begin()).toEqual({ answer: 1 });
  });
});

test('a file that cannot be written to its end is not left half', { timeout: 60_000 }, async () => {
  requirePosix('programs that begin with #!');
  const folder = await temporaryFolder();
  const { execPath } = process;
  onTestFinished(() => void (process.execPath = execPath));
  // No file of a process that is begun so grows beyond eight kilobytes, as on a disk that is full.
  process.execPath = path.join(folder, 'node');
  await writeFile(process.execPath, `#!/bin/sh\nulimit -f 16\nexec '${execPath}' "$@"\n`);
  await chmod(process.execPath, 0o700);
  const run = createTaskRunner({ clock: systemClock, file: MEDIA_CHILD_FILE, env: {} });
  const size = { width: 512, height: 512 };
  const fontFile = fileURLToPath(FONT_FILE);
  const output = path.join(folder, 'picture.png');
  const order = { prompt: 'A fox', seed: 1, ...size, references: [], fontFile, output };
  const options = { deadlineMs: 50_000, signal: new AbortController().signal };
  const running = run('image', { ...order, format: 'png' }, { ...options, result: Type.Null() });
  expect((await failureOf(running)).reason).toBe('failed');
  await expect(readFile(output)).rejects.toThrow(/ENOENT/);
});
