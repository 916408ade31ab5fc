import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import { difference, filesOf, snapshot } from '../../harness/snapshot.ts';

test('a fresh sandbox has folders only, and its name has a space in it', async () => {
  const sandbox = await createSandbox();
  const records = await snapshot(sandbox.root);
  expect([...records.keys()].sort()).toStrictEqual([
    'cache',
    'config',
    'home',
    'out',
    'state',
    'temporary',
  ]);
  expect(filesOf(records)).toStrictEqual([]);
  expect(sandbox.root).toContain(' ');
});

test('created, removed and changed files are distinguished', async () => {
  const sandbox = await createSandbox();
  const file = (name: string) => path.join(sandbox.out, name);
  for (const name of ['gone', 'rewritten', 'opened', 'same']) {
    await writeFile(file(name), 'old', { mode: 0o600 });
  }
  const before = await snapshot(sandbox.root);
  await rm(file('gone'));
  await writeFile(file('rewritten'), 'new');
  await chmod(file('opened'), 0o644);
  await writeFile(file('same'), 'old');
  await mkdir(file('sub'));
  await writeFile(file('sub/made'), '');
  await symlink('same', file('link'));
  expect(difference(before, await snapshot(sandbox.root))).toStrictEqual({
    added: ['out/link', 'out/sub', 'out/sub/made'],
    removed: ['out/gone'],
    changed: ['out/opened', 'out/rewritten'],
  });
});

test('a record has kind, size, permissions and content', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a'), 'abc', { mode: 0o640 });
  await symlink('a', path.join(sandbox.out, 'b'));
  const records = await snapshot(sandbox.out);
  expect(records.get('a')).toStrictEqual({
    kind: 'file',
    size: 3,
    mode: 0o640,
    content: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  });
  expect(records.get('b')).toMatchObject({ kind: 'link', content: 'a' });
});

describe('at the end of its test', () => {
  const made: string[] = [];

  test('a sandbox may hold a read-only folder', async () => {
    const sandbox = await createSandbox();
    const closed = path.join(sandbox.out, 'closed');
    await mkdir(closed);
    await writeFile(path.join(closed, 'file'), '');
    await chmod(closed, 0o500);
    made.push(sandbox.root);
  });

  test('it is removed all the same', () => {
    expect(made).toHaveLength(1);
    expect(made.filter((root) => existsSync(root))).toStrictEqual([]);
  });
});
