import { spawnSync } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { errorLine } from '../../harness/error-line.ts';
import { inShell } from '../../harness/in-shell.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import {
  filesLeft,
  KEPT,
  onSpeech,
  OPEN,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  SOON,
  spooled,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();
const BOM = '\uFEFF';

describe('a user without HOME and without an account on the system', () => {
  const NOBODY = 'unset HOME; unshare --user --map-user=54321';
  const isPossible =
    process.platform === 'linux' &&
    spawnSync('unshare', ['--user', '--map-user=54321', 'true']).status === 0;

  test.runIf(isPossible)('uses the XDG folders', async () => {
    const result = await inShell(`${NOBODY} foley voices list --local`);
    expect(result.code, result.stderr).toBe(0);
  });

  test.runIf(isPossible)('is told which variable to set, without a stack trace', async () => {
    const unset = 'unset XDG_STATE_HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME';
    const result = await inShell(`${unset}; ${NOBODY} foley voices list --local`);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(/Set HOME/) });
    expect(result.stderr).not.toMatch(/\bat /);
    const help = await inShell(`${unset}; ${NOBODY} foley tts --help`);
    expect(help.code, help.stderr).toBe(0);
  });
});

describe('an invalid settings file', () => {
  test.each([
    ['config.json', '{\n  "voice": ', 'is not valid JSON, at line 2'],
    ['config.json', '', 'is empty'],
    ['config.json', '[1]', 'is not a JSON object'],
    ['config.json', '{"speed":"fast"}', '"speed" is "fast"; it takes '],
    ['config.json', '{"colour":"red"}', 'unknown setting "colour"'],
    ['config.json', '\0\0\0\0', 'is not valid JSON, at line 1'],
    ['accounts.json', '{"accounts":', 'is not valid JSON, at line 1'],
    ['accounts.json', '{"accounts":{"a":{}}}', 'has no "baseUrl" for "a"'],
    ['accounts.json', '', 'is empty'],
  ])('%s with %j: exit 2, untouched, nothing sent', async (name, content, message) => {
    const fixture = await createFixture([]);
    const file = await settingsFile(fixture.sandbox, name, content);
    const before = await stat(file);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 2, code: 'config', billed: 'no', status: null });
    expect(error.message).toContain(name);
    expect(error.message).toContain(message);
    expect(await readFile(file, 'utf8')).toBe(content);
    expect((await stat(file)).mtimeMs).toBe(before.mtimeMs);
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([`config/foley/${name}`]);
  });

  test('may have a byte order mark', async () => {
    const fixture = await createFixture([]);
    await settingsFile(fixture.sandbox, 'config.json', `${BOM}{"voice":"${VOICE}"}`);
    expect((await fixture.run(['tts', 'hi', '-o', 'hi.mp3'])).code).toBe(0);
  });

  test('of a project may not set the address for a key', async () => {
    const fixture = await createFixture([]);
    const content = JSON.stringify({ baseUrl: 'https://evil.example.test' });
    await writeFile(path.join(fixture.sandbox.out, 'foley.config.json'), content);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 2, code: 'config' });
    expect(fixture.server.connections).toBe(0);
  });

  test('does not affect help and version', async () => {
    const fixture = await createFixture([]);
    await settingsFile(fixture.sandbox, 'config.json', '{');
    expect((await fixture.run(['tts', '--help'])).code).toBe(0);
    expect((await fixture.run(['--version'])).code).toBe(0);
  });
});

describe('a bug in foley', () => {
  test('an unexpected error: exit 1, reported as a bug', async () => {
    const fixture = await createFixture([]);
    // Each generated id reads random bytes.
    const script = `Buffer.prototype.readUInt8 = () => { throw new Error('made up'); };`;
    const env = await broken(fixture.sandbox, script);
    const result = await fixture.speak(['--json'], { env });
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 1, code: 'internal', billed: 'unknown' });
    expect(error.message).toBe('internal error: made up');
    expect(error.hint).toContain('This is a bug in foley.');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('an unhandled rejection', async () => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const env = await broken(
      fixture.sandbox,
      `process.on('SIGUSR2', () => void Promise.reject(new Error('made up')));`,
    );
    const running = await fixture.start(['tts', 'hi', '-v', VOICE, '-o', 'hi.mp3', '--json'], {
      env,
    });
    await fixture.server.paused();
    running.signal('SIGUSR2');
    const error = errorLine(await running.done);
    expect(error).toMatchObject({ exitCode: 1, code: 'internal', billed: 'unknown' });
    expect(error.message).toBe('internal error: made up');
    expect(await filesLeft(fixture.sandbox)).toContain(OPEN);
  });

  test('a promise that never settles: exit 1, not 0', async () => {
    const fixture = await createFixture([]);
    const env = await broken(fixture.sandbox, `require('node:dns').lookup = () => {};`);
    const flags = ['--base-url', 'https://api.example.test', '--json'];
    const error = errorLine(await fixture.speak(flags, { env }));
    expect(error).toMatchObject({ exitCode: 1, code: 'internal', billed: 'unknown' });
    expect(error.message).toContain('internal error: ');
  });
});

const play = (fixture: Fixture, player: string, more: readonly string[] = []) =>
  fixture.run(['tts', 'hi', '-v', VOICE, '--player', player, '--json', ...more]);

