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
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { sandbox } from '../../harness/sandbox.ts';
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

const folderOf = (box: Sandbox): string => path.join(box.state, 'foley/run');
const startsFile = (box: Sandbox): string => path.join(box.out, 'starts');

/** Adds the engine in a new sandbox; its processes end with the test. */
async function boxWithEngine(): Promise<Sandbox> {
  const box = await sandbox();
  onTestFinished(async () => {
    for (const pid of [...(await hostPids(box)), ...pidsOf(box)]) kill(pid);
    await expect.poll(() => pidsOf(box).filter(isRunning)).toEqual([]);
  });
  await add(box);
  return box;
}

async function add(box: Sandbox, loadingMs = LOADING_MS): Promise<void> {
  const program = path.join(box.out, 'engine.mjs');
  await copyFile(ENGINE, program);
  const args = ['engine', 'add', 'counted', '--', 'node', program, startsFile(box), `${loadingMs}`];
  const added = await runFoley(args, { box });
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

function speak(box: Sandbox, text = 'Hello.', options: RunOptions = {}): Promise<RunResult> {
  return runFoley(speechArgs(text), { box, env: KEPT, ...options });
}

async function expectSpeech(box: Sandbox, options?: RunOptions): Promise<void> {
  const spoken = await speak(box, 'Hello.', options);
  expect(spoken.code, spoken.stderr).toBe(0);
  expect((await stat(path.join(box.out, 'out.wav'))).size).toBeGreaterThan(2 * 96_000);
}

/** The processes of the engine that commands started; the first one belongs to `engine add`. */
function pidsOf(box: Sandbox): number[] {
  if (!existsSync(startsFile(box))) return [];
  return readFileSync(startsFile(box), 'utf8').trim().split('\n').slice(1).map(Number);
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

async function hostPid(box: Sandbox): Promise<number> {
  const [pid, ...more] = await hostPids(box);
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
    const box = await boxWithEngine();
    await expectSpeech(box);
    await expectSpeech(box);
    await expectSpeech(box);
    expect(pidsOf(box)).toHaveLength(1);
  });

  test('that loads for 6 s costs that once', async () => {
    const box = await boxWithEngine();
    await add(box, 6_000);
    const before = pidsOf(box).length;
    const timed = async (): Promise<number> => {
      const startedAt = performance.now();
      await expectSpeech(box);
      return performance.now() - startedAt;
    };
    const first = await timed();
    expect(first).toBeGreaterThan(6_000);
    // The second command need not wait 6 s more than it takes without the engine.
    expect(await timed()).toBeLessThan(first - 3_000);
    expect(pidsOf(box)).toHaveLength(before + 1);
  });

  test('is named by foley doctor while it stays ready', async () => {
    const box = await boxWithEngine();
    const findings = async (): Promise<unknown> => {
      const { stdout } = await runFoley(['doctor', '--local', '--json'], { box });
      const { checks } = Object(parseJsonDocument(stdout));
      return checks
        .filter(({ check }: { check: string }) => check === 'engines')
        .map(({ text }: { text: string }) => text);
    };
    const works = 'counted works and speaks en';
    expect(await findings()).toEqual([works]);
    await expectSpeech(box);
    expect(await findings()).toEqual([works, '1 process stays ready between commands: counted']);
    // The question does not end the process.
    await expectSpeech(box);
    await runFoley(['engine', 'stop'], { box });
    expect(await findings()).toEqual([works]);
  });

  test('starts once for commands that run at the same moment', async () => {
    const box = await boxWithEngine();
    const names = ['a.wav', 'b.wav', 'c.wav', 'd.wav'];
    const results = await Promise.all(
      names.map((name) => runFoley(speechArgs('Hello.', name), { box, env: KEPT })),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(pidsOf(box)).toHaveLength(1);
    expect(await hostPids(box)).toHaveLength(1);
  });

  test('makes the same file as a process of the command', async () => {
    const box = await boxWithEngine();
    await speak(box, 'Hello.');
    const shared = await readFile(path.join(box.out, 'out.wav'));
    await speak(box, 'Hello.', { env: {} });
    expect(shared.equals(await readFile(path.join(box.out, 'out.wav')))).toBe(true);
    expect(pidsOf(box)).toHaveLength(2);
  });

  test('gets a socket that only the user can open', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    const folder = folderOf(box);
    const name = (await readdir(folder)).find((one) => one.endsWith('.sock')) ?? '';
    expect(name).toMatch(/^counted\.[0-9a-f]{16}\.sock$/);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('uses the runtime folder of the session', async () => {
    const box = await boxWithEngine();
    const env = { ...KEPT, XDG_RUNTIME_DIR: box.temporary };
    await expectSpeech(box, { env });
    expect(existsSync(folderOf(box))).toBe(false);
    expect(await readdir(path.join(box.temporary, 'foley'))).toHaveLength(2);
    const stopped = await runFoley(['engine', 'stop'], { box, env });
    expect(stopped.stderr).toContain('stopped counted');
  });

  test.runIf(process.platform === 'linux')('gets no API key and no stream of foley', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box, { env: { ...KEPT, SECRET_TOKEN: 'hidden' } });
    const host = `/proc/${await hostPid(box)}`;
    const environment = await readFile(`${host}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/SECRET_TOKEN|FOLEY_/);
  });
});

test('a voice is cloned in the process that speaks with it', async () => {
  const box = await sandbox();
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
    resident: { folder: folderOf(box), keepAliveMs: 600_000, onAlone: expect.unreachable },
  });
  onTestFinished(async () => void (await stopHosts(folderOf(box), 'tested', true)));
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
  const box = await boxWithEngine();
  const args = speechArgs('For long. '.repeat(10), '-');
  const running = await startFoley(args, { box, env: KEPT, holdStdout: true });
  await expect.poll(() => pidsOf(box)).toHaveLength(1);
  const host = await hostPid(box);
  const replied = replyTo(box, line);
  running.resumeStdout();
  const { code, stderr, stdout } = await running.done;
  expect(code, stderr).toBe(0);
  expect(await replied).toEqual(expect.stringContaining(reply));
  expect(stdout.length).toBeGreaterThan(100 * 96_000);
  await expectSpeech(box);
  expect(await hostPid(box)).toBe(host);
  expect(pidsOf(box)).toHaveLength(1);
});

function requestWith(keepAliveMs: number): string {
  const request = { text: 'Hello.', voice: 'counted', speed: 1, pitch: 0 };
  return JSON.stringify({ type: 'speak', command: 'other', keepAliveMs, request });
}

/** Sends a line to the socket of the host. @returns the beginning of its reply, empty if it closed the connection */
async function replyTo(box: Sandbox, line: string): Promise<string> {
  const name = (await readdir(folderOf(box))).find((one) => one.endsWith('.sock')) ?? '';
  const socket = connect(path.join(folderOf(box), name));
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
    const box = await boxWithEngine();
    await expectSpeech(box);
    kill(await hostPid(box));
    await untilEnded(...pidsOf(box));
    await expectSpeech(box);
    expect(pidsOf(box)).toHaveLength(2);
  });

  test('is replaced when it was killed, and its host ends', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    const host = await hostPid(box);
    pidsOf(box).forEach(kill);
    await untilEnded(host);
    expect(await readdir(folderOf(box))).toEqual([]);
    await expectSpeech(box);
    expect(pidsOf(box)).toHaveLength(2);
  });

  test('before it spoke is replaced within the command', async () => {
    const box = await boxWithEngine();
    // The first start was that of `engine add`.
    await rm(startsFile(box));
    const speaking = speak(box, 'Hangs at first.');
    await expect.poll(async () => (await hostPids(box)).length).toBe(1);
    await expect.poll(() => existsSync(startsFile(box))).toBe(true);
    kill(await hostPid(box));
    const spoken = await speaking;
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(pidsOf(box)).toHaveLength(1);
  });

  test('while it spoke fails the request', async () => {
    const box = await boxWithEngine();
    const args = [...speechArgs('Hangs later.', '-'), '--max-retries', '0'];
    const speaking = await startFoley(args, { box, env: KEPT });
    await expect.poll(() => speaking.stdout.length).toBeGreaterThan(10_000);
    kill(await hostPid(box));
    const { code, stderr } = await speaking.done;
    expect(code).toBe(23);
    expect(stderr).toContain(
      'The process that keeps the engine counted ready ended during the request',
    );
    await expectSpeech(box);
  });

  test('by a crash is reported like a process of the command', async () => {
    const box = await boxWithEngine();
    const args = [...speechArgs('Crashes.'), '--json', '--max-retries', '0'];
    const shared = errorLine(await runFoley(args, { box, env: KEPT }));
    const own = errorLine(await runFoley(args, { box }));
    expect(shared.message).toMatch(/ended with exit code 7.*stderr: out of memory/);
    expect([shared.message, shared.exitCode]).toEqual([own.message, own.exitCode]);
    await expect.poll(() => hostPids(box)).toEqual([]);
    await expectSpeech(box);
  });
});

describe('a fresh process', () => {
  test('is started for an engine that was added again, and the old one ends', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    const host = await hostPid(box);
    await add(box, 0);
    await untilEnded(host);
    await expectSpeech(box);
    expect(await hostPid(box)).not.toBe(host);
  });

  test('is started after the program or the environment changed', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    await expectSpeech(box, { env: { ...KEPT, CUDA_VISIBLE_DEVICES: '1' } });
    expect(pidsOf(box)).toHaveLength(2);
    await utimes(path.join(box.out, 'engine.mjs'), 1, 1);
    await expectSpeech(box);
    expect(pidsOf(box)).toHaveLength(3);
  });

  test('is started by every command when nothing is kept', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box, { env: { FOLEY_KEEP_ALIVE: '0' } });
    await expectSpeech(box, { env: { FOLEY_KEEP_ALIVE: '', CI: 'true' } });
    expect(pidsOf(box)).toHaveLength(2);
    await untilEnded(...pidsOf(box));
    expect(existsSync(folderOf(box))).toBe(false);
  });
});

describe('an idle process', () => {
  test('ends after the time of the setting', async () => {
    const box = await boxWithEngine();
    await runFoley(['config', 'set', 'engine.keepAlive', '300ms'], { box });
    await expectSpeech(box, { env: { FOLEY_KEEP_ALIVE: '' } });
    expect(pidsOf(box)).toHaveLength(1);
    await untilEnded(...pidsOf(box));
    await expect.poll(() => readdir(folderOf(box))).toEqual([]);
  });

  test('has 10 minutes by default, and none in CI', async () => {
    const get = ['config', 'get', 'engine.keepAlive'];
    const usual = await runFoley(get, { env: { FOLEY_KEEP_ALIVE: '' } });
    expect(usual.stdout.toString()).toBe('10m\n');
    const ci = await runFoley(get, { env: { FOLEY_KEEP_ALIVE: '', CI: '1' } });
    expect(ci.stdout.toString()).toBe('0ms\n');
  });

  test('ends with foley engine stop', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    const host = await hostPid(box);
    const stopped = await runFoley(['engine', 'stop', 'counted'], { box });
    expect(stopped.stderr).toBe('stopped counted\n');
    expect(isRunning(pidsOf(box)[0] ?? 0)).toBe(false);
    await untilEnded(host);
    const again = await runFoley(['engine', 'stop', '--json'], { box });
    expect(parseJsonDocument(again.stdout)).toEqual({ stopped: [] });
  });

  test('ends with foley engine stop when its host hangs', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    process.kill(await hostPid(box), 'SIGSTOP');
    const stopped = await runFoley(['engine', 'stop'], { box });
    expect(stopped.stderr).toContain('stopped counted');
    await expect.poll(() => pidsOf(box).filter(isRunning)).toEqual([]);
    await expectSpeech(box);
  });

  test('ends when its engine is removed', async () => {
    const box = await boxWithEngine();
    await expectSpeech(box);
    const host = await hostPid(box);
    expect((await runFoley(['engine', 'remove', 'counted'], { box })).code).toBe(0);
    await untilEnded(host, ...pidsOf(box));
  });

  test('cannot be stopped by an unknown name', async () => {
    const result = await runFoley(['engine', 'stop', 'nobody']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('no such engine: nobody');
  });
});

describe('a folder of sockets that is unsafe', () => {
  test.each(['mode', 'owner'])('by its %s is not used, and the command says so', async (what) => {
    const box = await boxWithEngine();
    await mkdir(folderOf(box), { recursive: true, mode: 0o700 });
    if (what === 'mode') await chmod(folderOf(box), 0o755);
    else if (process.getuid?.() === 0) await chown(folderOf(box), 65_534, 65_534);
    else return;
    const args = speechArgs('Hello.').filter((arg) => arg !== '--quiet');
    const spoken = await runFoley(args, { box, env: KEPT });
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(spoken.stderr).toMatch(
      /the engine counted ends with this command: .* is not used: (other users can access it|it belongs to another user)/,
    );
    await untilEnded(...pidsOf(box));
    expect(await readdir(folderOf(box))).toEqual([]);
    const stopped = await runFoley(['engine', 'stop'], { box });
    expect(stopped.code, stopped.stderr).toBe(0);
  });
});

describe('a command that reads slowly', () => {
  test('does not delay another command', async () => {
    const box = await boxWithEngine();
    const args = speechArgs('For long. '.repeat(10), '-');
    const slow = await startFoley(args, { box, env: KEPT, holdStdout: true });
    await expect.poll(() => pidsOf(box)).toHaveLength(1);
    await expectSpeech(box);
    expect(isRunning(slow.pid)).toBe(true);
    slow.resumeStdout();
    const { code, stdout } = await slow.done;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(100 * 96_000);
    expect(pidsOf(box)).toHaveLength(1);
  });
});
