import { stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { JournalIndex } from '../../src/batch/journal/journal.ts';
import { OutputInspector } from '../../src/batch/run/classify.ts';
import { sha256 } from '../../src/durable/checksum.ts';
import { testSystem } from '../files/file-simulation.ts';
import { newFolder, rerunIn } from './batch-folders.ts';

it('audio of another output counts as made by the batch', async () => {
  const outputDir = await newFolder();
  await writeFile(path.join(outputDir, 'b.wav'), 'first');
  const index = new JournalIndex();
  for (const [content, output] of [
    ['first', 'a.wav'],
    ['second one', 'b.wav'],
  ] as const) {
    const about = { output, key: 'k', origin: 'o' };
    const facts = { sha256: sha256(content), bytes: content.length };
    index.apply({ item: content, body: content, generation: 0, state: 'verified', about, facts });
  }
  const inspector = new OutputInspector(testSystem(), index, rerunIn(outputDir));
  const place = { output: 'b.wav', source: 'list' };
  expect(await inspector.inspect(place)).toMatchObject({ file: { sha256: sha256('first') } });
  await writeFile(path.join(outputDir, 'b.wav'), 'mine');
  expect(await inspector.inspect(place)).toEqual({ kind: 'changed' });
  await writeFile(path.join(outputDir, 'c.wav'), 'mine');
  const other = new OutputInspector(testSystem(), index, rerunIn(outputDir, '-o'));
  expect(await other.inspect({ output: 'c.wav', source: 'list' })).toEqual({ kind: 'foreign' });
});

it('two recorded files of one size and time are distinguished by their content', async () => {
  const outputDir = await newFolder();
  const file = path.join(outputDir, 'a.wav');
  const time = new Date('2026-01-01T00:00:00Z');
  const index = new JournalIndex();
  for (const content of ['earlier', 'another']) {
    await writeFile(file, content);
    await utimes(file, time, time);
    const { mtimeMs, size: bytes } = await stat(file);
    const about = { output: 'a.wav', key: 'k', origin: 'o' };
    const facts = { sha256: sha256(content), bytes, mtimeMs };
    index.apply({ item: content, body: content, generation: 0, state: 'published', about, facts });
  }
  const inspector = new OutputInspector(testSystem(), index, rerunIn(outputDir));
  expect(await inspector.inspect({ output: 'a.wav', source: 'list' })).toMatchObject({
    kind: 'known',
    file: { sha256: sha256('another') },
  });
});