describe('a player', () => {
  test('that is missing fails before anything is sent', async () => {
    const fixture = await createFixture([]);
    const error = errorLine(await play(fixture, 'no-such-player --loud'));
    expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(error.message).toContain('the program no-such-player is not installed');
    expect(fixture.server.connections).toBe(0);
  });

  test('of foley’s choice that is missing fails before anything is sent', async () => {
    const fixture = await createFixture([]);
    const options = { env: { PATH: fixture.sandbox.temporary } };
    const error = errorLine(
      await fixture.run(['tts', 'hi', '-v', VOICE, '--play', '--json'], options),
    );
    expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(error.message).toMatch(/^no player for mp3 is installed \(looked for mpv, /);
    expect(fixture.server.connections).toBe(0);
  });

  test.each([
    ['fails', 'sh -c "echo broken >&2; exit 3"', /\(exit code 3\): broken$/],
    ['crashes in the middle', 'sh -c "head -c 100 > /dev/null; kill -9 $$"', /\(SIGKILL\)$/],
  ])('that %s, with a file: exit 30, and the file is written', async (_how, player, message) => {
    const fixture = await createFixture([]);
    const error = errorLine(await play(fixture, player, ['-o', 'hi.mp3']));
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.message).toMatch(message);
    expect(error.hint).toBe('The audio is in hi.mp3.');
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('that fails, without a file: exit 30, and the audio is spooled', async () => {
    const fixture = await createFixture([]);
    const args = ['tts', 'hi', '-v', VOICE, '--player', 'sh -c "exit 3"'];
    const result = await fixture.run(args);
    expect(result.code).toBe(30);
    expect(result.stderr).toContain('foley: the player sh failed (exit code 3)');
    expect(result.stderr).toMatch(/saved in .+; `foley recover \S+` restores it/);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(mp3.bytes);
    expect(record).toMatchObject({ complete: true });
  });

  test('that works gets every byte', async () => {
    const fixture = await createFixture([]);
    const args = ['tts', 'hi', '-v', VOICE, '--player', 'sh -c "cat > heard"'];
    const result = await fixture.run(args);
    expect(result.code).toBe(0);
    expect(await outputOf(fixture.sandbox, 'heard')).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/heard', RATES]);
  });

  test.each([
    ['that cannot open the sound device', 'cat > /dev/null; echo "audio open failed" >&2', 'Hi.'],
    ['that ends before the audio', 'echo "no device" >&2', 'One. Two. Three. Four. Five. Six.'],
  ])('of foley’s choice %s and exits with 0: exit 30', async (_how, script, text) => {
    const fixture = await createFixture([]);
    const env = { PATH: await playerFolder(fixture, 'ffplay', script) };
    const args = ['tts', text, '--local', '--play'];
    for (const more of [[], ['-o', 'hi.mp3']]) {
      const result = await runFoley([...args, ...more], { sandbox: fixture.sandbox, env });
      expect(result).toMatchObject({
        code: 30,
        stderr: expect.stringMatching(
          /ffplay failed \(it ended before.*\): (audio open|no device)/,
        ),
      });
    }
  });

  test('of foley’s choice that plays with errors: they are shown', async () => {
    const fixture = await createFixture([]);
    const script = 'cat > /dev/null; echo "a bad frame" >&2';
    const env = { PATH: await playerFolder(fixture, 'ffplay', script) };
    const args = ['tts', 'Hi.', '--local', '--play'];
    const result = await runFoley(args, { sandbox: fixture.sandbox, env });
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/ffplay: a bad frame/) });
  });

  test('that the user closes is no failure', async () => {
    const fixture = await createFixture([]);
    expect((await fixture.run(['tts', 'hi', '-v', VOICE, '--player', 'true'])).code).toBe(0);
  });

  test('that is playing stops with Ctrl-C', async () => {
    const fixture = await createFixture([]);
    const player = 'sh -c "echo $$ > player; cat > /dev/null; exec sleep 1000"';
    const running = await fixture.start(['tts', 'hi', '-v', VOICE, '--player', player]);
    await expect
      .poll(() => outputOf(fixture.sandbox, 'player').catch(() => ''), SOON)
      .not.toHaveLength(0);
    running.signal('SIGINT');
    expect((await running.done).signal).toBe('SIGINT');
    const pid = (await outputOf(fixture.sandbox, 'player')).toString().trim();
    await expect.poll(() => stateOf(pid), SOON).toMatch(/gone|Z/);
  });
});

/** Creates a folder with a script as the only player. */
async function playerFolder({ sandbox }: Fixture, name: string, script: string): Promise<string> {
  const folder = path.join(sandbox.harness, 'players');
  await mkdir(folder);
  const lines = `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`;
  await writeFile(path.join(folder, name), lines, { mode: 0o755 });
  return folder;
}

async function stateOf(pid: string): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^State:\s*(\w)/m.exec(status)?.[1] ?? 'gone';
}

async function settingsFile({ config }: Sandbox, name: string, content: string): Promise<string> {
  const folder = path.join(config, 'foley');
  await mkdir(folder, { mode: 0o700 });
  const file = path.join(folder, name);
  await writeFile(file, content, { mode: 0o600 });
  return file;
}

/** Returns an environment that breaks a function of Node. */
async function broken({ harness }: Sandbox, script: string): Promise<Record<string, string>> {
  const file = path.join(harness, 'broken.cjs');
  await writeFile(file, script);
  return { NODE_OPTIONS: `--require "${file}"` };
}
