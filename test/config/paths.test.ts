import { expect, test } from 'vitest';
import { resolvePaths } from '../../src/config/paths.ts';

const linux = (env: Record<string, string>) =>
  resolvePaths({ env, platform: 'linux', homeDirectory: '/home/ada' });

test('without variables, the default folders of Linux are used', () => {
  expect(linux({})).toEqual({
    config: '/home/ada/.config/foley',
    state: '/home/ada/.local/state/foley',
    cache: '/home/ada/.cache/foley',
    settingsFile: '/home/ada/.config/foley/config.json',
    accountsFile: '/home/ada/.config/foley/accounts.json',
    serviceData: '/home/ada/.local/state/foley/service',
    servedData: '/home/ada/.local/state/foley/served',
    engines: '/home/ada/.local/state/foley/engines',
    models: '/home/ada/.local/share/foley/models',
    runtime: '/home/ada/.local/state/foley/run',
  });
});

test.each(['linux', 'darwin', 'freebsd'] as const)('the XDG folders go first on %s', (platform) => {
  const env = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' };
  const { cache, config, models, state } = resolvePaths({
    env: { ...env, XDG_DATA_HOME: '/d' },
    platform,
    homeDirectory: '/home/ada',
  });
  expect([config, state, cache]).toEqual(['/c/foley', '/s/foley', '/k/foley']);
  expect(models).toBe('/d/foley/models');
});

test('sockets are in the runtime folder of the session, else in the state folder', () => {
  expect(linux({ XDG_RUNTIME_DIR: '/run/user/1000' }).runtime).toBe('/run/user/1000/foley');
  expect(linux({ XDG_STATE_HOME: '/s' }).runtime).toBe('/s/foley/run');
});

test.each(['', 'relative', './here', '~/x'])('a folder that is "%s" is ignored', (value) => {
  const env = { XDG_CONFIG_HOME: value, XDG_STATE_HOME: value, XDG_CACHE_HOME: value };
  expect(linux(env)).toEqual(linux({}));
});

test.each(['rel', './here', '~'])('a home directory that is "%s" is refused', (homeDirectory) => {
  const inputs = { platform: 'linux', homeDirectory } as const;
  const message = `HOME is "${homeDirectory}", which is not an absolute path`;
  expect(() => resolvePaths({ ...inputs, env: {} })).toThrow(message);
  const folders = ['CONFIG_HOME', 'STATE_HOME', 'CACHE_HOME', 'DATA_HOME', 'RUNTIME_DIR'];
  const env = Object.fromEntries(folders.map((name) => [`XDG_${name}`, '/x']));
  expect(resolvePaths({ ...inputs, env }).state).toBe('/x/foley');
});

test('the default folders of macOS are used', () => {
  const paths = resolvePaths({ env: {}, platform: 'darwin', homeDirectory: '/Users/ada' });
  expect(paths.config).toBe('/Users/ada/Library/Preferences/foley');
  expect(paths.state).toBe('/Users/ada/Library/Application Support/foley');
  expect(paths.cache).toBe('/Users/ada/Library/Caches/foley');
  expect(paths.models).toBe('/Users/ada/Library/Application Support/foley/models');
});

test('the default folders of Windows are used', () => {
  const env = { LOCALAPPDATA: 'D:\\Local', APPDATA: '' };
  const paths = resolvePaths({ env, platform: 'win32', homeDirectory: 'C:\\Users\\ada' });
  expect(paths.settingsFile).toBe('C:\\Users\\ada\\AppData\\Roaming\\foley\\Config\\config.json');
  expect(paths.serviceData).toBe('D:\\Local\\foley\\State\\service');
  expect(paths.cache).toBe('D:\\Local\\foley\\Cache');
  expect(paths.models).toBe('D:\\Local\\foley\\Data\\models');
});
