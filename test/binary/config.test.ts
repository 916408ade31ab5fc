import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { healthyService, VOICES } from '../fault-server/healthy-service.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { errorLine } from '../harness/error-line.ts';
import { hosted } from '../harness/hosted.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { filesOf, snapshot } from '../harness/snapshot.ts';

function config(
  sandbox: Sandbox,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runFoley(['config', ...args], { sandbox, ...options });
}

function settingsFile(sandbox: Sandbox): string {
  return path.join(sandbox.config, 'foley', 'config.json');
}

async function writeSettings(sandbox: Sandbox, content: unknown): Promise<string> {
  const file = settingsFile(sandbox);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** `config list --json` as a map from name to value and origin. */
async function listed(sandbox: Sandbox, options: RunOptions = {}): Promise<unknown> {
  const document = parseJsonDocument((await config(sandbox, ['list', '--json'], options)).stdout);
  expect(document).toMatchObject({ items: expect.any(Array) });
  const { items } = document as { items: { name: string; value: unknown; origin: string }[] };
  return Object.fromEntries(items.map(({ name, origin, value }) => [name, [value, origin]]));
}

describe('foley config set', () => {
  test.each([
    ['voice', 'Nadia', 'Nadia', 'Nadia'],
    ['format', 'ogg', 'ogg', 'ogg'],
    ['speed', '1.5', '1.5', 1.5],
    ['volume', '-3', '-3', -3],
    ['concurrency', '8', '8', 8],
    ['cueMaxDuration', '90s', '90s', '90s'],
    ['cueMinDuration', '2', '2s', 2],
    ['cueMinDuration', '500ms', '500ms', '500ms'],
    ['reuse', 'true', 'true', true],
    ['reuse.maxSize', '2GB', '2GB', '2GB'],
    ['reuse.maxSize', '1500000', '1500kB', 1_500_000],
  ])('%s %s', async (name, given, shown, stored) => {
    const sandbox = await createSandbox();
    expect(await config(sandbox, ['set', name, given])).toMatchObject({
      code: 0,
      stdout: Buffer.alloc(0),
      stderr: '',
    });
    expect((await config(sandbox, ['get', name])).stdout.toString()).toBe(`${shown}\n`);
    expect(JSON.parse(await readFile(settingsFile(sandbox), 'utf8'))).toStrictEqual({
      [name]: stored,
    });
    expect((await stat(settingsFile(sandbox))).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(settingsFile(sandbox)))).mode & 0o777).toBe(0o700);
  });

  test('reuse and reuse.maxSize are independent', async () => {
    const sandbox = await createSandbox();
    await config(sandbox, ['set', 'reuse', 'true']);
    await config(sandbox, ['set', 'reuse.maxSize', '2GB']);
    await config(sandbox, ['set', 'reuse', 'false']);
    const get = async (name: string): Promise<string> =>
      (await config(sandbox, ['get', name])).stdout.toString();
    expect([await get('reuse'), await get('reuse.maxSize')]).toEqual(['false\n', '2GB\n']);
    await config(sandbox, ['unset', 'reuse.maxSize']);
    expect(JSON.parse(await readFile(settingsFile(sandbox), 'utf8'))).toEqual({ reuse: false });
    await writeFile(settingsFile(sandbox), '{"reuse":{"maxSize":"3GB"}}');
    expect(await get('reuse.maxSize')).toBe('3GB\n');
    expect((await config(sandbox, ['set', 'reuse', 'yes'])).stderr).toMatch(/true or false/);
  });

  test('a name with a dot is one setting, and what was set before stays', async () => {
    const sandbox = await createSandbox();
    await config(sandbox, ['set', 'speed', '0.9']);
    await config(sandbox, ['set', 'upload.command', 'put it "over there" --now']);
    const result = await config(sandbox, ['get', 'upload.command']);
    expect(result.stdout.toString()).toBe('put it "over there" --now\n');
    expect(JSON.parse(await readFile(settingsFile(sandbox), 'utf8'))).toStrictEqual({
      speed: 0.9,
      upload: { command: 'put it "over there" --now' },
    });
  });

  test.each([
    ['speed', '9', 'speed is "9"; it takes a number from 0.5 to 2'],
    ['speed', 'fast', 'speed is "fast"; it takes a number from 0.5 to 2'],
    ['volume', '-21', 'volume is "-21"; it takes a number from -20 to 20'],
    ['format', 'flac', 'format is "flac"; it takes mp3, wav, ogg'],
    ['concurrency', '0', 'concurrency is "0"; it takes a whole number from 1 to 256'],
    ['cueMaxDuration', 'long', 'cueMaxDuration is "long"; it takes a duration'],
    ['voice', ' ', 'voice is " "; it takes an id'],
    ['pager', '"less', 'pager is "\\"less", which has an unclosed quote'],
    ['upload.command', "put 'it", 'upload.command is "put \'it", which has an unclosed quote'],
  ])('%s %j is refused', async (name, given, message) => {
    const sandbox = await createSandbox();
    const result = await config(sandbox, ['set', name, given, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(errorLine(result).message).toContain(message);
    expect(filesOf(await snapshot(sandbox.config))).toStrictEqual([]);
  });

  test.each([
    ['get', ['fromat'], 'Did you mean format?'],
    ['set', ['sped', '1'], 'Did you mean speed?'],
    ['unset', ['cue-max-chars'], 'Did you mean cueMaxChars?'],
    ['get', ['zzz'], 'The settings are voice, model,'],
  ])('%s %j is no setting', async (verb, words, hint) => {
    const error = errorLine(await config(await createSandbox(), [verb, ...words, '--json']));
    expect(error).toMatchObject({ exitCode: 2, hint: expect.stringContaining(hint) });
  });

  test('reports a source that takes precedence', async () => {
    const sandbox = await createSandbox();
    const env = { FOLEY_VOICE: 'other' };
    const result = await config(sandbox, ['set', 'voice', 'mine'], { env });
    expect(result).toMatchObject({ code: 0 });
    expect(result.stderr).toContain('but FOLEY_VOICE takes precedence');
    expect((await config(sandbox, ['get', 'voice'], { env })).stdout.toString()).toBe('other\n');
  });

  test.each([
    ['set', ['speed', '1']],
    ['unset', ['speed']],
  ])('%s mends a wrong value in the file', async (verb, words) => {
    const sandbox = await createSandbox();
    await writeSettings(sandbox, { speed: 9, volume: 2 });
    expect(await config(sandbox, ['get', 'volume'])).toMatchObject({ code: 2 });
    expect(await config(sandbox, [verb, ...words])).toMatchObject({ code: 0 });
    expect((await config(sandbox, ['get', 'volume'])).stdout.toString()).toBe('2\n');
  });

  test.each(['{"speed": 1,', '', '[]'])(
    'a file with %j in it is left as it is',
    async (content) => {
      const sandbox = await createSandbox();
      const file = await writeSettings(sandbox, content);
      expect(await config(sandbox, ['set', 'volume', '1'])).toMatchObject({ code: 2 });
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );

  test('a folder that cannot be written is exit 32', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await chmod(sandbox.config, 0o555);
    const result = await config(sandbox, ['set', 'speed', '1', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 32, code: 'state' });
  });

  test('what is set counts for the commands', async () => {
    const [sandbox, audio] = [await createSandbox(), await tinyAudio()];
    const server = await startFaultServer(healthyService({ audio }));
    const { voiceId } = VOICES[0];
    for (const [name, value] of [
      ['voice', voiceId],
      ['speed', '0.8'],
      ['format', 'wav'],
    ] as const) {
      await config(sandbox, ['set', name, value]);
    }
    const result = await runFoley(['tts', 'hi'], { sandbox, env: hosted(server) });
    expect(result.stdout.subarray(0, 4).toString()).toBe('RIFF');
    const body: unknown = JSON.parse(server.requests.at(-1)?.body.toString() ?? '');
    expect(body).toStrictEqual({ text: 'hi', voiceId, format: 'wav', speed: 0.8 });
  });
});

describe('foley config unset', () => {
  test('takes out what is there, and says when it is not', async () => {
    const sandbox = await createSandbox();
    await config(sandbox, ['set', 'speed', '0.9']);
    await config(sandbox, ['set', 'volume', '2']);
    expect(await config(sandbox, ['unset', 'speed'])).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(await readFile(settingsFile(sandbox), 'utf8'))).toStrictEqual({ volume: 2 });
    const again = await config(sandbox, ['unset', 'speed', '--json']);
    expect(parseJsonDocument(again.stdout)).toMatchObject({ name: 'speed', removed: false });
  });
});

