import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { hostFolder, hostPids } from '../../harness/engine-hosts.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

export const KEPT = { FOLEY_KEEP_ALIVE: '10m' };
export const ALONE = { FOLEY_KEEP_ALIVE: '0' };
export const TEXT = 'Dr. Smith paid $3.50 for the zorblatt. "Really?" asked the 2nd reader.';

export function speak(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [TEXT, '-o', 'out.mp3'],
): Promise<RunResult> {
  return runFoley(['tts', '--local', '--quiet', ...args], { sandbox, env });
}

export async function speech(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Promise<Buffer> {
  expect(await speak(sandbox, env)).toMatchObject({ code: 0, stderr: '' });
  return readFile(path.join(sandbox.out, 'out.mp3'));
}

export async function untilHosted(sandbox: Sandbox): Promise<number> {
  await expect.poll(() => readdir(hostFolder(sandbox)).catch(() => [])).toContainEqual(SOCKET);
  const [pid, ...more] = await hostPids(sandbox);
  expect(more).toEqual([]);
  if (pid === undefined) throw new Error('No host is running.');
  return pid;
}

const SOCKET = expect.stringMatching(/^hibari\.[0-9a-f]{16}\.sock$/);

/** Speaks, and waits for the host that the command starts. The host ends with the test. */
export async function sandboxWithHost(
  env: Readonly<Record<string, string>> = KEPT,
): Promise<Sandbox> {
  const sandbox = await createSandbox();
  onTestFinished(async () => (await hostPids(sandbox)).forEach(kill));
  const result = await speak(sandbox, env, ['Yes.', '-o', 'out.mp3']);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  await untilHosted(sandbox);
  return sandbox;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/** Returns environment variables that make a command note its worker threads and its WebAssembly in a file. */
export async function watchThreads(sandbox: Sandbox): Promise<{
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
