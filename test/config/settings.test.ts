import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SETTING_NAMES, SETTINGS } from '../../src/config/setting-definitions.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import {
  describeOrigin,
  listSettings,
  loadSettings,
  resolveSetting,
} from '../../src/config/settings.ts';
import { Failure } from '../../src/errors/failure.ts';
import { memoryFiles } from './memory-files.ts';

const USER = '/home/ada/.config/foley/config.json';
const PROJECT = '/projects/show/foley.config.json';

function load(
  contents: Parameters<typeof memoryFiles>[0],
  env: Record<string, string> = {},
): Promise<SettingSources> {
  return loadSettings({
    files: memoryFiles(contents),
    env,
    cwd: '/projects/show/season/episode',
    settingsFile: USER,
  });
}

async function failure(contents: Parameters<typeof memoryFiles>[0]): Promise<Failure> {
  const error: unknown = await load(contents).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}

test('the first of flag, environment, project, user and default is used', async () => {
  const all = await load(
    { [USER]: '{"voice":"of-user"}', [PROJECT]: '{"voice":"of-project"}' },
    { FOLEY_VOICE: 'of-environment' },
  );
  expect(resolveSetting(all, 'voice', 'of-flag')).toEqual({
    value: 'of-flag',
    origin: { kind: 'flag', name: '--voice' },
  });
  expect(resolveSetting(all, 'voice')).toEqual({
    value: 'of-environment',
    origin: { kind: 'environment', name: 'FOLEY_VOICE' },
  });
  const noEnvironment = { ...all, env: { FOLEY_VOICE: '' } };
  expect(resolveSetting(noEnvironment, 'voice')).toEqual({
    value: 'of-project',
    origin: { kind: 'project', file: PROJECT },
  });
  expect(resolveSetting({ ...noEnvironment, project: undefined }, 'voice')).toEqual({
    value: 'of-user',
    origin: { kind: 'user', file: USER },
  });
  const nothing = { env: {}, project: undefined, user: undefined };
  expect(resolveSetting(nothing, 'voice')).toBeUndefined();
  expect(resolveSetting(nothing, 'cueMaxChars')).toEqual({
    value: 42,
    origin: { kind: 'default' },
  });
});

test('only the nearest project file is used', async () => {
  const sources = await load({
    '/projects/foley.config.json': '{"voice":"far","speed":2}',
    [PROJECT]: '{"voice":"near"}',
  });
  expect(resolveSetting(sources, 'voice')?.value).toBe('near');
  expect(resolveSetting(sources, 'speed')).toBeUndefined();
});

test('settings are listed with their origin', async () => {
  const sources = await load(
    {
      [USER]: '\ufeff{"upload":{"command":"put it"},"cueMaxDuration":"7.5s"}',
      [PROJECT]: '{"speed":1.5}',
    },
    { FOLEY_MODEL: 'm-1' },
  );
  const rows = listSettings(sources).map(({ name, origin, value }) => [
    name,
    value,
    describeOrigin(origin),
  ]);
  expect(rows).toEqual([
    ['model', 'm-1', 'FOLEY_MODEL'],
    ['format', 'mp3', 'default'],
    ['speed', 1.5, PROJECT],
    ['cueMaxChars', 42, 'default'],
    ['cueMaxLines', 2, 'default'],
    ['cueMaxDuration', 7_500, USER],
    ['cueMinDuration', 1_000, 'default'],
    ['cueMaxCps', 20, 'default'],
    ['cueBy', 'phrase', 'default'],
    ['concurrency', 4, 'default'],
    ['reuse', false, 'default'],
    ['reuse.maxSize', 1_000_000_000, 'default'],
    ['upload.command', 'put it', USER],
    ['engine.keepAlive', 600_000, 'default'],
  ]);
});

test.each([
  ['baseUrl', '"https://evil.example"'],
  ['apiKey', '"sk-1"'],
  ['account', '"other"'],
  ['player', '"rm -rf /"'],
  ['upload.command', '"rm -rf /"'],
  ['pager', '"rm -rf /"'],
  ['engine.keepAlive', '"24h"'],
  ['upload', '{"command":"rm -rf /"}'],
  ['speeed', '1'],
  ['__proto__', '{"voice":"x"}'],
  ['constructor', '1'],
])('a project may not set "%s"', async (key, value) => {
  const { exit, exitCode, message } = await failure({ [PROJECT]: `{"${key}":${value}}` });
  expect([exit, exitCode]).toEqual(['usage', 2]);
  expect(message).toContain(PROJECT);
  expect(message).toContain(key);
});

test('an unknown key is refused with the nearest name', async () => {
  expect((await failure({ [USER]: '{"speeed":1}' })).hint).toBe('Did you mean speed?');
});

test.each(['uploadcommand', 'baseUrl'])(
  'a project is not offered what it may not set: "%s"',
  async (key) => {
    expect((await failure({ [PROJECT]: `{"${key}":"x"}` })).hint).not.toContain('upload.command');
    expect((await failure({ [USER]: `{"${key}":"x"}` })).hint).toContain('upload.command');
  },
);

test.each([
  ['speed', '3'],
  ['speed', '"fast"'],
  ['speed', 'null'],
  ['speed', '[]'],
  ['volume', '-21'],
  ['format', '"flac"'],
  ['cueMaxChars', '1.5'],
  ['cueMaxChars', '0'],
  ['cueMaxDuration', '"soon"'],
  ['cueBy', '"page"'],
  ['concurrency', '0'],
  ['voice', '""'],
  ['language', `"${'x'.repeat(65)}"`],
])('"%s" is refused: %s', async (key, value) => {
  const { exit, message } = await failure({ [USER]: `{"${key}":${value}}` });
  expect(exit).toBe('usage');
  expect(message).toContain(`"${key}"`);
  expect(message).toContain(USER);
});

test.each([
  ['broken', '{\n  "voice": "x"\n  "speed": 1\n}', /at line 3/],
  ['empty', '', /is empty/],
  ['a list', '[]', /not a JSON object/],
  ['no text', Buffer.from([0x7b, 0xff]), /not valid UTF-8/],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /UTF-16/],
  ['forbidden', Object.assign(new Error('no'), { code: 'EACCES' }), /EACCES/],
])('a settings file that is %s is refused by name', async (_name, content, expected) => {
  const { exit, message } = await failure({ [USER]: content });
  expect(exit).toBe('usage');
  expect(message).toContain(USER);
  expect(message).toMatch(expected);
});

test('an invalid environment variable is refused by name', async () => {
  const sources = await load({}, { FOLEY_VOICE: 'x'.repeat(300) });
  expect(() => resolveSetting(sources, 'voice')).toThrow(/FOLEY_VOICE/);
});

function withVoice(voice: string | undefined, file: string): SettingSources['user'] {
  return voice === undefined ? undefined : { file, values: { voice } };
}

test('a source of higher precedence always wins', () => {
  const voice = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
  fc.assert(
    fc.property(voice, voice, voice, voice, (flag, environment, project, user) => {
      const sources = {
        env: environment === undefined ? {} : { FOLEY_VOICE: environment },
        project: withVoice(project, 'p'),
        user: withVoice(user, 'u'),
      };
      const value = resolveSetting(sources, 'voice', flag)?.value;
      expect(value).toBe(flag ?? environment ?? project ?? user);
    }),
  );
});

test('every default is a valid value', () => {
  for (const name of SETTING_NAMES) {
    const { fallback, read, unit } = SETTINGS[name];
    if (fallback !== undefined && unit === undefined) expect(read(fallback)).toBe(fallback);
  }
});
