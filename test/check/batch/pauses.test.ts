import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox, removeCopies } from '../../binary/batch/batch-sandbox.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';
import { readWav } from '../../harness/wav.ts';

const TEXT =
  '[pause 300ms] One, two. [pause 800ms] Three [pause 1s][pause 0.5s] four.[pause 250ms]';
const PARTS = ['One, two.', 'Three', 'four.'];
const PAUSES_MS = [300, 800, 1_500, 250];
const TOTAL_MS = 2_850;
/** The service of these tests bills a credit for each character. */
const PRICE = PARTS.join('').length;
const ARGS = ['a.txt', '--pauses', '--format', 'wav', '--output-dir', 'audio'];

async function samplesOf({ read }: Pick<BatchSandbox, 'read'>, name: string) {
  const { channels, sampleRate } = readWav(await read(name));
  return { sampleRate, samples: channels[0] ?? new Float32Array() };
}

/** Speaks the parts as items of their own, as `parts/0.wav` and so on. */
async function speakParts(sandbox: BatchSandbox, format: string, ...more: readonly string[]) {
  await sandbox.write('parts.txt', PARTS.join('\n'));
  const names = ['--name', '{index}.{ext}', '--output-dir', 'parts', '--format', format];
  expect((await sandbox.batch(['--lines', 'parts.txt', ...names, ...more])).code).toBe(0);
  return PARTS.map((_, index) => `parts/${index + 1}.${format}`);
}

async function storedParts({ sandbox }: BatchSandbox): Promise<readonly string[]> {
  const names = filesOf(await snapshot(path.join(sandbox.out, 'audio')));
  return names.filter((name) => name.startsWith('.foley/parts/'));
}

describe('an item with pauses', () => {
  test.each([[[]], [['--timings']]])('is exact to the sample in wav (%j)', async (captions) => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    const { items, result, summary } = await sandbox.events([...ARGS, ...captions]);
    expect(result.code, result.stderr).toBe(0);
    expect(items).toMatchObject([{ status: 'done', creditsUsed: PRICE, characters: PRICE }]);
    expect(summary).toMatchObject({ done: 1, creditsUsed: PRICE });
    expect(await sandbox.charged()).toBe(PRICE);
    const { sampleRate, samples } = await samplesOf(sandbox, 'audio/a.wav');
    let at = 0;
    const parts = await speakParts(sandbox, 'wav');
    for (const [index, ms] of PAUSES_MS.entries()) {
      const length = (ms * sampleRate) / 1000;
      expect(samples.subarray(at, at + length).every((one) => one === 0)).toBe(true);
      const part = parts[index];
      at += length + (part === undefined ? 0 : (await samplesOf(sandbox, part)).samples.length);
    }
    expect(samples.length).toBe(at);
    expect(await storedParts(sandbox)).toEqual([]);
  });

  test.each(['mp3', 'ogg'])('is exact to a frame in %s', async (format) => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    const args = ['a.txt', '--pauses', '--format', format, '--output-dir', 'audio'];
    expect((await sandbox.batch(args)).code).toBe(0);
    let expected = TOTAL_MS;
    for (const part of await speakParts(sandbox, format)) {
      expected += (await decodeAudio(await sandbox.read(part))).durationMs;
    }
    const { durationMs } = await decodeAudio(await sandbox.read(`audio/a.${format}`));
    // A decoder leaves out its own delay where a tag has the length.
    const slackMs = format === 'mp3' ? (576 + 529) / 24 : 0.1;
    expect(Math.abs(durationMs - expected)).toBeLessThanOrEqual(slackMs);
  });

  test('has captions that know the pauses, without the marks', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    const captions = ['--timings', '--subtitles', 'srt'];
    const { code, stderr } = await sandbox.batch([...ARGS, ...captions]);
    expect(code, stderr).toBe(0);
    const timings = async (name: string) => JSON.parse((await sandbox.read(name)).toString());
    const whole = await timings('audio/a.json');
    expect(whole).toMatchObject({ complete: true, text: 'One, two. Three four.' });
    expect((await sandbox.read('audio/a.srt')).toString()).not.toContain('pause');
    const words: { text: string; startMs: number }[] = [];
    let at = 0;
    for (const [index, part] of (await speakParts(sandbox, 'wav', '--timings')).entries()) {
      at += PAUSES_MS[index] ?? 0;
      const own = await timings(part.replace('.wav', '.json'));
      for (const { startMs, text } of own.words) words.push({ text, startMs: startMs + at });
      at += own.durationMs;
    }
    expect(whole.words.map(({ text }: { text: string }) => text)).toEqual(
      words.map(({ text }) => text),
    );
    for (const [index, { startMs }] of words.entries()) {
      expect(Math.abs(whole.words[index].startMs - startMs)).toBeLessThanOrEqual(4);
    }
    expect(await sandbox.events([...ARGS, ...captions])).toMatchObject({
      statuses: { a: 'skipped' },
    });
  });

  test('speaks the breaks of SSML without the flag', async () => {
    const sandbox = await batchSandbox({
      'a.ssml': '<speak>One.<break time="700ms"/>Two.</speak>',
    });
    expect((await sandbox.batch(['a.ssml', '--format', 'wav'])).code).toBe(0);
    const { sampleRate, samples } = await samplesOf(sandbox, 'a.wav');
    const middle = samples.length / 2;
    const silent = samples.subarray(middle - 0.3 * sampleRate, middle + 0.3 * sampleRate);
    expect(silent.every((one) => one === 0)).toBe(true);
    expect(await sandbox.charged()).toBe('One.Two.'.length);
  });

  test('is refused if it has only pauses', async () => {
    const sandbox = await batchSandbox({ 'a.txt': '[pause 1s] … [pause 1s]' });
    const { code, stderr } = await sandbox.batch(ARGS);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a.txt has only pauses'),
    });
  });
});

