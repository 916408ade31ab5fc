import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openRecording } from '../../../src/script/recording/recording.ts';
import { testSystem } from '../../files/file-simulation.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';
import { tone } from './make.ts';
import { makeFifo } from '../../harness/posix.ts';

/** Opens a recording in a folder that has an older one. */
async function open(name = 'talk.wav', signal = new AbortController().signal) {
  const { out } = await createSandbox();
  const file = path.join(out, name);
  const temporaryFolder = path.join(out, 'talk.foley');
  await mkdir(temporaryFolder);
  await writeFile(file, 'older');
  const line = path.join(out, 'line.wav');
  await writeFile(line, writeWav(tone({}), 44_100));
  const stems = { folder: path.join(out, 'stems'), speakers: ['ADA'] };
  const chapterFiles = [path.join(out, 'chapters.json')];
  const options = {
    system: testSystem(),
    path: file,
    format: 'wav',
    temporaryFolder,
    signal,
  } as const;
  const opened = await openRecording({
    ...options,
    timing: 'stretch',
    loudness: -16,
    stems,
    chapterFiles,
  });
  const spoken = { speaker: 'ADA', text: 'Hello', audio: line, pauseAfterMs: 0 };
  return { file, out, temporaryFolder, opened, spoken };
}

test('a line that cannot be decoded leaves the older recording, and nothing else', async () => {
  const { file, opened, out, spoken, temporaryFolder } = await open();
  const bad = path.join(out, 'bad.wav');
  await writeFile(bad, (await readFile(spoken.audio)).subarray(0, 2000));
  await expect(opened.make([spoken, { ...spoken, audio: bad }])).rejects.toThrow(
    `cannot use the saved audio of a line: ${bad} is cut: it has 1956 of 88200 bytes of samples`,
  );
  await opened.abandon();
  expect(await readFile(file, 'utf8')).toBe('older');
  expect(await readdir(temporaryFolder)).toEqual([]);
  expect((await readdir(out)).toSorted()).toEqual([
    'bad.wav',
    'line.wav',
    'talk.foley',
    'talk.wav',
  ]);
});

test('a folder for stems that existed before is kept', async () => {
  const { out } = await createSandbox();
  await mkdir(path.join(out, 'talk.foley'));
  const stems = { folder: path.join(out, 'stems'), speakers: ['ADA'] };
  await mkdir(stems.folder);
  const { signal } = new AbortController();
  const options = {
    system: testSystem(),
    path: path.join(out, 'talk.wav'),
    format: 'wav',
    signal,
  } as const;
  const temporaryFolder = path.join(out, 'talk.foley');
  const opened = await openRecording({
    ...options,
    temporaryFolder,
    timing: 'stretch',
    loudness: -16,
    stems,
  });
  await opened.abandon();
  expect(await readdir(stems.folder)).toEqual([]);
});

test('a missing line names its file', async () => {
  const { opened, spoken } = await open();
  await expect(opened.make([{ ...spoken, audio: 'gone.wav' }])).rejects.toThrow(
    'cannot use the saved audio of a line: gone.wav cannot be read',
  );
  await opened.abandon();
});

test('a cancelled recording leaves the older one', async () => {
  const controller = new AbortController();
  const { file, opened, spoken } = await open('talk.wav', controller.signal);
  const making = opened.make(Array.from({ length: 50 }, () => spoken));
  controller.abort(new Error('cancelled'));
  await expect(making).rejects.toThrow('cancelled');
  await opened.abandon();
  expect(await readFile(file, 'utf8')).toBe('older');
});

test('an m4b is not written to a pipe', async () => {
  const { out } = await createSandbox();
  const file = path.join(out, 'talk.m4b');
  makeFifo(file);
  // A reader, without which a pipe does not open.
  const reader = readFile(file);
  const options = {
    system: testSystem(),
    path: file,
    format: 'm4b',
    temporaryFolder: out,
  } as const;
  const { signal } = new AbortController();
  await expect(
    openRecording({ ...options, timing: 'stretch', loudness: 'off', signal }),
  ).rejects.toThrow(`${file} is a pipe or a device, to which m4b cannot be written`);
  await reader;
});
