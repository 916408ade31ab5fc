import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { sandbox } from '../harness/sandbox.ts';

const KEPT = { FOLEY_KEEP_ALIVE: '10m' };
const ALONE = { FOLEY_KEEP_ALIVE: '0' };
const TEXT = 'Dr. Smith paid $3.50 for the zorblatt. "Really?" asked the 2nd reader.';

const folderOf = (box: Sandbox): string => path.join(box.state, 'foley/run');

function speak(
  box: Sandbox,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [TEXT, '-o', 'out.mp3'],
): Promise<RunResult> {
  return runFoley(['tts', '--local', '--quiet', ...args], { box, env });
}

async function speech(box: Sandbox, env: Readonly<Record<string, string>>): Promise<Buffer> {
  expect(await speak(box, env)).toMatchObject({ code: 0, stderr: '' });
  return readFile(path.join(box.out, 'out.mp3'));
}

async function hostPids(box: Sandbox): Promise<number[]> {
  const names = await readdir(folderOf(box)).catch((): string[] => []);
  const locks = names.filter((name) => name.endsWith('.lock'));
  const owners = locks.map(async (name) => {
    const { owner } = JSON.parse(await readFile(path.join(folderOf(box), name), 'utf8'));
    return Number(owner.pid);
  });
  return Promise.all(owners);
}

async function untilHosted(box: Sandbox): Promise<number> {
  await expect.poll(() => readdir(folderOf(box)).catch(() => [])).toContainEqual(SOCKET);
  const [pid, ...more] = await hostPids(box);
  expect(more).toEqual([]);
  if (pid === undefined) throw new Error('No host is running.');
  return pid;
}

const SOCKET = expect.stringMatching(/^hibari\.[0-9a-f]{16}\.sock$/);

