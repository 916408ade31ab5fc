import { existsSync, readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stopHosts } from '../../../src/service/engine/resident/host-protocol.ts';
import { createResidentEngine } from '../../../src/service/engine/resident/resident-engine.ts';
import { errorLine } from '../../harness/error-line.ts';
import { hostFolder, hostPids } from '../../harness/engine-hosts.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  recordingLauncher,
  registrationOf,
  SECOND,
  wholeSpeech,
} from '../../service/engine/process/engine-under-test.ts';

const ENGINE = fileURLToPath(
  new URL('../../service/engine/process/engines/counted.mjs', import.meta.url),
);
const KEPT = { FOLEY_KEEP_ALIVE: '10m' };
const LOADING_MS = 400;

const startsFile = (sandbox: Sandbox): string => path.join(sandbox.out, 'starts');

/** Adds the engine in a new sandbox; its processes end with the test. */
async function sandboxWithEngine(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  onTestFinished(async () => {
    for (const pid of [...(await hostPids(sandbox)), ...pidsOf(sandbox)]) kill(pid);
    await expect.poll(() => pidsOf(sandbox).filter(isRunning)).toEqual([]);
  });
  await add(sandbox);
  return sandbox;
}

async function add(sandbox: Sandbox, loadingMs = LOADING_MS): Promise<void> {
  const program = path.join(sandbox.out, 'engine.mjs');
  await copyFile(ENGINE, program);
  const args = [
    'engine',
    'add',
    'counted',
    '--',
    'node',
    program,
    startsFile(sandbox),
    `${loadingMs}`,
  ];
  const added = await runFoley(args, { sandbox });
  expect(added.code, added.stderr).toBe(0);
}

const speechArgs = (text: string, out = 'out.wav'): string[] => [
  'tts',
  text,
  '--local',
  '--quiet',
  '-v',
  'counted',
  '--format',
  'wav',
  '-o',
  out,
];

function speak(sandbox: Sandbox, text = 'Hello.', options: RunOptions = {}): Promise<RunResult> {
  return runFoley(speechArgs(text), { sandbox, env: KEPT, ...options });
}

async function expectSpeech(sandbox: Sandbox, options?: RunOptions): Promise<void> {
  const spoken = await speak(sandbox, 'Hello.', options);
  expect(spoken.code, spoken.stderr).toBe(0);
  expect((await stat(path.join(sandbox.out, 'out.wav'))).size).toBeGreaterThan(2 * 96_000);
}

/** The processes of the engine that commands started; the first one belongs to `engine add`. */
function pidsOf(sandbox: Sandbox): number[] {
  if (!existsSync(startsFile(sandbox))) return [];
  return readFileSync(startsFile(sandbox), 'utf8').trim().split('\n').slice(1).map(Number);
}

