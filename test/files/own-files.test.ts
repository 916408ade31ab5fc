import { constants } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensurePrivateFolder, openOwnFile } from '../../src/durable/own-files.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { createSandbox } from '../harness/sandbox.ts';

/** Windows has no ids of users, and its `open` has no flag that refuses links. */
const WINDOWS_FILES: FileSystem = {
  ...systemFiles,
  userId: undefined,
  open: new Proxy(systemFiles.open, {
    apply: (open, _, [file, flags, mode]) =>
      open(file, typeof flags === 'number' ? flags & ~(constants.O_NOFOLLOW ?? 0) : flags, mode),
  }),
};

describe('on Windows', () => {
  it('a file of foley is not read through a link', async () => {
    const { out } = await createSandbox();
    await writeFile(path.join(out, 'victim'), 'secret');
    await symlink('victim', path.join(out, 'link'));
    const open = (name: string, links?: 'follow') =>
      openOwnFile(path.join(out, name), constants.O_RDONLY, WINDOWS_FILES, links);
    await expect(open('link')).rejects.toThrow('it is a symbolic link');
    await (await open('link', 'follow')).close();
    await (await open('victim')).close();
  });

  it('a private folder is not behind a link', async () => {
    const { out } = await createSandbox();
    await mkdir(path.join(out, 'victim'));
    await symlink('victim', path.join(out, 'link'));
    const link = ensurePrivateFolder(path.join(out, 'link'), WINDOWS_FILES);
    await expect(link).rejects.toThrow('it is a symbolic link');
    await ensurePrivateFolder(path.join(out, 'victim'), WINDOWS_FILES);
    await ensurePrivateFolder(path.join(out, 'new'), WINDOWS_FILES);
  });
});