describe('what counts, and where it comes from', () => {
  test('environment, project, user, default', async () => {
    const sandbox = await createSandbox();
    const user = await writeSettings(sandbox, {
      voice: 'user',
      model: 'user',
      speed: 0.7,
      volume: 1,
    });
    const project = path.join(sandbox.out, 'foley.config.json');
    await writeFile(project, JSON.stringify({ voice: 'project', model: 'project', speed: 0.8 }));
    const deep = path.join(sandbox.out, 'a', 'b');
    await mkdir(deep, { recursive: true });
    expect(await listed(sandbox, { cwd: deep, env: { FOLEY_VOICE: 'environment' } })).toMatchObject(
      {
        voice: ['environment', 'FOLEY_VOICE'],
        model: ['project', project],
        speed: [0.8, project],
        volume: [1, user],
        format: ['mp3', 'default'],
        cueMaxDuration: ['7s', 'default'],
      },
    );
  });

  test('the nearest project file counts alone', async () => {
    const sandbox = await createSandbox();
    const deep = path.join(sandbox.out, 'a');
    await mkdir(deep);
    await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"speed": 0.8, "volume": 3}');
    const nearest = path.join(deep, 'foley.config.json');
    await writeFile(nearest, '{"speed": 0.9}');
    const all = await listed(sandbox, { cwd: deep });
    expect(all).toMatchObject({ speed: [0.9, nearest] });
    expect(all).not.toHaveProperty('volume');
  });

  test('--show-origin for a person', async () => {
    const sandbox = await createSandbox();
    const user = await writeSettings(sandbox, { speed: 0.7 });
    const plain = (await config(sandbox, ['list'])).stdout.toString();
    expect(plain).toMatch(/^NAME +VALUE\n/);
    expect(plain).not.toContain(user);
    const result = await config(sandbox, ['list', '--show-origin']);
    const line = result.stdout
      .toString()
      .split('\n')
      .find((one) => one.startsWith('speed'));
    expect(line?.split(/ {2,}/)).toStrictEqual(['speed', '0.7', user]);
  });

  test('a setting without a value prints nothing', async () => {
    const sandbox = await createSandbox();
    expect(await config(sandbox, ['get', 'voice'])).toMatchObject({
      code: 0,
      stdout: Buffer.alloc(0),
    });
    const result = await config(sandbox, ['get', 'voice', '--json']);
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      name: 'voice',
      value: null,
      origin: null,
    });
  });

  test.each([
    ['redirects a key', { baseUrl: 'https://evil.test' }, 'unknown setting "baseUrl"'],
    [
      'runs a program',
      { upload: { command: 'evil' } },
      'cannot be set in the settings file of a project',
    ],
  ])('a project file that %s is refused', async (_what, content, message) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'foley.config.json'), JSON.stringify(content));
    const result = await config(sandbox, ['list']);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(message);
  });

  test('a variable that may not be what it is, is named', async () => {
    const sandbox = await createSandbox();
    const result = await config(sandbox, ['get', 'voice'], { env: { FOLEY_VOICE: ' ' } });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('FOLEY_VOICE is " "');
  });
});

test('foley config path', async () => {
  const sandbox = await createSandbox();
  expect((await config(sandbox, ['path'])).stdout.toString()).toBe(`${settingsFile(sandbox)}\n`);
  expect(parseJsonDocument((await config(sandbox, ['path', '--json'])).stdout)).toMatchObject({
    settingsFile: settingsFile(sandbox),
    accountsFile: path.join(sandbox.config, 'foley', 'accounts.json'),
    state: path.join(sandbox.state, 'foley'),
    cache: path.join(sandbox.cache, 'foley'),
  });
});
