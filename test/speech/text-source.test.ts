import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readText } from '../../src/speech/text-source.ts';
import { testSystem } from '../files/file-simulation.ts';
import { failingFiles } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';

test('a text file is closed again when the command was stopped before it is read', async () => {
  const { out } = await createSandbox();
  const file = path.join(out, 'chapter.txt');
  await writeFile(file, 'Hello.');
  const { files, open } = failingFiles(0, { kind: 'kill' });
  const source = {
    args: [],
    file,
    system: testSystem({ files }),
    stdin: () => Readable.from([]),
    stdinIsTerminal: () => false,
  };
  expect(await readText({ ...source, signal: new AbortController().signal })).toBe('Hello.');
  const stopped = new Error('stopped');
  await expect(readText({ ...source, signal: AbortSignal.abort(stopped) })).rejects.toBe(stopped);
  await expect.poll(open).toEqual([]);
});
