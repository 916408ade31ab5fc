import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  ALIGNED_PATH,
  audioEvent,
  completedEvent,
  eventsAround,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import { paidAudio, createFixture, VOICE } from '../../binary/support/fixture.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import { expectSoundIn } from '../../binary/support/sound.ts';
import {
  batchSandbox,
  copyFolders,
  lastLine,
  removeCopies,
} from '../../binary/batch/batch-sandbox.ts';

const TEXTS = { 'texts/a.txt': 'Alpha speaks here.', 'texts/b.txt': 'Bravo says so too.' };
const ARGS = ['texts', '--output-dir', 'audio', '--subtitles', 'srt', '--timings'];
const CREDITS = Object.values(TEXTS).join('').length;
const SOON = { interval: 10, timeout: 60_000 };

test('every item gets captions beside its audio, and is not billed again', async () => {
  const { batch, sandbox, charged, read } = await batchSandbox(TEXTS);
  const result = await batch(ARGS);
  expect([result.code, lastLine(result)], result.stderr).toEqual([
    0,
    '2 done, 0 failed, 0 skipped',
  ]);
  const { durationMs } = await expectSoundIn(sandbox, 'audio/a.mp3');
  expect((await read('audio/a.srt')).toString()).toMatch(
    /^1\n00:00:00,\d{3} --> .*\nAlpha speaks here\.\n/,
  );
  const timings = Object(parseJsonDocument(await read('audio/a.json')));
  expect(timings).toMatchObject({ version: 1, text: 'Alpha speaks here.', complete: true });
  expect(Math.abs(timings.durationMs - durationMs)).toBeLessThan(60);
  expect(lastLine(await batch(ARGS))).toBe('0 done, 0 failed, 2 skipped');
  expect(await charged()).toBe(CREDITS);
  // Removed captions cannot be fetched, and are not bought again without the flag.
  await rm(path.join(sandbox.out, 'audio/b.srt'));
  await removeCopies(sandbox);
  const gone = await batch(ARGS);
  expect([gone.code, lastLine(gone)]).toEqual([3, '0 done, 1 failed, 1 skipped']);
  expect(gone.stderr).toMatch(/b: a file of this item is missing.*\(18 credits\).*--retry-failed/);
  expect(lastLine(await batch([...ARGS, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
  expect(await charged()).toBe(CREDITS + 'Bravo says so too.'.length);
});

test('an interrupted stream is lost with its cost, and bought again only with --retry-failed', async () => {
  const { batch, sandbox, charged, events } = await batchSandbox(TEXTS, [
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
  expect((await readdir(path.join(sandbox.out, 'audio'))).toSorted()).toEqual([
    '.foley',
    'b.json',
    'b.mp3',
    'b.srt',
  ]);
  expect(lastLine(await batch([...ARGS, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
  expect(await charged()).toBe(CREDITS + 'Alpha speaks here.'.length);
});

test.each([
  ['captioned audio', TEXTS['texts/b.txt'], []],
  ['captioned audio with pauses', 'Bravo says so [pause 200ms] too.', ['--pauses']],
])('%s survives the loss of its output folder, also after an edit', async (_what, text, more) => {
  const { batch, sandbox, charged, events, read, write } = await batchSandbox({
    ...TEXTS,
    'texts/b.txt': text,
  });
  const args = [...ARGS, ...more];
  expect((await batch(args)).code).toBe(0);
  const paid = await charged();
  const names = ['a.mp3', 'a.srt', 'a.json'].map((name) => `audio/${name}`);
  const before = await Promise.all(names.map(read));
  const edited = 'Bravo says something else.';
  for (const next of [text, edited, edited]) {
    await write('texts/b.txt', next);
    // An engine such as Snakemake empties the folder of a rule before the rule runs again.
    await rm(path.join(sandbox.out, 'audio'), { recursive: true });
    const planned = await batch([...args, '--dry-run', '--credit-rate', '1']);
    const { items, summary, result } = await events(args);
    expect([result.code, summary['done']], result.stderr).toEqual([0, 2]);
    expect(planned.stdout + planned.stderr).toMatch(
      items[1]?.creditsUsed === 0 ? /reuse/ : /speak/,
    );
    expect(items.find(({ id }) => id === 'a')).toMatchObject({ creditsUsed: 0 });
    expect(await Promise.all(names.map(read))).toEqual(before);
    expect(await charged()).toBe(paid + (next === edited ? edited.length : 0));
  }
  expect((await read('audio/b.srt')).toString()).toContain(edited);
  // Removed captions are restored, too.
  await rm(path.join(sandbox.out, 'audio/b.srt'));
  expect(lastLine(await batch(args))).toBe('1 done, 0 failed, 1 skipped');
  expect((await read('audio/b.srt')).toString()).toContain(edited);
});

test.each([[[]], [['--pauses']]])(
  'a batch (%j) that is repeated without captions, and with them again, buys nothing',
  async (more) => {
    const texts = { ...TEXTS, 'texts/b.txt': 'Bravo says so [pause 200ms] too.' };
    const { batch, sandbox, charged, events, read } = await batchSandbox(texts);
    const plain = ['texts', '--output-dir', 'audio', ...more];
    const captioned = [...ARGS, ...more];
    expect((await batch(captioned)).code).toBe(0);
    const paid = await charged();
    const audio = await read('audio/a.mp3');
    const dry = await batch([...plain, '--dry-run']);
    expect(dry.stdout.toString()).toMatch(/^0 to speak .* 2 done before/m);
    expect((await events(plain)).summary).toMatchObject({ skipped: 2, creditsUsed: 0 });
    // The copies in the state folder have the audio, too.
    await rm(path.join(sandbox.out, 'audio/a.mp3'));
    expect((await events(plain)).statuses).toEqual({ a: 'done', b: 'skipped' });
    await rm(path.join(sandbox.out, 'audio'), { recursive: true });
    expect((await events(plain)).summary).toMatchObject({ done: 2, creditsUsed: 0 });
    expect((await events(captioned)).summary).toMatchObject({ done: 2, creditsUsed: 0 });
    expect(await read('audio/a.mp3')).toEqual(audio);
    expect(await charged()).toBe(paid);
    // Without any copy, nothing is bought again without the flag.
    await removeCopies(sandbox);
    await rm(path.join(sandbox.out, 'audio/a.mp3'));
    const lost = await batch(plain);
    expect([lost.code, lastLine(lost)]).toEqual([3, '0 done, 1 failed, 1 skipped']);
    expect(lost.stderr).toMatch(/a: a file of this item is missing, .*--retry-failed/);
    expect(await charged()).toBe(paid);
    expect(lastLine(await batch([...plain, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
    expect(await charged()).toBe(paid + TEXTS['texts/a.txt'].length);
    expect(lastLine(await batch(plain))).toBe('0 done, 0 failed, 2 skipped');
  },
);

test('a stream that failed and was refunded does not stop a batch without captions', async () => {
  const { batch, charged } = await batchSandbox(TEXTS, [
    `POST ${ALIGNED_PATH}; status=402; times=1`,
  ]);
  expect((await batch([...ARGS, '-j', '1'])).code).toBe(21);
  const plain = await batch(['texts', '--output-dir', 'audio']);
  expect([plain.code, lastLine(plain)]).toEqual([0, '2 done, 0 failed, 0 skipped']);
  expect(await charged()).toBe(CREDITS);
});

test.each([[[]], [['--dry-run', '--credit-rate', '1']]])(
  'a batch (%j) that is repeated with captions says before it buys that the audio is bought again',
  async (more) => {
    const { batch, charged } = await batchSandbox(TEXTS);
    expect((await batch(['texts/a.txt', '--output-dir', 'audio'])).code).toBe(0);
    const first = await charged();
    const result = await batch([...ARGS, ...more]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(
      /^foley: 1 item has audio without captions: .* billed again.*`foley align`/m,
    );
    expect(await charged()).toBe(more.length === 0 ? first + CREDITS : first);
    const again = await batch(ARGS);
    expect(again.stderr).not.toMatch(more.length === 0 ? /without captions/ : /no match/);
  },
);

test.each([
  ['an output folder that is removed', 'rm'],
  ['an output file that is replaced by a folder', 'mkdir'],
])('captioned audio survives %s while it arrives', async (_what, how) => {
  const { mp3 } = await paidAudio();
  const [head, rest] = [mp3.bytes.subarray(0, 100), mp3.bytes.subarray(100)];
  const answer = eventsAround(
    [audioEvent(head)],
    [audioEvent(rest), snapshotEvent(0, [['hi', 20, 400]]), completedEvent()],
  );
  const { sandbox, run, server } = await createFixture([
    { method: 'POST', path: ALIGNED_PATH, answer },
  ]);
  await writeFile(path.join(sandbox.out, 'a.txt'), 'hi');
  const args = ['batch', 'a.txt', '-v', VOICE, '--output-dir', 'audio', '--timings'];
  const first = run(args);
  await server.paused();
  if (how === 'rm') await rm(path.join(sandbox.out, 'audio'), { recursive: true });
  else await mkdir(path.join(sandbox.out, 'audio/a.mp3'));
  await server.advance();
  const { code, stderr } = await first;
  const exit = how === 'rm' ? 30 : 31;
  expect([code, lastLine(await first)]).toEqual([exit, '0 done, 1 failed, 0 skipped']);
  expect(stderr).toMatch(/^foley: a.*; the audio \(2 credits\) is saved .* again/m);
  await rm(path.join(sandbox.out, 'audio/a.mp3'), { recursive: true, force: true });
  const again = await run(args);
  expect([again.code, lastLine(again)], again.stderr).toEqual([0, '1 done, 0 failed, 0 skipped']);
  expect(await readFile(path.join(sandbox.out, 'audio/a.mp3'))).toEqual(mp3.bytes);
  expect((await readFile(path.join(sandbox.out, 'audio/a.json'))).toString()).toContain('"hi"');
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test.each(['', '.srt'])(
  'a changed copy (X%s) of captioned audio is not used, and nothing is bought again',
  async (extension) => {
    const { batch, sandbox, charged } = await batchSandbox(TEXTS);
    expect((await batch(ARGS)).code).toBe(0);
    for (const folder of await copyFolders(sandbox)) {
      const names = (await readdir(folder)).filter((name) => path.extname(name) === extension);
      expect(names).toHaveLength(2);
      for (const file of names.map((name) => path.join(folder, name))) {
        await writeFile(file, (await readFile(file)).reverse());
      }
    }
    await rm(path.join(sandbox.out, 'audio'), { recursive: true });
    const result = await batch(ARGS);
    expect(lastLine(result)).toBe('0 done, 2 failed, 0 skipped');
    expect(result.code).toBe(27);
    expect(await charged()).toBe(CREDITS);
  },
);

test('a deleted folder is bought again with --redo, and from another service', async () => {
  const { batch, sandbox, charged } = await batchSandbox(TEXTS);
  expect((await batch(ARGS)).code).toBe(0);
  await rm(path.join(sandbox.out, 'audio'), { recursive: true });
  expect(lastLine(await batch([...ARGS, '--redo', 'a']))).toBe('2 done, 0 failed, 0 skipped');
  expect(await charged()).toBe(CREDITS + TEXTS['texts/a.txt'].length);
  await rm(path.join(sandbox.out, 'audio'), { recursive: true });
  const embedded = await runFoley(['batch', ...ARGS], { sandbox });
  expect(embedded.code, embedded.stderr).toBe(0);
  expect(lastLine(embedded)).toBe('2 done, 0 failed, 0 skipped');
});

test.each([[[]], [['--pauses']]])(
  'after a deleted folder, other captions (%j) are refused without losing the copies',
  async (more) => {
    const texts = { ...TEXTS, 'texts/b.txt': 'Bravo says so [pause 200ms] too.' };
    const { batch, sandbox, charged, events } = await batchSandbox(texts);
    const args = ['texts', '--output-dir', 'audio', ...more, '--subtitles'];
    expect((await batch([...args, 'srt'])).code).toBe(0);
    const credits = await charged();
    await rm(path.join(sandbox.out, 'audio'), { recursive: true });
    const other = await batch([...args, 'vtt']);
    expect([other.code, lastLine(other)]).toEqual([27, '0 done, 2 failed, 0 skipped']);
    expect(other.stderr).toMatch(
      /a: a file of this item is missing, .* billed again \(\d+ credits\)/,
    );
    expect((await events([...args, 'srt'])).summary).toMatchObject({ done: 2, creditsUsed: 0 });
    await expectSoundIn(sandbox, 'audio/b.mp3');
    expect(await charged()).toBe(credits);
  },
);

test.each([[[]], [['--pauses']]])(
  'a batch (%j) whose folder was deleted fetches its audio and reports no cost',
  async (more) => {
    const { charged, sandbox, events } = await batchSandbox({
      ...TEXTS,
      'texts/b.txt': 'Bravo says so [pause 200ms] too.',
    });
    const args = ['texts', '--output-dir', 'audio', ...more];
    const first = await events(args);
    expect(first.summary).toMatchObject({ done: 2, creditsUsed: await charged() });
    for (const folder of ['audio/.foley', 'audio']) {
      await rm(path.join(sandbox.out, folder), { recursive: true });
      expect((await events(args)).summary).toMatchObject({ done: 2, creditsUsed: 0 });
      await expectSoundIn(sandbox, 'audio/b.mp3');
      expect(first.summary).toMatchObject({ creditsUsed: await charged() });
    }
  },
);

test.each([
  ['before the service began to speak', `POST ${ALIGNED_PATH}; delay=4s; times=1`],
  ['with --pauses', `POST ${ALIGNED_PATH}; delay=4s; times=1`, '--pauses'],
])('two SIGTERM %s lose nothing: the next run asks once more', async (_when, fault, ...more) => {
  const { batch, sandbox, charged, service } = await batchSandbox(TEXTS, [fault]);
  const args = [...ARGS, ...more, '-j', '1'];
  const running = await startFoley(
    ['batch', '-v', await firstVoiceId(service), '-m', 'vendor-s21pro', ...args],
    { sandbox, env: service.env },
  );
  await vi.waitFor(async () => expect(await journalIn(sandbox)).toContain('"state":"sent"'), SOON);
  running.signal('SIGTERM');
  await running.waitFor('stderr', /stopping; .*send SIGTERM again/);
  running.signal('SIGTERM');
  expect((await running.done).signal).toBe('SIGTERM');
  const result = await batch(args);
  expect([result.code, lastLine(result)], result.stderr).toEqual([
    0,
    '2 done, 0 failed, 0 skipped',
  ]);
  await expectSoundIn(sandbox, 'audio/a.mp3');
  expect(await charged()).toBe(CREDITS);
});

test('a request without a response stays open, and is lost once the service says that it was completed', async () => {
  const { batch, charged, events } = await batchSandbox(TEXTS, [
    `POST ${ALIGNED_PATH}; reset-after=0; times=1`,
  ]);
  const args = [...ARGS, '-j', '1'];
  const first = await events([...args, '--max-retries', '0']);
  expect(first.items).toMatchObject([
    { id: 'a', status: 'failed', error: { exitCode: 26 } },
    { id: 'b', status: 'done' },
  ]);
  expect(first.result.stderr).not.toMatch(/--retry-failed/);
  for (const _ of [1, 2]) {
    const next = await events([...args, '--max-retries', '0']);
    expect(next.statuses).toEqual({ a: 'failed', b: 'skipped' });
    expect(next.items.find(({ id }) => id === 'a')?.error).toMatchObject({ exitCode: 27 });
  }
  expect(await charged()).toBe(CREDITS);
  expect(lastLine(await batch([...args, '--retry-failed']))).toBe('1 done, 0 failed, 1 skipped');
});

test('on the embedded service, a stream that ended with its process was refunded, and is spoken by the next run', async () => {
  const sandbox = await createSandbox();
  const text = 'It is a long sentence about the sea and the wind. '.repeat(14).trim();
  await writeFile(path.join(sandbox.out, 'a.txt'), text);
  const args = ['batch', 'a.txt', '--output-dir', 'audio', '--timings'];
  const running = await startFoley(args, { sandbox });
  await vi.waitFor(
    async () => expect(await journalIn(sandbox)).toContain('"state":"accepted"'),
    SOON,
  );
  running.signal('SIGKILL');
  await running.done;
  const result = await runFoley(args, { sandbox });
  expect([result.code, lastLine(result)], result.stderr).toEqual([
    0,
    '1 done, 0 failed, 0 skipped',
  ]);
});

async function journalIn({ out }: Sandbox): Promise<string> {
  const folder = path.join(out, 'audio/.foley/journal');
  const names = await readdir(folder).catch(() => []);
  const read = names.map((name) => readFile(path.join(folder, name), 'utf8'));
  return (await Promise.all(read)).join('');
}

test('a refused item was not billed, and the next run requests it again', async () => {
  const { batch, charged } = await batchSandbox(TEXTS, [
    `POST ${ALIGNED_PATH}; status=402; times=1`,
  ]);
  expect((await batch([...ARGS, '-j', '1'])).code).toBe(21);
  expect(await charged()).toBe(0);
  expect(lastLine(await batch(ARGS))).toBe('2 done, 0 failed, 0 skipped');
  expect(await charged()).toBe(CREDITS);
});

test('a cue outside the limits is reported with its file, also with --quiet and --json', async () => {
  const url = 'https://example.org/a-page-with-an-address-longer-than-one-line';
  const { batch } = await batchSandbox({ 'texts/a.txt': `Read ${url} today.` });
  const quiet = await batch([...ARGS, '-q']);
  expect(quiet.code, quiet.stderr).toBe(0);
  expect(quiet.stderr).toMatch(
    /^foley: audio\/a\.srt: cue \d at 0:[\d.]+ \("https:.*…"\): has a line of 63 columns; the maximum is 42$/m,
  );
  const json = await batch([...ARGS, '--redo', 'a', '--json']);
  expect(json.code, json.stderr).toBe(0);
  expect(json.stderr).toMatch(/^foley: audio\/a\.srt: cue \d .* has a line of 63 columns/m);
});
