import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostFolder, hostPids } from '../harness/engine-hosts.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const KEPT = { FOLEY_KEEP_ALIVE: '10m' };
const ALONE = { FOLEY_KEEP_ALIVE: '0' };
const TEXT = 'Dr. Smith paid $3.50 for the zorblatt. "Really?" asked the 2nd reader.';

function speak(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [TEXT, '-o', 'out.mp3'],
): Promise<RunResult> {
  return runFoley(['tts', '--local', '--quiet', ...args], { sandbox, env });
}

async function speech(sandbox: Sandbox, env: Readonly<Record<string, string>>): Promise<Buffer> {
  expect(await speak(sandbox, env)).toMatchObject({ code: 0, stderr: '' });
  return readFile(path.join(sandbox.out, 'out.mp3'));
}

async function untilHosted(sandbox: Sandbox): Promise<number> {
  await expect.poll(() => readdir(hostFolder(sandbox)).catch(() => [])).toContainEqual(SOCKET);
  const [pid, ...more] = await hostPids(sandbox);
  expect(more).toEqual([]);
  if (pid === undefined) throw new Error('No host is running.');
  return pid;
}

const SOCKET = expect.stringMatching(/^hibari\.[0-9a-f]{16}\.sock$/);

/** Speaks, and waits for the host that the command starts. The host ends with the test. */
async function sandboxWithHost(env: Readonly<Record<string, string>> = KEPT): Promise<Sandbox> {
  const sandbox = await createSandbox();
  onTestFinished(async () => (await hostPids(sandbox)).forEach(kill));
  const result = await speak(sandbox, env, ['Yes.', '-o', 'out.mp3']);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  await untilHosted(sandbox);
  return sandbox;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/** Returns environment variables that make a command note its worker threads and its WebAssembly in a file. */
async function watchThreads(sandbox: Sandbox): Promise<{
  readonly env: Readonly<Record<string, string>>;
  /** Returns the names of the threads that have started. */
  readonly started: () => Promise<string>;
  /** Returns the number of compiled modules of WebAssembly. */
  readonly compiled: () => Promise<number>;
}> {
  const hook = path.join(sandbox.harness, 'threads.cjs');
  const notes = path.join(sandbox.harness, 'threads');
  await writeFile(hook, NOTE_THREADS);
  await writeFile(notes, '');
  return {
    env: { NODE_OPTIONS: `--require "${hook}"`, THREAD_NOTES: notes },
    started: async () => (await readFile(notes, 'utf8')).replaceAll('WebAssembly\n', ''),
    compiled: async () => (await readFile(notes, 'utf8')).split('WebAssembly').length - 1,
  };
}

const NOTE_THREADS = `const threads = require('node:worker_threads');
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(file, options) {
    require('node:fs').appendFileSync(process.env.THREAD_NOTES, options.name + '\\n');
    super(file, options);
  }
};
const { Module } = WebAssembly;
WebAssembly.Module = class extends Module {
  constructor(bytes) {
    super(bytes);
    // The HTTP client has a parser of its own.
    if (Module.exports(this).some(({ name }) => name === 'llhttp_alloc')) return;
    require('node:fs').appendFileSync(process.env.THREAD_NOTES, 'WebAssembly\\n');
  }
};`;

describe.skipIf(process.platform === 'win32')('the built-in voice', () => {
  test('speaks and encodes the second command in the host, with the same bytes', async () => {
    const sandbox = await sandboxWithHost();
    const { compiled, env, started } = await watchThreads(sandbox);
    const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
      const args = ['Hello from foley.', '-o', 'short.mp3'];
      expect(await speak(sandbox, { ...own, ...env }, args)).toMatchObject({ code: 0, stderr: '' });
      return readFile(path.join(sandbox.out, 'short.mp3'));
    };
    const shared = await run(KEPT);
    expect([await started(), await compiled()]).toEqual(['', 0]);
    const own = await run(ALONE);
    expect(await started()).toBe('hibari\n');
    expect(await compiled()).toBeGreaterThan(0);
    expect(shared.equals(own)).toBe(true);
  });

  test.each(['mp3', 'ogg', 'wav'])('gives the same %s, short and long', async (format) => {
    const sandbox = await sandboxWithHost();
    const { env, started } = await watchThreads(sandbox);
    for (const text of ['Yes.', 'A sentence, and another one. '.repeat(4)]) {
      const args = [text, '--format', format, '--volume', '6', '-o', `out.${format}`];
      const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
        expect(await speak(sandbox, own, args)).toMatchObject({ code: 0, stderr: '' });
        return readFile(path.join(sandbox.out, `out.${format}`));
      };
      const shared = await run({ ...KEPT, ...env });
      expect(shared.equals(await run(ALONE))).toBe(true);
    }
    expect(await started()).not.toContain('hibari');
  });

  test('gives the same word times, phonemes and unspoken words', async () => {
    const sandbox = await sandboxWithHost();
    await writeFile(path.join(sandbox.out, 'words.txt'), 'tomato\t/təˈmɑːtoʊ/\n');
    const text = 'A tomato, Мир and 東京. Then a second sentence: 3 more words.';
    const run = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const args = [text, '--json', '--lexicon', 'words.txt', '--timings', 'times.json'];
      const { code, stderr } = await speak(sandbox, env, [
        ...args,
        '--format',
        'wav',
        '-o',
        'out.wav',
      ]);
      const times = await readFile(path.join(sandbox.out, 'times.json'), 'utf8');
      const audio = await readFile(path.join(sandbox.out, 'out.wav'), 'base64');
      return [String(code), stderr, times, audio];
    };
    const { env, started } = await watchThreads(sandbox);
    const shared = await run({ ...KEPT, ...env });
    expect(await started()).toBe('');
    expect(shared[0]).toBe('3');
    expect(shared).toEqual(await run(ALONE));
  });

  test('gives four commands at once the same bytes, with one host', async () => {
    const sandbox = await sandboxWithHost();
    const names = ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3'];
    const results = await Promise.all(
      names.map((name) => speak(sandbox, KEPT, [TEXT, '-o', name])),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const files = await Promise.all(names.map((name) => readFile(path.join(sandbox.out, name))));
    const own = await speech(sandbox, ALONE);
    expect(files.map((file) => file.equals(own))).toEqual([true, true, true, true]);
    expect(await hostPids(sandbox)).toHaveLength(1);
  });

  test('goes on in the command when the host is killed while it speaks', async () => {
    const sandbox = await sandboxWithHost();
    const pid = await untilHosted(sandbox);
    const { env, started } = await watchThreads(sandbox);
    const args = [
      'tts',
      '--local',
      '--quiet',
      'One more sentence to speak. '.repeat(20),
      '-o',
      '-',
    ];
    const running = await startFoley(args, { sandbox, env: { ...KEPT, ...env } });
    await expect.poll(() => running.stdout.length).toBeGreaterThan(0);
    expect(await started()).toBe('');
    kill(pid);
    const { code, stderr, stdout } = await running.done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await started()).toContain('hibari\n');
    const own = await runFoley(args, { sandbox, env: ALONE });
    expect(stdout.equals(own.stdout)).toBe(true);
    // The command has started the next host.
    expect(await untilHosted(sandbox)).not.toBe(pid);
  });

  test('speaks in the command when the host hangs, and foley engine stop ends the host', async () => {
    const sandbox = await sandboxWithHost();
    process.kill(await untilHosted(sandbox), 'SIGSTOP');
    const { env, started } = await watchThreads(sandbox);
    await speech(sandbox, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
    const stopped = await runFoley(['engine', 'stop', 'hibari'], { sandbox });
    expect(stopped).toMatchObject({ code: 0, stderr: 'stopped hibari\n' });
    const again = await runFoley(['engine', 'stop', '--json'], { sandbox });
    expect(parseJsonDocument(again.stdout)).toEqual({ stopped: [] });
  });

  test('is named by foley doctor while it stays ready', async () => {
    const sandbox = await sandboxWithHost();
    const { stdout } = await runFoley(['doctor', '--local', '--json'], { sandbox });
    expect(stdout.toString()).toContain('1 process stays ready between commands: hibari');
  });

  test('ends after the time of the setting', async () => {
    const sandbox = await createSandbox();
    onTestFinished(async () => (await hostPids(sandbox)).forEach(kill));
    await runFoley(['config', 'set', 'engine.keepAlive', '1500ms'], { sandbox });
    const env = { FOLEY_KEEP_ALIVE: '' };
    await speech(sandbox, env);
    await untilHosted(sandbox);
    await expect.poll(() => readdir(hostFolder(sandbox))).toEqual([]);
  });

  test('stays ready neither with 0 nor in CI', async () => {
    const sandbox = await createSandbox();
    await speech(sandbox, ALONE);
    await speech(sandbox, { FOLEY_KEEP_ALIVE: '', CI: 'true' });
    await expect(readdir(hostFolder(sandbox))).rejects.toThrow('ENOENT');
  });

  test('does not use a folder that other users can open', async () => {
    const sandbox = await createSandbox();
    await mkdir(hostFolder(sandbox), { recursive: true });
    await chmod(hostFolder(sandbox), 0o755);
    await speech(sandbox, KEPT);
    expect(await readdir(hostFolder(sandbox))).toEqual([]);
    const open = await sandboxWithHost();
    await chmod(hostFolder(open), 0o755);
    const { env, started } = await watchThreads(open);
    await speech(open, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
  });

  test.runIf(process.platform === 'linux')('gets no API key', async () => {
    const sandbox = await sandboxWithHost({ ...KEPT, SECRET_TOKEN: 'hidden' });
    const environment = await readFile(`/proc/${await untilHosted(sandbox)}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/SECRET_TOKEN|FOLEY_/);
  });
});
