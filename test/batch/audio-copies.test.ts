import { mkdir, readdir, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AudioCopies } from '../../src/batch/run/audio-copies.ts';
import { CUE_PRESETS } from '../../src/captions/cue-shape.ts';
import { sha256 } from '../../src/durable/checksum.ts';
import { createTemporary } from '../../src/durable/files.ts';
import type { System } from '../../src/system/system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { testSystem } from '../files/file-simulation.ts';
import { newFolder, processesOf } from './batch-folders.ts';

const GIB = 1024 ** 3;
const FACTS = { bytes: 5, sha256: sha256('sound') };

/** Creates an output with captions, and the folder for copies of a batch. */
async function copiesAt(root: string, deps: Partial<System> = {}) {
  const output = path.join(root, 'a.mp3');
  await writeFile(output, 'sound');
  await writeFile(path.join(root, 'a.srt'), 'captions');
  const copyFolder = path.join(root, 'batches', 'one');
  const shape = { ...CUE_PRESETS.netflix, by: 'phrase' as const };
  const captions = { formats: ['srt' as const], shape };
  const open = () => new AudioCopies(testSystem(deps), copyFolder, captions);
  const found = async (): Promise<readonly string[]> => {
    const files: string[] = [];
    for await (const file of open().find(FACTS)) files.push(file);
    return files;
  };
  return { copies: open(), found, output };
}

/** Creates a sparse file that is an old copy of another batch. */
async function oldCopy(root: string, name: string, bytes: number, time: number): Promise<string> {
  const file = path.join(root, 'batches', 'other', 'audio', name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, '');
  await truncate(file, bytes);
  await utimes(file, time, time);
  return file;
}

test('a copy is found by later commands as long as its captions are complete and unchanged', async () => {
  const root = await newFolder();
  const { copies, found, output } = await copiesAt(root);
  expect(await found()).toEqual([]);
  await copies.add(output, FACTS);
  const [copy = ''] = await found();
  expect(path.basename(copy)).toMatch(new RegExp(`^${FACTS.sha256}-[0-9a-f]{64}$`));
  // Other captions of the same audio are another copy.
  await writeFile(path.join(root, 'a.srt'), 'other captions');
  await copies.add(output, FACTS);
  expect(await found()).toHaveLength(2);
  await writeFile(`${copy}.srt`, 'changed captions');
  expect(await found()).toHaveLength(1);
  expect(await found()).not.toContain(copy);
});

test('the oldest copies of all batches above 1 GiB are removed, and larger audio is not copied', async () => {
  const root = await newFolder();
  const oldest = await oldCopy(root, 'oldest', GIB / 2, 1_000);
  const older = await oldCopy(root, 'older', GIB / 2 - 20, 2_000);
  const { copies, found, output } = await copiesAt(root);
  await copies.add(output, FACTS);
  expect(await readdir(path.dirname(oldest))).toEqual([
    path.basename(older),
    path.basename(oldest),
  ]);
  await writeFile(path.join(root, 'a.srt'), 'more captions for the same audio');
  await copies.add(output, { ...FACTS, bytes: 100 });
  expect(await readdir(path.dirname(oldest))).toEqual([path.basename(older)]);
  expect(await found()).toHaveLength(2);
  await writeFile(path.join(root, 'a.srt'), 'captions of something large');
  await copies.add(output, { ...FACTS, bytes: GIB + 1 });
  expect(await found()).toHaveLength(2);
});

test('nothing is copied to a disk that is almost full, and nothing is thrown', async () => {
  const root = await newFolder();
  const files = new Proxy(systemFiles, {
    get: (target, property) =>
      property === 'statfs'
        ? async () => ({ blocks: 1_000_000, bavail: 1_000, bsize: 4_096 })
        : Reflect.get(target, property),
  });
  const { copies, found, output } = await copiesAt(root, { files });
  await copies.add(output, FACTS);
  await copies.add(path.join(root, 'missing.mp3'), FACTS);
  expect(await found()).toEqual([]);
});

test('temporary files of killed commands are removed from the copies of all batches', async () => {
  const root = await newFolder();
  const folder = path.dirname(await oldCopy(root, 'old', 10, 1_000));
  const left = await createTemporary(testSystem({ processes: processesOf(7) }), folder);
  await left.file.close();
  const processes = processesOf(8, new Map([[7, 'dead']]));
  const { copies, output } = await copiesAt(root, { processes });
  await copies.add(output, FACTS);
  await expect(stat(left.path)).rejects.toThrow(/ENOENT/);
  expect(await readdir(folder)).toEqual(['old']);
});
