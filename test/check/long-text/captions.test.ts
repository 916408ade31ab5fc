import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTimings } from '../../../src/captions/timings.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { meanDistance, onsets } from '../../harness/onsets.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import { bookText } from './book-text.ts';

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
/** A model that takes a thousand characters at once. */
const MODEL = ['-m', 'vendor-s21pro-free', '--local', '--voice-name', 'Clara'] as const;
/** At about 15 characters a second, ten minutes. */
const TEXT = bookText(isFull ? 9_500 : 2_300);

async function sandboxWithBook(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'book.txt'), TEXT);
  return sandbox;
}

async function timesIn(sandbox: Sandbox, audio: string): Promise<{ first: number; last: number }> {
  const file = path.join(sandbox.out, 'book.json');
  const timings = readTimings(JSON.parse(await readFile(file, 'utf8')), file);
  expect(timings.complete).toBe(true);
  expect(timings.text).toBe(TEXT);
  const said = TEXT.match(/[\p{L}\p{N}'.]*[\p{L}\p{N}]/gu) ?? [];
  expect(timings.words.map(({ text }) => text)).toEqual(said);
  const sound = path.join(sandbox.out, audio);
  const decoded = await decodeAudio(await readFile(sound));
  expect(Math.abs(timings.durationMs - decoded.durationMs)).toBeLessThan(60);
  const found = onsets(decoded, 250);
  // Words after an audible pause: their times are compared with the audio.
  const starts = timings.words.flatMap(({ startMs }, index) => {
    const before = timings.words[index - 1]?.endMs ?? 0;
    return startMs - before >= 300 ? [startMs] : [];
  });
  expect(starts.length).toBeGreaterThan(10);
  const quarter = Math.ceil(starts.length / 4);
  return {
    first: meanDistance(starts.slice(0, quarter), found),
    last: meanDistance(starts.slice(-quarter), found),
  };
}

describe('captions of a text that is spoken in parts', () => {
  test.each(isFull ? ['mp3', 'wav', 'ogg'] : ['mp3'])(
    'have one timeline, as true at the end of the %s as at its beginning',
    { timeout: 240_000 },
    async (format) => {
      const sandbox = await sandboxWithBook();
      const args = ['-f', 'book.txt', '-o', `book.${format}`, '--timings', 'book.json'];
      const more = ['--subtitles', 'book.vtt', '--json', ...MODEL];
      const result = await runFoley(['tts', ...args, ...more], { sandbox, timeoutMs: 200_000 });
      expect(result.code, result.stderr).toBe(0);
      const document = parseJsonDocument(result.stdout);
      expect(document).toMatchObject({ captions: { complete: true } });
      expect(Number(Object(document)['parts'])).toBeGreaterThan(2);
      const { first, last } = await timesIn(sandbox, `book.${format}`);
      expect(first).toBeLessThan(60);
      expect(last).toBeLessThan(60);
    },
  );

  test('go to their files while the audio goes to stdout', { timeout: 120_000 }, async () => {
    const sandbox = await sandboxWithBook();
    const args = ['-f', 'book.txt', '-o', '-', '--timings', 'book.json', '-q', ...MODEL];
    const result = await runFoley(['tts', ...args], { sandbox, timeoutMs: 100_000 });
    expect(result.code, result.stderr).toBe(0);
    await writeFile(path.join(sandbox.out, 'heard.mp3'), result.stdout);
    const { first, last } = await timesIn(sandbox, 'heard.mp3');
    expect(first).toBeLessThan(60);
    expect(last).toBeLessThan(60);
  });

  test('are asked for part by part in a dry run', async () => {
    const sandbox = await sandboxWithBook();
    const args = ['-f', 'book.txt', '--subtitles', 'x.srt', '--dry-run', '--json', ...MODEL];
    const { stdout } = await runFoley(['tts', ...args], { sandbox });
    const { parts } = Object(parseJsonDocument(stdout));
    const urls: readonly string[] = parts.map(({ url }: { url: string }) => new URL(url).pathname);
    expect(urls.length).toBeGreaterThan(2);
    expect(new Set(urls)).toEqual(new Set(['/api/open/v3/speech/tts/aligned']));
    expect(filesOf(await snapshot(sandbox.out))).toStrictEqual(['book.txt']);
  });
});
