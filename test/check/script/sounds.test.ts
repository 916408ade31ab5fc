import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { systemFiles } from '../../../src/system/file-system.ts';
import { make } from '../../script/recording/make.ts';
import { testSystem } from '../../files/file-simulation.ts';

const LINES = [
  { seconds: 0.5, speaker: 'ADA', sampleRate: 16_000, startMs: 0 },
  { seconds: 0.9, speaker: 'BOB', level: 0.9, startMs: 1_000 },
  { seconds: 0.5, speaker: 'ADA', hertz: 700, startMs: 1_800 },
];

/** Makes a recording with measured loudness, stretched lines and tracks; counts how often each line is opened. */
async function makeCounted(changes: { readonly isFull: boolean }) {
  const opened = new Map<string, number>();
  const files = {
    ...systemFiles,
    async open(...args: Parameters<typeof systemFiles.open>) {
      const name = path.basename(args[0]);
      opened.set(name, (opened.get(name) ?? 0) + 1);
      const handle = await systemFiles.open(...args);
      if (changes.isFull && name.endsWith('.pcm')) {
        handle.write = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
      }
      return handle;
    },
  };
  const stems = { folder: 'stems', speakers: ['ADA', 'BOB'] };
  const made = await make(LINES, { system: testSystem({ files }), loudness: -20, stems });
  const tracks = await Promise.all(
    ['ADA', 'BOB'].map((name) => readFile(path.join(made.stems, `${name}.wav`))),
  );
  const names = await readdir(path.join(made.out, 'talk.foley'));
  return { opened, names, sounds: [await readFile(made.file), ...tracks] };
}

test('each line is decoded once, into a file that is removed', async () => {
  const { names, opened } = await makeCounted({ isFull: false });
  expect([opened.get('0.wav'), opened.get('1.wav'), opened.get('2.wav')]).toEqual([1, 1, 1]);
  expect(names).toEqual(['0.wav', '1.wav', '2.wav']);
});

test('lines are decoded again, with the same sound, if the disk has no room for their samples', async () => {
  const [stored, decoded] = [
    await makeCounted({ isFull: false }),
    await makeCounted({ isFull: true }),
  ];
  expect(decoded.opened.get('1.wav')).toBeGreaterThan(1);
  expect(decoded.sounds).toEqual(stored.sounds);
  expect(decoded.names).toEqual(['0.wav', '1.wav', '2.wav']);
});
