import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const FRENCH = 'Le chat est sur la table et il ne veut pas descendre dans le jardin.';
const TABLE = `id,text\na,"Hello there, it is me."\nb,"${FRENCH}"\nc,"${FRENCH} Il est là."\n`;
const SCRIPT = `ANNA: Hello there, it is me.\nBOB: ${FRENCH}\nANNA: ${FRENCH}\n`;

const COMMANDS: readonly (readonly [string, readonly string[], string, string])[] = [
  ['tts', ['tts', FRENCH, '--dry-run'], 'the text', ''],
  ['live', ['live', FRENCH, '-o', 'a.mp3'], 'the text', ''],
  ['live from a pipe', ['live', '-o', 'a.mp3'], 'the text', FRENCH],
  ['batch', ['batch', 'a.csv', '--dry-run'], 'item b', ''],
  ['batch that speaks', ['batch', 'a.csv', '--output-dir', 'a'], 'item b', ''],
];

async function noticesOf(args: readonly string[], input = ''): Promise<readonly string[]> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.csv'), TABLE);
  await writeFile(path.join(sandbox.out, 'a.txt'), SCRIPT);
  const { code, stderr } = await runFoley([...args, '--local'], { sandbox, input });
  expect(code, stderr).toBe(0);
  return stderr.split('\n').filter((line) => line.includes('looks'));
}

describe('a text that looks French, for an English voice', () => {
  test.each(COMMANDS)('is named once by %s', async (_name, args, subject, input) => {
    const start = `foley: ${subject} looks French, but the default voice `;
    expect(await noticesOf(args, input)).toEqual([expect.stringContaining(start)]);
    expect(await noticesOf([...args, '-l', 'en'], input)).toEqual([]);
  });

  test('is named once by script, with its line and the voice of its speaker', async () => {
    const args = ['script', 'a.txt', '-o', 'a.wav', '-v', 'Martin', '--dry-run'];
    const notice = /^foley: a\.txt, line 2, column 6 looks French, but the voice Martin speaks en/;
    expect(await noticesOf(args)).toEqual([expect.stringMatching(notice)]);
    expect(await noticesOf([...args, '-l', 'en'])).toEqual([]);
  });

  test('is not named if the user chose the voice', async () => {
    for (const args of [
      ['tts', FRENCH, '--dry-run'],
      ['batch', 'a.csv', '--dry-run'],
      ['live', FRENCH, '-o', 'a.mp3'],
    ]) {
      expect(await noticesOf([...args, '-v', 'Clara'])).toEqual([]);
    }
  });
});