/** Speaks, and waits for the host that the command starts. The host ends with the test. */
async function boxWithHost(env: Readonly<Record<string, string>> = KEPT): Promise<Sandbox> {
  const box = await sandbox();
  onTestFinished(async () => (await hostPids(box)).forEach(kill));
  await speech(box, env);
  await untilHosted(box);
  return box;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/** Returns environment variables that make a command note its worker threads and its WebAssembly in a file. */
async function watchThreads(box: Sandbox): Promise<{
  readonly env: Readonly<Record<string, string>>;
  /** Returns the names of the threads that have started. */
  readonly started: () => Promise<string>;
  /** Returns the number of compiled modules of WebAssembly. */
  readonly compiled: () => Promise<number>;
}> {
  const hook = path.join(box.harness, 'threads.cjs');
  const notes = path.join(box.harness, 'threads');
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
    require('node:fs').appendFileSync(process.env.THREAD_NOTES, 'WebAssembly\\n');
    super(bytes);
  }
};`;

describe.skipIf(process.platform === 'win32')('the built-in voice', () => {
  test('speaks and encodes the second command in the host, with the same bytes', async () => {
    const box = await boxWithHost();
    const { compiled, env, started } = await watchThreads(box);
    const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
      const args = ['Hello from foley.', '-o', 'short.mp3'];
      expect(await speak(box, { ...own, ...env }, args)).toMatchObject({ code: 0, stderr: '' });
      return readFile(path.join(box.out, 'short.mp3'));
    };
    const shared = await run(KEPT);
    expect([await started(), await compiled()]).toEqual(['', 0]);
    const own = await run(ALONE);
    expect(await started()).toBe('hibari\n');
    expect(await compiled()).toBeGreaterThan(0);
    expect(shared.equals(own)).toBe(true);
  });

  test.each(['mp3', 'ogg', 'wav'])('gives the same %s, short and long', async (format) => {
    const box = await boxWithHost();
    const { env, started } = await watchThreads(box);
    for (const text of ['Yes.', 'A sentence, and another one. '.repeat(8)]) {
      const args = [text, '--format', format, '--volume', '6', '-o', `out.${format}`];
      const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
        expect(await speak(box, own, args)).toMatchObject({ code: 0, stderr: '' });
        return readFile(path.join(box.out, `out.${format}`));
      };
      const shared = await run({ ...KEPT, ...env });
      expect(shared.equals(await run(ALONE))).toBe(true);
    }
    expect(await started()).not.toContain('hibari');
  });

  test('gives the same word times, phonemes and unspoken words', async () => {
    const box = await boxWithHost();
    await writeFile(path.join(box.out, 'words.txt'), 'tomato\t/təˈmɑːtoʊ/\n');
    const text = 'A tomato, Мир and 東京. Then a second sentence: 3 more words.';
    const run = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const args = [text, '--json', '--lexicon', 'words.txt', '--timings', 'times.json'];
      const { code, stderr } = await speak(box, env, [...args, '--format', 'wav', '-o', 'out.wav']);
      const times = await readFile(path.join(box.out, 'times.json'), 'utf8');
      const audio = await readFile(path.join(box.out, 'out.wav'), 'base64');
      return [String(code), stderr, times, audio];
    };
    const { env, started } = await watchThreads(box);
    const shared = await run({ ...KEPT, ...env });
    expect(await started()).toBe('');
    expect(shared[0]).toBe('3');
    expect(shared).toEqual(await run(ALONE));
  });

  test('gives four commands at once the same bytes, with one host', async () => {
    const box = await boxWithHost();
    const names = ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3'];
    const results = await Promise.all(names.map((name) => speak(box, KEPT, [TEXT, '-o', name])));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const files = await Promise.all(names.map((name) => readFile(path.join(box.out, name))));
    const own = await speech(box, ALONE);
    expect(files.map((file) => file.equals(own))).toEqual([true, true, true, true]);
    expect(await hostPids(box)).toHaveLength(1);
  });

  test('goes on in the command when the host is killed while it speaks', async () => {
    const box = await boxWithHost();
    const pid = await untilHosted(box);
    const { env, started } = await watchThreads(box);
    const args = [
      'tts',
      '--local',
      '--quiet',
      'One more sentence to speak. '.repeat(40),
      '-o',
      '-',
    ];
    const running = await startFoley(args, { box, env: { ...KEPT, ...env } });
    await expect.poll(() => running.stdout.length).toBeGreaterThan(0);
    expect(await started()).toBe('');
    kill(pid);
    const { code, stderr, stdout } = await running.done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await started()).toContain('hibari\n');
    const own = await runFoley(args, { box, env: ALONE });
    expect(stdout.equals(own.stdout)).toBe(true);
    // The command has started the next host.
    expect(await untilHosted(box)).not.toBe(pid);
  });

  test('speaks in the command when the host hangs, and foley engine stop ends the host', async () => {
    const box = await boxWithHost();
    process.kill(await untilHosted(box), 'SIGSTOP');
    const { env, started } = await watchThreads(box);
    await speech(box, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
    const stopped = await runFoley(['engine', 'stop', 'hibari'], { box });
    expect(stopped).toMatchObject({ code: 0, stderr: 'stopped hibari\n' });
    const again = await runFoley(['engine', 'stop', '--json'], { box });
    expect(parseJsonDocument(again.stdout)).toEqual({ stopped: [] });
  });

  test('is named by foley doctor while it stays ready', async () => {
    const box = await boxWithHost();
    const { stdout } = await runFoley(['doctor', '--local', '--json'], { box });
    expect(stdout.toString()).toContain('1 process stays ready between commands: hibari');
  });

  test('ends after the time of the setting', async () => {
    const box = await sandbox();
    onTestFinished(async () => (await hostPids(box)).forEach(kill));
    await runFoley(['config', 'set', 'engine.keepAlive', '1500ms'], { box });
    const env = { FOLEY_KEEP_ALIVE: '' };
    await speech(box, env);
    await untilHosted(box);
    await expect.poll(() => readdir(folderOf(box))).toEqual([]);
  });

  test('stays ready neither with 0 nor in CI', async () => {
    const box = await sandbox();
    await speech(box, ALONE);
    await speech(box, { FOLEY_KEEP_ALIVE: '', CI: 'true' });
    await expect(readdir(folderOf(box))).rejects.toThrow('ENOENT');
  });

  test('does not use a folder that other users can open', async () => {
    const box = await sandbox();
    await mkdir(folderOf(box), { recursive: true });
    await chmod(folderOf(box), 0o755);
    await speech(box, KEPT);
    expect(await readdir(folderOf(box))).toEqual([]);
    const open = await boxWithHost();
    await chmod(folderOf(open), 0o755);
    const { env, started } = await watchThreads(open);
    await speech(open, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
  });

  test.runIf(process.platform === 'linux')('gets no API key', async () => {
    const box = await boxWithHost({ ...KEPT, SECRET_TOKEN: 'hidden' });
    const environment = await readFile(`/proc/${await untilHosted(box)}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/SECRET_TOKEN|FOLEY_/);
  });
});
