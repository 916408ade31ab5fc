import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { engineLauncher } from '../../../../src/service/engine/process/launch-engine.ts';
import { MISBEHAVING, MORSE, MORSE_VOICE, registrationOf } from './engine-under-test.ts';

let folder: string;

/** foley's side as it is shipped: a process cannot run TypeScript. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'foley-process-'));
  const source = fileURLToPath(new URL('../../../../src/service/engine/process/', import.meta.url));
  const bundle = await rolldown({
    input: {
      engine: path.join(source, 'process-engine.ts'),
      launch: path.join(source, 'launch-engine.ts'),
    },
    platform: 'node',
  });
  await bundle.write({ dir: folder, format: 'cjs', entryFileNames: '[name].cjs' });
  await bundle.close();
});

afterAll(() => rm(folder, { recursive: true }));

const PARENT = `
  const { createProcessEngine } = require('./engine.cjs');
  const { engineLauncher } = require('./launch.cjs');
  const [registration, text, after] = JSON.parse(process.argv[1]);
  const launch = engineLauncher({ env: process.env, nodePath: process.execPath });
  const engine = createProcessEngine({
    registration,
    launch(command) {
      const child = launch(command);
      console.log(child.pid);
      return child;
    },
  });
  (async () => {
    const voice = registration.voices[0].id;
    const speech = engine.synthesize({ text, voice, speed: 1, pitch: 0 }, new AbortController().signal);
    for await (const _ of speech) {
      if (after === 'first chunk') break;
      if (after === 'for ever') {
        console.log('speaking');
        await new Promise(() => setInterval(() => undefined, 1000));
      }
    }
  })();
`;

/** Runs foley's side in a process of its own, which speaks once. */
function parent(args: readonly string[], text: string, after: string) {
  const voice = args[0] === MORSE ? MORSE_VOICE : undefined;
  const input = JSON.stringify([registrationOf(args, voice), text, after]);
  const child = spawn(process.execPath, ['-e', PARENT, input], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => String((await lines.next()).value);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, exited, nextLine };
}

/** A process that has ended but was not collected yet counts as ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
}

describe('the processes of an engine', () => {
  it.each([
    ['one that ends with its stdin', [MORSE]],
    ['one that would stay', [MISBEHAVING, 'good and stays']],
  ])('do not keep foley alive when they are idle, nor outlive it: %s', async (_, args) => {
    const { exited, nextLine } = parent(args, 'e', 'its end');
    const pid = Number(await nextLine());

    expect(await exited).toEqual([0, null]);

    await untilGone(pid);
  });

  it('do not keep foley alive while they stop', async () => {
    const { exited, nextLine } = parent([MORSE], 'cq '.repeat(5_000), 'first chunk');
    const pid = Number(await nextLine());
    expect(await exited).toEqual([0, null]);
    await untilGone(pid);
  });

  it('end when foley is killed', async () => {
    const { child, exited, nextLine } = parent([MORSE], 'cq '.repeat(5_000), 'for ever');
    const pid = Number(await nextLine());
    expect(await nextLine()).toBe('speaking');
    expect(isRunning(pid)).toBe(true);

    child.kill('SIGKILL');

    expect(await exited).toEqual([null, 'SIGKILL']);
    await untilGone(pid);
  });
});

describe('on Windows, an engine', () => {
  it('is ended with its child processes by taskkill', async () => {
    const calls: unknown[] = [];
    const launch = engineLauncher({
      env: { SystemRoot: 'D:\\Windows' },
      nodePath: process.execPath,
      platform: 'win32',
      runProgram: (...call) => calls.push(call),
    });
    const args = ['-e', 'process.stdin.resume()'];
    const engine = launch({ name: 'quiet', command: 'node', args, cwd: folder });
    engine.kill('SIGTERM');
    engine.stdin.end();
    await engine.ended;
    engine.kill('SIGKILL');
    const given = ['/PID', String(engine.pid), '/T', '/F'];
    expect(calls).toEqual([['D:\\Windows\\System32\\taskkill.exe', given, false]]);
  });
});
