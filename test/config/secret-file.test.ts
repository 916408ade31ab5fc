import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePrivate, sharedPermissions } from '../../src/config/accounts.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { System } from '../../src/system/system.ts';
import { system } from '../../src/system/system.ts';

const POSIX: System = { ...system, platform: 'linux' };

function refuse(): Promise<never> {
  return Promise.reject(Object.assign(new Error('no'), { code: 'EPERM' }));
}

async function fileWithMode(mode: number): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-secret-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = path.join(folder, 'accounts.json');
  await writeFile(file, '{}');
  await chmod(file, mode);
  return file;
}

describe.skipIf(process.platform === 'win32')('a file with a secret', () => {
  test.each([0o644, 0o640, 0o604, 0o660, 0o611])(
    'with mode %o is made private, with a warning',
    async (mode) => {
      const file = await fileWithMode(mode);
      expect(await sharedPermissions(POSIX, file)).toBe(mode);
      const told = await makePrivate(POSIX, file);
      expect(told).toContain(`was readable by others (0${mode.toString(8)})`);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await makePrivate(POSIX, file)).toBeUndefined();
    },
  );

  test.each([0o600, 0o400, 0o700])('with mode %o is left unchanged', async (mode) => {
    const file = await fileWithMode(mode);
    expect(await makePrivate(POSIX, file)).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(mode);
  });

  test('whose permissions cannot be changed is refused', async () => {
    const file = await fileWithMode(0o644);
    const open = new Proxy(systemFiles.open, {
      apply: async (real, _, [name, ...rest]) => {
        const handle = await real(name, ...rest);
        return Object.assign(handle, { chmod: refuse });
      },
    });
    const files = { ...systemFiles, open };
    await expect(makePrivate({ ...POSIX, files }, file)).rejects.toMatchObject({
      exit: 'usage',
      hint: expect.stringContaining('FOLEY_API_KEY'),
    });
  });

  test('that is missing causes no warning', async () => {
    expect(await makePrivate(POSIX, '/nowhere/accounts.json')).toBeUndefined();
  });

  test('is not checked on Windows', async () => {
    const file = await fileWithMode(0o644);
    expect(await makePrivate({ ...POSIX, platform: 'win32' }, file)).toBeUndefined();
  });
});
