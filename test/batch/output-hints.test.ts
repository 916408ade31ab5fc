import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { JournalIndex } from '../../src/batch/journal/journal.ts';
import { OutputFolders } from '../../src/batch/run/publish-audio.ts';
import { OutputInspector } from '../../src/batch/run/classify.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { testSystem } from '../files/file-simulation.ts';
import { rerunIn } from './batch-folders.ts';

const OUTPUT = 'a.mp3';
let outputDir = '';

beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-hints-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, OUTPUT), 'sound');
  outputDir = folder;
});

/** Inspects an output whose recorded file had the same size. */
async function inspect(files: FileSystem, outputFlag: string): Promise<unknown> {
  const index = new JournalIndex();
  const facts = { bytes: 5, sha256: 'other', mtimeMs: 1 };
  index.filesAt = () => [facts];
  const rerun = rerunIn(outputDir, outputFlag);
  const inspector = new OutputInspector(testSystem({ files }), index, rerun);
  return inspector.inspect({ output: OUTPUT, source: 'a.txt' });
}

async function use(files: FileSystem, outputFlag: string): Promise<void> {
  const folders = new OutputFolders(testSystem({ files }), outputDir, outputFlag);
  await folders.useFor(path.join(outputDir, OUTPUT));
  await folders.sync();
}

test.each([
  ['a folder that cannot be read', 'readdir', inspect],
  ['a file without access', 'lstat', inspect],
  ['a file that cannot be read', 'open', inspect],
  ['a folder that cannot be made', 'mkdir', use],
  ['a folder that cannot be synced', 'open', use],
] as const)(
  '%s is reported with the flag that names another folder',
  async (_what, broken, act) => {
    const files = {
      ...systemFiles,
      [broken]: () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })),
    };
    for (const flag of ['--output-dir', '--output']) {
      await expect(act(files, flag)).rejects.toMatchObject({
        exit: 'output',
        hint: expect.stringContaining(`another place with ${flag}.`),
      });
    }
  },
);
