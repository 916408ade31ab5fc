import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { SCHEMA_VERSION, UPDATES } from '../../src/service/store/schema.ts';
import { temporaryFolder } from './support/test-service.ts';
import { requirePosix } from '../harness/posix.ts';

const EFFECTS = { clock: systemClock, files: systemFiles };

describe('the store', () => {
  it('is made for its owner alone, parents too', async () => {
    const dataDir = join(await temporaryFolder(), 'state', 'service');
    const store = await openStore({ ...EFFECTS, dataDir });
    store.write((db) => db.script('CREATE TABLE note (text TEXT)'));
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    for (const file of ['service.db', 'service.db-wal', 'service.db-shm']) {
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    }
    store.close();
  });

  it('keeps what was written', async () => {
    const dataDir = await temporaryFolder();
    const first = await openStore({ ...EFFECTS, dataDir });
    first.write((db) => db.script('CREATE TABLE note (text TEXT); INSERT INTO note VALUES (1)'));
    first.close();
    const second = await openStore({ ...EFFECTS, dataDir });
    expect(second.read((db) => db.all('SELECT text FROM note'))).toMatchObject([{ text: '1' }]);
    second.close();
  });

  it('rolls back a failed transaction, and continues', async () => {
    const store = await openStore({ ...EFFECTS, dataDir: await temporaryFolder() });
    store.write((db) => db.script('CREATE TABLE note (text TEXT UNIQUE)'));
    const twice = (): number =>
      store.write((db) => {
        db.run('INSERT INTO note VALUES (?)', ['a']);
        return db.run('INSERT INTO note VALUES (?)', ['a']);
      });
    expect(twice).toThrow(/UNIQUE/);
    expect(store.read((db) => db.all('SELECT * FROM note'))).toEqual([]);
    expect(store.write((db) => db.run('INSERT INTO note VALUES (?)', ['a']))).toBe(1);
    store.close();
  });

  it('can be closed twice, and fails properly when it is asked for anything afterwards', async () => {
    const store = await openStore({ ...EFFECTS, dataDir: await temporaryFolder() });
    store.close();
    store.close();
    expect(() => store.read((db) => db.all('SELECT 1'))).toThrow(/closed/);
    expect(() => store.write((db) => db.all('SELECT 1'))).toThrow(/closed/);
  });

  it('is opened by many at once while none of it exists', async () => {
    const dataDir = await temporaryFolder();
    const stores = await Promise.all(
      Array.from({ length: 8 }, () => openStore({ ...EFFECTS, dataDir })),
    );
    for (const store of stores) {
      store.write((db) =>
        db.run("INSERT INTO account (id, tier, created_at) VALUES (hex(randomblob(8)), 't', 0)"),
      );
    }
    const count = stores[0]?.read((db) => db.get('SELECT count(*) AS n FROM account'));
    expect(count).toMatchObject({ n: 8 });
    for (const store of stores) store.close();
  });
});

describe('a data directory that cannot be used', () => {
  it.each([
    ['newer', SCHEMA_VERSION + 1, 'a newer foley'],
    ['older', Math.min(...UPDATES.keys()) - 1, 'a foley before its first release'],
  ])('was made by a %s foley, and is left as it is', async (reason, version, maker) => {
    const dataDir = await temporaryFolder();
    const unknown = new Database(join(dataDir, 'service.db'));
    unknown.exec(`PRAGMA user_version = ${version}`);
    unknown.close();
    await expect(openStore({ ...EFFECTS, dataDir })).rejects.toMatchObject({
      name: 'StoreError',
      reason,
      path: join(dataDir, 'service.db'),
      message: expect.stringContaining(`${maker} (schema ${version}; this one knows 13 and 14)`),
    });
    const after = new Database(join(dataDir, 'service.db'));
    expect(after.pragma('journal_mode')).toMatchObject([{ journal_mode: 'delete' }]);
    after.close();
  });

  it('holds something else under the name of the database', async () => {
    const dataDir = await temporaryFolder();
    await writeFile(join(dataDir, 'service.db'), 'a diary, not a database. '.repeat(100));
    await expect(openStore({ ...EFFECTS, dataDir })).rejects.toMatchObject({ reason: 'corrupt' });
  });

  it('holds a folder under the name of the database', async () => {
    const dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'service.db'));
    await expect(openStore({ ...EFFECTS, dataDir })).rejects.toMatchObject({
      reason: 'unwritable',
    });
  });

  it('is a file', async () => {
    const dataDir = join(await temporaryFolder(), 'file');
    await writeFile(dataDir, '');
    await expect(openStore({ ...EFFECTS, dataDir })).rejects.toMatchObject({
      reason: 'unwritable',
      message: expect.stringContaining(dataDir),
    });
  });

  it.each(['EACCES', 'EROFS', 'ENOSPC'])('answers %s', async (code) => {
    const files: FileSystem = {
      ...systemFiles,
      open: () => Promise.reject(Object.assign(new Error('refused'), { code })),
    };
    const dataDir = await temporaryFolder();
    await expect(openStore({ ...EFFECTS, files, dataDir })).rejects.toMatchObject({
      reason: 'unwritable',
      message: expect.stringContaining(code),
    });
  });

  it('has a database that cannot be written', async () => {
    requirePosix('files that only their owner can read');
    const dataDir = await temporaryFolder();
    const store = await openStore({ ...EFFECTS, dataDir });
    store.close();
    await chmod(join(dataDir, 'service.db'), 0o400);
    await chmod(dataDir, 0o500);
    const outcome = openStore({ ...EFFECTS, dataDir }).then(
      (opened) => opened.close(),
      (error: unknown) => error,
    );
    // The superuser writes everywhere; anybody else is refused.
    const expected = process.getuid?.() === 0 ? undefined : { reason: 'unwritable' };
    if (expected === undefined) expect(await outcome).toBe(undefined);
    else expect(await outcome).toMatchObject(expected);
    await chmod(dataDir, 0o700);
  });

  it('is locked by another process for too long', async () => {
    const dataDir = await temporaryFolder();
    const other = new Database(join(dataDir, 'service.db'));
    other.exec('BEGIN EXCLUSIVE');
    const opening = openStore({ ...EFFECTS, dataDir, busyTimeoutMs: 1 });
    await expect(opening).rejects.toMatchObject({ reason: 'locked' });
    other.exec('ROLLBACK');
    other.close();
    const store = await openStore({ ...EFFECTS, dataDir, busyTimeoutMs: 1 });
    store.close();
  });
});
