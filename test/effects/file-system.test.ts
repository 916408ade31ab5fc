import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../src/effects/file-system.ts';
import { sandbox } from '../harness/sandbox.ts';
import { skipWithout } from '../harness/require-tool.ts';

describe('mkdir with recursive', () => {
  test('creates missing parents, and accepts an existing folder', async () => {
    const { out } = await sandbox();
    const folder = path.join(out, 'a', 'b', 'c');
    for (const _attempt of [1, 2]) await systemFiles.mkdir(folder, { recursive: true });
    expect(statSync(folder).isDirectory()).toBe(true);
    await expect(systemFiles.mkdir(folder)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  test('may create folders with the same parents at the same time', async () => {
    const { out } = await sandbox();
    for (const round of Array.from({ length: 20 }, (_, index) => String(index))) {
      const parent = path.join(out, round, 'a', 'b');
      const folders = ['c', 'c', 'd', 'e', 'f', 'g'].map((name) => path.join(parent, name));
      await Promise.all(folders.map((folder) => systemFiles.mkdir(folder, { recursive: true })));
      expect(folders.every((folder) => existsSync(folder))).toBe(true);
    }
  });

  test('reports a file in the place of the folder or of a parent', async () => {
    const { out } = await sandbox();
    const file = path.join(out, 'file');
    writeFileSync(file, '');
    const options = { recursive: true };
    await expect(systemFiles.mkdir(file, options)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(systemFiles.mkdir(path.join(file, 'a'), options)).rejects.toThrow(
      /ENOTDIR|ENOENT/,
    );
  });

  test('reports a folder that cannot be created below /proc', async () => {
    if (!existsSync('/proc/self')) skipWithout('/proc/PID/status');
    const made = systemFiles.mkdir('/proc/foley/cache', { recursive: true });
    await expect(made).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
