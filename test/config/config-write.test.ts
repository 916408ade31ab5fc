import { chmod, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readAccounts, selectAccount } from '../../src/config/accounts.ts';
import {
  removeAccount,
  saveAccount,
  setSetting,
  unsetSetting,
} from '../../src/config/config-write.ts';
import { loadSettings, resolveSetting } from '../../src/config/settings.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { system } from '../../src/system/system.ts';
import { requirePosix } from '../harness/posix.ts';

async function fileIn(name: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-config-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'foley', name);
}

async function modes(file: string): Promise<readonly string[]> {
  const both = [await stat(file), await stat(path.dirname(file))];
  return both.map(({ mode }) => (mode & 0o777).toString(8));
}

const account = (name: string) => ({
  name,
  baseUrl: `https://${name}.example`,
  realtimeUrl: undefined,
  apiKey: `sk-${name}-1`,
});

test('a setting is read with the type and value that was set', async () => {
  const file = await fileIn('config.json');
  await setSetting(file, 'voice', 'v 1', system);
  await setSetting(file, 'speed', '1.5', system);
  await setSetting(file, 'cueMaxDuration', '7s', system);
  await setSetting(file, 'cueMinDuration', '2', system);
  await setSetting(file, 'upload.command', 'put --it', system);
  const content: unknown = JSON.parse(await readFile(file, 'utf8'));
  expect(content).toEqual({
    voice: 'v 1',
    speed: 1.5,
    cueMaxDuration: '7s',
    cueMinDuration: 2,
    upload: { command: 'put --it' },
  });
  const sources = await loadSettings({
    files: systemFiles,
    env: {},
    cwd: path.dirname(file),
    settingsFile: file,
  });
  expect(resolveSetting(sources, 'cueMaxDuration')?.value).toBe(7_000);
  expect(resolveSetting(sources, 'cueMinDuration')?.value).toBe(2_000);
  expect(resolveSetting(sources, 'upload.command')?.value).toBe('put --it');
  await unsetSetting(file, 'upload.command', system);
  await unsetSetting(file, 'voice', system);
  expect(JSON.parse(await readFile(file, 'utf8'))).not.toHaveProperty('voice');
});

test.each([
  ['speeed', '1', /unknown setting "speeed"/],
  ['speed', '9', /speed is "9"; it takes a number from 0.5 to 2/],
  ['__proto__', 'x', /unknown setting/],
  ['baseUrl', 'https://a.example', /unknown setting/],
])('%s cannot be set to %s, and nothing is written', async (name, value, message) => {
  const file = await fileIn('config.json');
  await expect(setSetting(file, name, value, system)).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringMatching(message),
  });
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('the accounts file is made private', async () => {
  requirePosix('files that only their owner can read');
  const file = await fileIn('accounts.json');
  await mkdir(path.dirname(file), { mode: 0o777 });
  await chmod(path.dirname(file), 0o777);
  await saveAccount(file, account('main'), system, { makeCurrent: true });
  expect(await modes(file)).toEqual(['600', '700']);
  await chmod(file, 0o644);
  await saveAccount(file, account('a.b'), system, { makeCurrent: false });
  expect(await modes(file)).toEqual(['600', '700']);
  const accounts = await readAccounts(systemFiles, file);
  expect([...accounts.all.keys()]).toEqual(['main', 'a.b']);
  expect(selectAccount(accounts)?.name).toBe('main');
});

test('removing an account deletes its key and keeps the others', async () => {
  const file = await fileIn('accounts.json');
  await saveAccount(file, account('main'), system, { makeCurrent: true });
  await saveAccount(file, account('other'), system, { makeCurrent: false });
  expect(await removeAccount(file, 'main', system)).toBe(true);
  expect(await removeAccount(file, 'main', system)).toBe(false);
  expect(await readFile(file, 'utf8')).not.toContain('sk-main-1');
  expect(selectAccount(await readAccounts(systemFiles, file))?.name).toBe('other');
});

test('an invalid file is left unchanged', async () => {
  const file = await fileIn('config.json');
  await mkdir(path.dirname(file));
  await writeFile(file, '{"voice": "mine",');
  await expect(setSetting(file, 'speed', '1', system)).rejects.toMatchObject({ exit: 'usage' });
  expect(await readFile(file, 'utf8')).toBe('{"voice": "mine",');
});

test('a file with a byte order mark can be changed', async () => {
  const file = await fileIn('config.json');
  await mkdir(path.dirname(file));
  await writeFile(file, '\ufeff{"voice":"mine"}');
  await setSetting(file, 'speed', '1', system);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ voice: 'mine', speed: 1 });
});

test('after a partial write, the previous file is restored', async () => {
  const file = await fileIn('accounts.json');
  await saveAccount(file, account('main'), system, { makeCurrent: true });
  const before = await readFile(file, 'utf8');
  const files = cutAfterChange(file, before);
  const saved = saveAccount(file, account('other'), { ...system, files }, { makeCurrent: true });
  await expect(saved).rejects.toMatchObject({ exit: 'state', exitCode: 32 });
  expect(await readFile(file, 'utf8')).toBe(before);
});

test('after a partial first write, the file is deleted', async () => {
  const file = await fileIn('accounts.json');
  const saved = saveAccount(
    file,
    account('main'),
    { ...system, files: cutAfterChange(file, '') },
    { makeCurrent: true },
  );
  await expect(saved).rejects.toMatchObject({ exit: 'state' });
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file in place of the folder is a state failure', async () => {
  const file = await fileIn('config.json');
  await writeFile(path.dirname(file), 'in the way');
  await expect(setSetting(file, 'speed', '1', system)).rejects.toMatchObject({ exit: 'state' });
});

/** Files as on a full disk: what differs from `before` is only half there. */
function cutAfterChange(file: string, before: string): FileSystem {
  const cut = async (): Promise<void> => {
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    if (content.toString() !== before) await truncate(file, Math.floor(content.length / 2));
  };
  return {
    ...systemFiles,
    open: new Proxy(systemFiles.open, {
      apply: async (open, _, [name, ...rest]) => {
        if (name === file) await cut();
        return open(name, ...rest);
      },
    }),
  };
}