describe('the cost of an item with pauses', () => {
  test('a changed pause and a removed output cost nothing, a changed part costs that part', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    expect((await sandbox.batch(ARGS)).code).toBe(0);
    const before = await sandbox.read('audio/a.wav');
    await sandbox.write('a.txt', TEXT.replace('800ms', '900ms'));
    const dryRun = await sandbox.batch([...ARGS, '--dry-run']);
    expect(dryRun.stdout.toString()).toContain('1 to speak (0 characters, about 0 credits)');
    expect(await sandbox.events(ARGS)).toMatchObject({
      plan: { toSpeak: 1, characters: 0, estimatedCredits: 0 },
      items: [{ status: 'done', creditsUsed: 0 }],
    });
    expect((await sandbox.read('audio/a.wav')).length).toBeGreaterThan(before.length);
    await sandbox.write('a.txt', TEXT.replace('Three', 'Thirty'));
    expect(await sandbox.events(ARGS)).toMatchObject({
      plan: { toSpeak: 1, characters: 'Thirty'.length },
      items: [{ status: 'done', creditsUsed: 'Thirty'.length }],
      summary: { creditsUsed: 'Thirty'.length },
    });
    await sandbox.write('a.txt', TEXT);
    expect(await sandbox.events(ARGS)).toMatchObject({ statuses: { a: 'done' } });
    expect(await sandbox.read('audio/a.wav')).toEqual(before);
    await rm(path.join(sandbox.sandbox.out, 'audio/a.wav'));
    await rm(path.join(sandbox.sandbox.out, 'audio/.foley/kept'), { recursive: true, force: true });
    expect(await sandbox.events(ARGS)).toMatchObject({
      items: [{ status: 'done', creditsUsed: 0 }],
    });
    expect(await sandbox.read('audio/a.wav')).toEqual(before);
    expect(await sandbox.charged()).toBe(PRICE + 'Thirty'.length);
  });

  test('equal parts are bought once, also by two items', async () => {
    const sandbox = await batchSandbox({
      'a.txt': 'Amen. [pause 1s] Amen. [pause 1s] Amen.',
      'b.txt': 'Amen. [pause 2s] So it is.',
    });
    const args = ['a.txt', 'b.txt', ...ARGS.slice(1)];
    const { plan, result, summary } = await sandbox.events(args);
    expect(result.code, result.stderr).toBe(0);
    expect(plan).toMatchObject({ characters: 'Amen.So it is.'.length });
    expect(await sandbox.charged()).toBe('Amen.So it is.'.length);
    expect(summary).toMatchObject({ done: 2, creditsUsed: 'Amen.So it is.'.length });
  });

  test('--redo buys every part again, once', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    expect((await sandbox.batch(ARGS)).code).toBe(0);
    const redone = await sandbox.events([...ARGS, '--redo', 'a']);
    expect(redone).toMatchObject({ plan: { characters: PRICE }, summary: { creditsUsed: PRICE } });
    expect(await sandbox.events(ARGS)).toMatchObject({ statuses: { a: 'skipped' } });
    expect(await sandbox.charged()).toBe(2 * PRICE);
  });

  test('a failed part fails the item; --retry-failed buys only that part', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT }, ['POST /**/jobs; job=fail; every=3']);
    const first = await sandbox.events([...ARGS, '-j', '1']);
    expect(first.result.code).toBe(20);
    expect(first.items).toMatchObject([{ status: 'failed', error: { exitCode: 20 } }]);
    const error = {
      message: expect.stringMatching(/^this item failed: part 3 of 3: (?!the job)/),
      hint: expect.stringContaining('2 of 3 parts are paid for and stored: only the other parts'),
      billed: 'yes',
    };
    expect(await sandbox.events(ARGS)).toMatchObject({ items: [{ status: 'failed', error }] });
    const again = await sandbox.events([...ARGS, '--retry-failed']);
    expect(again.result.code, again.result.stderr).toBe(0);
    expect(again.summary).toMatchObject({ done: 1, creditsUsed: PRICE });
    expect(await sandbox.charged()).toBe(PRICE);
    expect(await storedParts(sandbox)).toEqual([]);
  });

  test('an interrupted part with word times is lost; --retry-failed buys only that part', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT }, [
      'POST /**/aligned; reset-after=9000; times=1',
    ]);
    const args = [...ARGS, '--timings', '-j', '1'];
    expect((await sandbox.events(args)).items).toMatchObject([{ error: { exitCode: 27 } }]);
    const message = 'this item may have been billed (9 credits), and the audio is lost';
    const lostItem = { error: { exitCode: 27, message } };
    expect((await sandbox.events(args)).items).toMatchObject([lostItem]);
    const lost = await sandbox.charged();
    const again = await sandbox.events([...args, '--retry-failed']);
    expect(again.result.code, again.result.stderr).toBe(0);
    expect(again.summary).toMatchObject({ done: 1, creditsUsed: PRICE });
    const [first = ''] = PARTS;
    expect([lost, await sandbox.charged()]).toEqual([first.length, PRICE + first.length]);
    expect(await storedParts(sandbox)).toEqual([]);
  });

  test('--max-credits counts only the parts that are not paid for', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    const limit = ['--credit-rate', '1', '--max-credits'];
    expect((await sandbox.batch([...ARGS, ...limit, `${PRICE - 1}`])).code).toBe(2);
    expect((await sandbox.batch([...ARGS, ...limit, `${PRICE}`])).code).toBe(0);
    await sandbox.write('a.txt', TEXT.replace('four', 'five'));
    expect((await sandbox.batch([...ARGS, ...limit, '4'])).code).toBe(2);
    expect((await sandbox.batch([...ARGS, ...limit, '5'])).code).toBe(0);
  });

  test('the estimate rounds up the cost of each part, as the service does', async () => {
    const parts = ['Hi.', 'Ho.', 'Ha.', 'He.', 'Hu.'];
    const item = { text: parts.join(' [pause 100ms] '), modelId: 'vendor-s21pro-flash' };
    const sandbox = await batchSandbox({ 'items.jsonl': JSON.stringify(item) });
    const args = ['--jsonl', 'items.jsonl', '--pauses', '--credit-rate', '0.5'];
    expect((await sandbox.batch([...args, '--max-credits', '9'])).code).toBe(2);
    expect(await sandbox.events([...args, '--max-credits', '10'])).toMatchObject({
      plan: { estimatedCredits: 10 },
      summary: { done: 1, creditsUsed: 10 },
    });
    expect(await sandbox.charged()).toBe(10);
  });

  test('the audio of a part stays stored while an item with the same part is not done', async () => {
    const texts = { 'a.txt': 'Broken. [pause 100ms] Amen.', 'b.txt': 'Amen. [pause 1s] Fine.' };
    const sandbox = await batchSandbox(texts, ['POST /**/aligned; reset-after=9000; times=1']);
    const args = ['a.txt', 'b.txt', ...ARGS.slice(1), '--timings', '-j', '1'];
    expect(await sandbox.events(args)).toMatchObject({ statuses: { a: 'failed', b: 'done' } });
    expect(await sandbox.events(args)).toMatchObject({ statuses: { a: 'failed', b: 'skipped' } });
    const before = await sandbox.charged();
    expect(await sandbox.events([...args, '--retry-failed'])).toMatchObject({
      summary: { done: 1 },
    });
    expect((await sandbox.charged()) - before).toBe('Broken.'.length);
    expect(await storedParts(sandbox)).toEqual([]);
  });

  test('replaced audio stays stored if a part has the same audio', async () => {
    const sandbox = await batchSandbox({ 'a.txt': 'Hello.' });
    const args = [...ARGS, '--timings'];
    await sandbox.events(args);
    const before = await sandbox.read('audio/a.wav');
    await sandbox.write('a.txt', 'Hello. [pause 1s] World.');
    expect(await sandbox.events(args)).toMatchObject({ statuses: { a: 'done' } });
    await sandbox.write('a.txt', 'Hello.');
    expect(await sandbox.events(args)).toMatchObject({
      items: [{ status: 'done', creditsUsed: 0 }],
    });
    expect(await sandbox.read('audio/a.wav')).toEqual(before);
  });

  test('an item whose parts are all stored is joined again instead of being lost', async () => {
    const sandbox = await batchSandbox({ 'a.txt': TEXT });
    // Shards do not remove the parts.
    const args = [...ARGS, '--timings', '--shard', '1/2'];
    await sandbox.events(args);
    const before = await sandbox.read('audio/a.wav');
    await rm(path.join(sandbox.sandbox.out, 'audio/a.wav'));
    await removeCopies(sandbox.sandbox);
    expect(await sandbox.events(args)).toMatchObject({
      plan: { toFetch: 1, failed: 0 },
      items: [{ status: 'done', creditsUsed: 0 }],
    });
    expect(await sandbox.read('audio/a.wav')).toEqual(before);
    expect(await sandbox.charged()).toBe(PRICE);
  });

  test('pauses that are too long for a wav file are refused before anything is billed', async () => {
    const sandbox = await batchSandbox({ 'a.txt': `Hi.${'[pause 60s]'.repeat(890)}` });
    const { code, stderr } = await sandbox.batch(ARGS);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a.txt: the pauses (--pauses or <break>) last 53400 s'),
    });
    expect(await sandbox.charged()).toBe(0);
  });

  test('--max-credits also counts the parts of a failed item', async () => {
    const texts = { 'a.txt': TEXT, 'b.txt': 'Another text.' };
    const sandbox = await batchSandbox(texts, ['POST /**/jobs; job=fail; every=3']);
    const limit = ['--credit-rate', '0.1', '--max-credits', '15', '-j', '1'];
    const first = await sandbox.events(['a.txt', 'b.txt', ...ARGS.slice(1), ...limit]);
    expect(first.summary).toMatchObject({ failed: 1, notTried: 1 });
    const error = { message: expect.stringContaining('part 3 of 3: '), billed: 'yes' };
    expect(first.items).toMatchObject([{ status: 'failed', error }]);
    expect(await sandbox.charged()).toBe('One, two.Three'.length);
  });

  test('--max-credits also counts a lost part', async () => {
    const texts = { 'a.txt': 'Broken. [pause 1s] Amen.', 'b.txt': 'Another text.' };
    const sandbox = await batchSandbox(texts, ['POST /**/aligned; reset-after=9000; times=1']);
    const limit = ['--credit-rate', '0.1', '--max-credits', '8', '-j', '1', '--timings'];
    const first = await sandbox.events(['a.txt', 'b.txt', ...ARGS.slice(1), ...limit]);
    expect(first.summary).toMatchObject({ failed: 1, notTried: 1 });
    expect(await sandbox.charged()).toBe('Broken.'.length);
  });

  test.each([[[]], [['--timings']]])(
    'a part that the voice cannot speak is left out and reported (%j)',
    async (captions) => {
      const sandbox = await batchSandbox({
        'a.txt': 'One. [pause 500ms] привет! [pause 300ms] Two.',
      });
      const { items, result } = await sandbox.events([...ARGS, ...captions]);
      expect(result.code, result.stderr).toBe(3);
      expect(items).toMatchObject([
        { status: 'done', creditsUsed: 8, unspoken: [{ text: 'привет', start: 5 }] },
      ]);
      expect(await sandbox.charged()).toBe(8);
      const again = await sandbox.events([...ARGS, ...captions]);
      expect(again).toMatchObject({ statuses: { a: 'skipped' }, result: { code: 0 } });
      expect(await storedParts(sandbox)).toEqual([]);
    },
  );

  test('a part that one item could not send and another left out is left out of later items', async () => {
    const texts = { 'a.txt': 'One. [pause 1s] привет', 'b.txt': 'Two. [pause 1s] привет' };
    const sandbox = await batchSandbox(texts, ['POST /**/jobs; status=503; times=3']);
    const args = ARGS.slice(1);
    const first = await sandbox.events(['a.txt', 'b.txt', ...args, '--max-retries', '0']);
    expect(first.statuses).toEqual({ a: 'failed', b: 'failed' });
    expect(await sandbox.events(['b.txt', ...args])).toMatchObject({ statuses: { b: 'done' } });
    await sandbox.write('c.txt', 'Three. [pause 1s] привет');
    expect(await sandbox.events(['c.txt', ...args])).toMatchObject({ statuses: { c: 'done' } });
    expect(await sandbox.charged()).toBe('Two.Three.'.length);
  });

  test('an item of which the voice can speak no part fails without a charge', async () => {
    const sandbox = await batchSandbox({ 'a.txt': 'привет [pause 300ms] мир' });
    expect((await sandbox.batch(ARGS)).code).toBe(20);
    expect((await sandbox.batch(ARGS)).code).toBe(20);
    expect((await sandbox.batch([...ARGS, '--retry-failed'])).code).toBe(20);
    expect(await sandbox.charged()).toBe(0);
  });
});
