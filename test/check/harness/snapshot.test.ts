import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandbox } from '../../harness/sandbox.ts';
import { difference, filesOf, snapshot } from '../../harness/snapshot.ts';

test('a fresh sandbox has folders only, and its name has a space in it', async () => {
  const box = await sandbox();
  const records = await snapshot(box.root);
  expect([...records.keys()].sort()).toStrictEqual([
    'cache',
    'config',
    'home',
    'out',
    'state',
    'temporary',
  ]);
  expect(filesOf(records)).toStrictEqual([]);
  expect(box.root).toContain(' ');
});

test('created, removed and changed files are distinguished', async () => {
  const box = await sandbox();
  const file = (name: string) => path.join(box.out, name);
  for (const name of ['gone', 'rewritten', 'opened', 'same']) {
    await writeFile(file(name), 'old', { mode: 0o600 });
  }
  const before = await snapshot(box.root);
  await rm(file('gone'));
  await writeFile(file('rewritten'), 'new');
  await chmod(file('opened'), 0o644);
  await writeFile(file('same'), 'old');
  await mkdir(file('sub'));
  await writeFile(file('sub/made'), '');
  await symlink('same', file('link'));
  expect(difference(before, await snapshot(box.root))).toStrictEqual({
    added: ['out/link', 'out/sub', 'out/sub/made'],
    removed: ['out/gone'],
    changed: ['out/opened', 'out/rewritten'],
  });
});

test('a record has kind, size, permissions and content', async () => {
  const box = await sandbox();
  await writeFile(path.join(box.out, 'a'), 'abc', { mode: 0o640 });
  await symlink('a', path.join(box.out, 'b'));
  const records = await snapshot(box.out);
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
    const box = await sandbox();
    const closed = path.join(box.out, 'closed');
    await mkdir(closed);
    await writeFile(path.join(closed, 'file'), '');
    await chmod(closed, 0o500);
    made.push(box.root);
  });

  test('it is removed all the same', () => {
    expect(made).toHaveLength(1);
    expect(made.filter((root) => existsSync(root))).toStrictEqual([]);
  });
});
