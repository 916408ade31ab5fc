import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { expectSoundIn } from '../../binary/support/sound.ts';
import { batchBox, lastLine } from '../../binary/batch/batch-box.ts';

const TEXTS = { 'texts/a.txt': 'Alpha speaks here.', 'texts/b.txt': 'Bravo says so too.' };
const ARGS = ['texts', '--output-dir', 'audio', '--subtitles', 'srt', '--timings'];
const CREDITS = Object.values(TEXTS).join('').length;
const ALIGNED_PATH = '/api/open/v3/speech/tts/aligned';

test('every item gets captions beside its audio, and is not billed again', async () => {
  const { batch, box, charged, read } = await batchBox(TEXTS);
  const result = await batch(ARGS);
  expect([result.code, lastLine(result)], result.stderr).toEqual([
    0,
    '2 done, 0 failed, 0 skipped',
  ]);
  const { durationMs } = await expectSoundIn(box, 'audio/a.mp3');
  expect((await read('audio/a.srt')).toString()).toMatch(
    /^1\n00:00:00,\d{3} --> .*\nAlpha speaks here\.\n/,
  );
  const timings = Object(parseJsonDocument(await read('audio/a.json')));
  expect(timings).toMatchObject({ version: 1, text: 'Alpha speaks here.', complete: true });
  expect(Math.abs(timings.durationMs - durationMs)).toBeLessThan(60);
  expect(lastLine(await batch(ARGS))).toBe('0 done, 0 failed, 2 skipped');
  expect(await charged()).toBe(CREDITS);
  // Removed captions cannot be fetched, and are not bought again without the flag.
  await rm(path.join(box.out, 'audio/b.srt'));
  const gone = await batch(ARGS);
  expect([gone.code, lastLine(gone)]).toEqual([3, '0 done, 1 failed, 1 skipped']);
  expect(gone.stderr).toMatch(/b: a file of this item is missing.*\(18 credits\).*--retry-failed/);
  expect(lastLine(await batch([...ARGS, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
  expect(await charged()).toBe(CREDITS + 'Bravo says so too.'.length);
});

test('an interrupted stream is lost with its cost, and bought again only with --retry-failed', async () => {
  const { batch, box, charged, events } = await batchBox(TEXTS, [
    `POST ${ALIGNED_PATH}; truncate=4000; times=1`,
  ]);
  const { items, result } = await events([...ARGS, '-j', '1']);
  expect(result.code).toBe(3);
  expect(items).toMatchObject([
    { id: 'a', status: 'failed', output: null, error: { exitCode: 27 } },
    { id: 'b', status: 'done' },
  ]);
  expect(items[0]?.error?.message).toMatch(/18 credits, and its audio is lost/);
  expect(await charged()).toBe(CREDITS);
  expect((await batch(ARGS)).code).toBe(3);
  expect(await charged()).toBe(CREDITS);
  expect((await readdir(path.join(box.out, 'audio'))).toSorted()).toEqual([
    '.foley',
    'b.json',
    'b.mp3',
    'b.srt',
  ]);
  expect(lastLine(await batch([...ARGS, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
  expect(await charged()).toBe(CREDITS + 'Alpha speaks here.'.length);
});

test('a refused item was not billed, and the next run requests it again', async () => {
  const { batch, charged } = await batchBox(TEXTS, [`POST ${ALIGNED_PATH}; status=402; times=1`]);
  expect((await batch([...ARGS, '-j', '1'])).code).toBe(21);
  expect(await charged()).toBe(0);
  expect(lastLine(await batch(ARGS))).toBe('2 done, 0 failed, 0 skipped');
  expect(await charged()).toBe(CREDITS);
});

test('a cue outside the limits is reported with its file, also with --quiet and --json', async () => {
  const url = 'https://example.org/a-page-with-an-address-longer-than-one-line';
  const { batch } = await batchBox({ 'texts/a.txt': `Read ${url} today.` });
  const quiet = await batch([...ARGS, '-q']);
  expect(quiet.code, quiet.stderr).toBe(0);
  expect(quiet.stderr).toMatch(
    /^foley: audio\/a\.srt: cue \d at 0:[\d.]+ \("https:.*…"\): has a line of 63 columns; the maximum is 42$/m,
  );
  const json = await batch([...ARGS, '--redo', 'a', '--json']);
  expect(json.code, json.stderr).toBe(0);
  expect(json.stderr).toMatch(/^foley: audio\/a\.srt: cue \d .* has a line of 63 columns/m);
});