async function hostPid(sandbox: Sandbox): Promise<number> {
  const [pid, ...more] = await hostPids(sandbox);
  expect(more).toEqual([]);
  if (pid === undefined) throw new Error('No host is running.');
  return pid;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
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

const untilEnded = (...pids: readonly number[]): Promise<void> =>
  expect.poll(() => pids.filter(isRunning)).toEqual([]);

describe('the process of an engine', () => {
  test('starts once for several commands', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    await expectSpeech(sandbox);
    await expectSpeech(sandbox);
    expect(pidsOf(sandbox)).toHaveLength(1);
  });

  test('that loads for 6 s costs that once', async () => {
    const sandbox = await sandboxWithEngine();
    await add(sandbox, 6_000);
    const before = pidsOf(sandbox).length;
    const timed = async (): Promise<number> => {
      const startedAt = performance.now();
      await expectSpeech(sandbox);
      return performance.now() - startedAt;
    };
    const first = await timed();
    expect(first).toBeGreaterThan(6_000);
    // The second command need not wait 6 s more than it takes without the engine.
    expect(await timed()).toBeLessThan(first - 3_000);
    expect(pidsOf(sandbox)).toHaveLength(before + 1);
  });

  test('is named by foley doctor while it stays ready', async () => {
    const sandbox = await sandboxWithEngine();
    const findings = async (): Promise<unknown> => {
      const { stdout } = await runFoley(['doctor', '--local', '--json'], { sandbox });
      const { checks } = Object(parseJsonDocument(stdout));
      return checks
        .filter(({ check }: { check: string }) => check === 'engines')
        .map(({ text }: { text: string }) => text);
    };
    const works = 'counted works and speaks en';
    expect(await findings()).toEqual([works]);
    await expectSpeech(sandbox);
    expect(await findings()).toEqual([works, '1 process stays ready between commands: counted']);
    // The question does not end the process.
    await expectSpeech(sandbox);
    await runFoley(['engine', 'stop'], { sandbox });
    expect(await findings()).toEqual([works]);
  });

  test('starts once for commands that run at the same moment', async () => {
    const sandbox = await sandboxWithEngine();
    const names = ['a.wav', 'b.wav', 'c.wav', 'd.wav'];
    const results = await Promise.all(
      names.map((name) => runFoley(speechArgs('Hello.', name), { sandbox, env: KEPT })),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(pidsOf(sandbox)).toHaveLength(1);
    expect(await hostPids(sandbox)).toHaveLength(1);
  });

  test('makes the same file as a process of the command', async () => {
    const sandbox = await sandboxWithEngine();
    await speak(sandbox, 'Hello.');
    const shared = await readFile(path.join(sandbox.out, 'out.wav'));
    await speak(sandbox, 'Hello.', { env: {} });
    expect(shared.equals(await readFile(path.join(sandbox.out, 'out.wav')))).toBe(true);
    expect(pidsOf(sandbox)).toHaveLength(2);
  });

  test('gets a socket that only the user can open', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    const folder = hostFolder(sandbox);
    const name = (await readdir(folder)).find((one) => one.endsWith('.sock')) ?? '';
    expect(name).toMatch(/^counted\.[0-9a-f]{16}\.sock$/);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('uses the runtime folder of the session', async () => {
    const sandbox = await sandboxWithEngine();
    const env = { ...KEPT, XDG_RUNTIME_DIR: sandbox.temporary };
    await expectSpeech(sandbox, { env });
    expect(existsSync(hostFolder(sandbox))).toBe(false);
    expect(await readdir(path.join(sandbox.temporary, 'foley'))).toHaveLength(2);
    const stopped = await runFoley(['engine', 'stop'], { sandbox, env });
    expect(stopped.stderr).toContain('stopped counted');
  });

  test.runIf(process.platform === 'linux')('gets no API key and no stream of foley', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox, { env: { ...KEPT, SECRET_TOKEN: 'hidden' } });
    const host = `/proc/${await hostPid(sandbox)}`;
    const environment = await readFile(`${host}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/SECRET_TOKEN|FOLEY_/);
  });
});

test('a voice is cloned in the process that speaks with it', async () => {
  const sandbox = await createSandbox();
  const registration = {
    ...registrationOf([SECOND, '{"cloning":true}', 'clones']),
    protocol: 2,
    cloning: true,
  };
  const { children, launch } = recordingLauncher();
  const engine = createResidentEngine({
    registration,
    launch,
    env: { PATH: process.env['PATH'] },
    nodePath: process.execPath,
    resident: { folder: hostFolder(sandbox), keepAliveMs: 600_000, onAlone: expect.unreachable },
  });
  onTestFinished(async () => void (await stopHosts(hostFolder(sandbox), 'tested', true)));
  const { signal } = new AbortController();
  const voice = await engine.clone?.({ audio: '/a.wav', text: 'Hello.' }, signal);
  expect(voice).toBe('clone:of /a.wav: Hello.');
  await expect(wholeSpeech(engine, { voice: voice ?? '' })).rejects.toMatchObject({
    message: 'The engine tested says: of /a.wav: Hello.',
    engine: 'tested',
  });
  expect(children).toEqual([]);
});

test.each([
  ['text that is not JSON', '{', ''],
  ['a negative idle time', requestWith(-1), ''],
  ['a very long idle time', requestWith(1e308), '{"type":"chunk"'],
  ['an overlong line', 'x'.repeat(5 * 1024 * 1024), ''],
])('%s on the socket ends neither the host nor a running request', async (_, line, reply) => {
  const sandbox = await sandboxWithEngine();
  const args = speechArgs('For long. '.repeat(10), '-');
  const running = await startFoley(args, { sandbox, env: KEPT, holdStdout: true });
  await expect.poll(() => pidsOf(sandbox)).toHaveLength(1);
  const host = await hostPid(sandbox);
  const replied = replyTo(sandbox, line);
  running.resumeStdout();
  const { code, stderr, stdout } = await running.done;
  expect(code, stderr).toBe(0);
  expect(await replied).toEqual(expect.stringContaining(reply));
  expect(stdout.length).toBeGreaterThan(100 * 96_000);
  await expectSpeech(sandbox);
  expect(await hostPid(sandbox)).toBe(host);
  expect(pidsOf(sandbox)).toHaveLength(1);
});

function requestWith(keepAliveMs: number): string {
  const request = { text: 'Hello.', voice: 'counted', speed: 1, pitch: 0 };
  return JSON.stringify({ type: 'speak', command: 'other', keepAliveMs, request });
}

/** Sends a line to the socket of the host. @returns the beginning of its reply, empty if it closed the connection */
async function replyTo(sandbox: Sandbox, line: string): Promise<string> {
  const name = (await readdir(hostFolder(sandbox))).find((one) => one.endsWith('.sock')) ?? '';
  const socket = connect(path.join(hostFolder(sandbox), name));
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(''));
    socket.once('data', (bytes) => resolve(bytes.subarray(0, 100).toString()));
    socket.write(`${line}\n`);
  });
}

describe('a process that ended', () => {
  test('is replaced when its host was killed', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    kill(await hostPid(sandbox));
    await untilEnded(...pidsOf(sandbox));
    await expectSpeech(sandbox);
    expect(pidsOf(sandbox)).toHaveLength(2);
  });

  test('is replaced when it was killed, and its host ends', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    const host = await hostPid(sandbox);
    pidsOf(sandbox).forEach(kill);
    await untilEnded(host);
    expect(await readdir(hostFolder(sandbox))).toEqual([]);
    await expectSpeech(sandbox);
    expect(pidsOf(sandbox)).toHaveLength(2);
  });

  test('before it spoke is replaced within the command', async () => {
    const sandbox = await sandboxWithEngine();
    // The first start was that of `engine add`.
    await rm(startsFile(sandbox));
    const speaking = speak(sandbox, 'Hangs at first.');
    await expect.poll(async () => (await hostPids(sandbox)).length).toBe(1);
    await expect.poll(() => existsSync(startsFile(sandbox))).toBe(true);
    kill(await hostPid(sandbox));
    const spoken = await speaking;
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(pidsOf(sandbox)).toHaveLength(1);
  });

  test('while it spoke fails the request', async () => {
    const sandbox = await sandboxWithEngine();
    const args = [...speechArgs('Hangs later.', '-'), '--max-retries', '0'];
    const speaking = await startFoley(args, { sandbox, env: KEPT });
    await expect.poll(() => speaking.stdout.length).toBeGreaterThan(10_000);
    kill(await hostPid(sandbox));
    const { code, stderr } = await speaking.done;
    expect(code).toBe(23);
    expect(stderr).toContain(
      'The process that keeps the engine counted ready ended during the request',
    );
    await expectSpeech(sandbox);
  });

  test('by a crash is reported like a process of the command', async () => {
    const sandbox = await sandboxWithEngine();
    const args = [...speechArgs('Crashes.'), '--json', '--max-retries', '0'];
    const shared = errorLine(await runFoley(args, { sandbox, env: KEPT }));
    const own = errorLine(await runFoley(args, { sandbox }));
    expect(shared.message).toMatch(/ended with exit code 7.*stderr: out of memory/);
    expect([shared.message, shared.exitCode]).toEqual([own.message, own.exitCode]);
    await expect.poll(() => hostPids(sandbox)).toEqual([]);
    await expectSpeech(sandbox);
  });
});

describe('a fresh process', () => {
  test('is started for an engine that was added again, and the old one ends', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    const host = await hostPid(sandbox);
    await add(sandbox, 0);
    await untilEnded(host);
    await expectSpeech(sandbox);
    expect(await hostPid(sandbox)).not.toBe(host);
  });

  test('is started after the program or the environment changed', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    await expectSpeech(sandbox, { env: { ...KEPT, CUDA_VISIBLE_DEVICES: '1' } });
    expect(pidsOf(sandbox)).toHaveLength(2);
    await utimes(path.join(sandbox.out, 'engine.mjs'), 1, 1);
    await expectSpeech(sandbox);
    expect(pidsOf(sandbox)).toHaveLength(3);
  });

  test('is started by every command when nothing is kept', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox, { env: { FOLEY_KEEP_ALIVE: '0' } });
    await expectSpeech(sandbox, { env: { FOLEY_KEEP_ALIVE: '', CI: 'true' } });
    expect(pidsOf(sandbox)).toHaveLength(2);
    await untilEnded(...pidsOf(sandbox));
    expect(existsSync(hostFolder(sandbox))).toBe(false);
  });
});

describe('an idle process', () => {
  test('ends after the time of the setting', async () => {
    const sandbox = await sandboxWithEngine();
    await runFoley(['config', 'set', 'engine.keepAlive', '300ms'], { sandbox });
    await expectSpeech(sandbox, { env: { FOLEY_KEEP_ALIVE: '' } });
    expect(pidsOf(sandbox)).toHaveLength(1);
    await untilEnded(...pidsOf(sandbox));
    await expect.poll(() => readdir(hostFolder(sandbox))).toEqual([]);
  });

  test('has 10 minutes by default, and none in CI', async () => {
    const get = ['config', 'get', 'engine.keepAlive'];
    const usual = await runFoley(get, { env: { FOLEY_KEEP_ALIVE: '' } });
    expect(usual.stdout.toString()).toBe('10m\n');
    const ci = await runFoley(get, { env: { FOLEY_KEEP_ALIVE: '', CI: '1' } });
    expect(ci.stdout.toString()).toBe('0ms\n');
  });

  test('ends with foley engine stop', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    const host = await hostPid(sandbox);
    const stopped = await runFoley(['engine', 'stop', 'counted'], { sandbox });
    expect(stopped.stderr).toBe('stopped counted\n');
    expect(isRunning(pidsOf(sandbox)[0] ?? 0)).toBe(false);
    await untilEnded(host);
    const again = await runFoley(['engine', 'stop', '--json'], { sandbox });
    expect(parseJsonDocument(again.stdout)).toEqual({ stopped: [] });
  });

  test('ends with foley engine stop when its host hangs', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    process.kill(await hostPid(sandbox), 'SIGSTOP');
    const stopped = await runFoley(['engine', 'stop'], { sandbox });
    expect(stopped.stderr).toContain('stopped counted');
    await expect.poll(() => pidsOf(sandbox).filter(isRunning)).toEqual([]);
    await expectSpeech(sandbox);
  });

  test('ends when its engine is removed', async () => {
    const sandbox = await sandboxWithEngine();
    await expectSpeech(sandbox);
    const host = await hostPid(sandbox);
    expect((await runFoley(['engine', 'remove', 'counted'], { sandbox })).code).toBe(0);
    await untilEnded(host, ...pidsOf(sandbox));
  });

  test('cannot be stopped by an unknown name', async () => {
    const result = await runFoley(['engine', 'stop', 'nobody']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('no such engine: nobody');
  });
});

describe('a folder of sockets that is unsafe', () => {
  test.each(['mode', 'owner'])('by its %s is not used, and the command says so', async (what) => {
    const sandbox = await sandboxWithEngine();
    await mkdir(hostFolder(sandbox), { recursive: true, mode: 0o700 });
    if (what === 'mode') await chmod(hostFolder(sandbox), 0o755);
    else if (process.getuid?.() === 0) await chown(hostFolder(sandbox), 65_534, 65_534);
    else return;
    const args = speechArgs('Hello.').filter((arg) => arg !== '--quiet');
    const spoken = await runFoley(args, { sandbox, env: KEPT });
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(spoken.stderr).toMatch(
      /the engine counted ends with this command: .* is not used: (other users can access it|it belongs to another user)/,
    );
    await untilEnded(...pidsOf(sandbox));
    expect(await readdir(hostFolder(sandbox))).toEqual([]);
    const stopped = await runFoley(['engine', 'stop'], { sandbox });
    expect(stopped.code, stopped.stderr).toBe(0);
  });
});

describe('a command that reads slowly', () => {
  test('does not delay another command', async () => {
    const sandbox = await sandboxWithEngine();
    const args = speechArgs('For long. '.repeat(10), '-');
    const slow = await startFoley(args, { sandbox, env: KEPT, holdStdout: true });
    await expect.poll(() => pidsOf(sandbox)).toHaveLength(1);
    await expectSpeech(sandbox);
    expect(isRunning(slow.pid)).toBe(true);
    slow.resumeStdout();
    const { code, stdout } = await slow.done;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(100 * 96_000);
    expect(pidsOf(sandbox)).toHaveLength(1);
  });
});
