import { chmod, rm, stat, truncate, writeFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { batchSandbox } from '../binary/batch/batch-sandbox.ts';
import {
  createFixture,
  NO_RIGHTS,
  onSpeech,
  outputOf,
  paidAudio,
  SOON,
  SPEAK,
  speechRequests,
} from '../binary/support/fixture.ts';
import { firstVoiceId } from '../binary/support/serve.ts';
import { expectSound } from '../binary/support/sound.ts';
import {
  onlyStored,
  runBeside,
  speakReusing,
  storedFiles,
  storeOf,
} from '../binary/support/stored-audio.ts';
import { shortBody } from '../fault-server/catalogue.ts';
import { audio } from '../fault-server/faults/wrong-answer.ts';
import { pause } from '../fault-server/steps.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';

describe('foley tts --reuse', () => {
  test('says that nothing was spent where the cost is unknown', async () => {
    const { mp3 } = await tinyAudio();
    const fixture = await createFixture([onSpeech(audio(mp3), { times: 1 })]);
    await fixture.speak(['--reuse']);
    const again = await fixture.speak(['--reuse']);
    expect(again.stderr).toMatch(/reused, nothing spent/);
    expect(await speakReusing(fixture)).toMatchObject({ reused: true, creditsSaved: null });
    expect(speechRequests(fixture)).toHaveLength(1);
  });

  test('writes the audio to stdout', async () => {
    const fixture = await createFixture([]);
    await speakReusing(fixture);
    const { code, stdout } = await fixture.speak(['--reuse', '-o', '-']);
    expect(code).toBe(0);
    expect(stdout).toEqual(await outputOf(fixture.sandbox));
    expect(speechRequests(fixture)).toHaveLength(1);
  });

  test('is switched on by the setting and the environment, and off by --no-reuse', async () => {
    const fixture = await createFixture([]);
    await fixture.run(['config', 'set', 'reuse', 'true']);
    await fixture.speak();
    expect((await fixture.speak()).stderr).toMatch(/reused/);
    expect(speechRequests(fixture)).toHaveLength(1);
    await fixture.speak(['--no-reuse']);
    await fixture.speak([], { env: { FOLEY_REUSE: 'false' } });
    expect(speechRequests(fixture)).toHaveLength(3);
  });

  test.each([
    ['changed', (file: string) => flipBit(file, 100)],
    [
      'changed in its metadata',
      async (file: string) => flipBit(file, (await stat(file)).size - 60),
    ],
    ['truncated', (file: string) => truncate(file, 150)],
    ['emptied', (file: string) => truncate(file, 0)],
    ['removed', (file: string) => rm(file)],
    ['replaced by other text', (file: string) => writeFile(file, 'not audio'.repeat(100))],
  ])('buys audio again whose stored file was %s, and stores it', async (_, change) => {
    const fixture = await createFixture([]);
    await speakReusing(fixture);
    const bought = await outputOf(fixture.sandbox);
    await change(await onlyStored(fixture.sandbox));
    const again = await speakReusing(fixture, ['-o', 'again.mp3']);
    expect(again).toMatchObject({ creditsUsed: 2, reused: false, creditsSaved: 0, stderr: '' });
    expect(await outputOf(fixture.sandbox, 'again.mp3')).toEqual(bought);
    expect(speechRequests(fixture)).toHaveLength(2);
    expect(await speakReusing(fixture)).toMatchObject({ reused: true });
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test('stores no audio that is incomplete', async () => {
    const { mp3 } = await paidAudio();
    const fixture = await createFixture([onSpeech(shortBody(mp3), { times: 1 })]);
    expect((await fixture.speak(['--reuse'])).code).toBe(25);
    expect(await storedFiles(fixture.sandbox)).toEqual([]);
    expect(await speakReusing(fixture)).toMatchObject({ reused: false });
  });

  test('stores nothing of a command that is killed, and removes its file later', async () => {
    const { mp3 } = await paidAudio();
    const steps = audio(mp3);
    const last = steps.length - 1;
    const body = steps[last];
    if (body?.kind !== 'write') throw new Error('the last step writes the audio');
    const half = Math.floor(body.bytes.length / 2);
    const cut = [
      ...steps.slice(0, last),
      { ...body, bytes: body.bytes.subarray(0, half) },
      pause(),
    ];
    const fixture = await createFixture([onSpeech(cut, { times: 1 })]);
    const running = await fixture.start([...SPEAK, '--reuse']);
    await vi.waitFor(async () => expect(await storedFiles(fixture.sandbox)).toHaveLength(1), SOON);
    running.signal('SIGKILL');
    await running.done;
    const pruned = await fixture.run(['reuse', 'prune', '--json']);
    expect(parseJsonDocument(pruned.stdout)).toMatchObject({ removed: 1 });
    expect(await storedFiles(fixture.sandbox)).toEqual([]);
    expect(await speakReusing(fixture)).toMatchObject({ reused: false });
    expect(await speakReusing(fixture)).toMatchObject({ reused: true });
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test('buys the audio and warns where it cannot be stored', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    await speakReusing(fixture);
    await chmod(storeOf(fixture.sandbox), 0o500);
    const other = await fixture.speak(['--reuse', '--speed', '1.1', '-o', 'other.mp3']);
    expect(other.code, other.stderr).toBe(0);
    expect(other.stderr).toMatch(/--reuse cannot store audio in .*EACCES/);
    await expectSound(await outputOf(fixture.sandbox, 'other.mp3'));
    // What is stored is still copied.
    expect(await speakReusing(fixture)).toMatchObject({ reused: true, stderr: '' });
    await chmod(storeOf(fixture.sandbox), 0o700);
  });

  test('may run in several processes at once', async () => {
    const fixture = await createFixture([]);
    const names = ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3'];
    const results = await Promise.all(names.map((name) => speakReusing(fixture, ['-o', name])));
    const requests = speechRequests(fixture).length;
    expect(results.filter((one) => one['reused'] === false)).toHaveLength(requests);
    await onlyStored(fixture.sandbox);
    expect(await speakReusing(fixture)).toMatchObject({ reused: true });
    const bought = await outputOf(fixture.sandbox);
    for (const name of names) expect(await outputOf(fixture.sandbox, name)).toEqual(bought);
  });
});

describe('the size of the store', () => {
  test('is at most reuse.maxSize: the audio that was not used for the longest time is removed', async () => {
    const fixture = await createFixture([]);
    const say = (speed: string) => speakReusing(fixture, ['--speed', speed]);
    await say('1.1');
    const { size } = await stat(await onlyStored(fixture.sandbox));
    const maximum = Math.floor(size * 2.5);
    await fixture.run(['config', 'set', 'reuse.maxSize', `${maximum}B`]);
    await say('1.2');
    expect(await say('1.1')).toMatchObject({ reused: true });
    await say('1.3');
    expect(await storedFiles(fixture.sandbox)).toHaveLength(2);
    // 1.2 was not used for the longest time.
    expect(await say('1.1')).toMatchObject({ reused: true });
    expect(await say('1.3')).toMatchObject({ reused: true });
    expect(await say('1.2')).toMatchObject({ reused: false });
  });

  test('leaves out audio that is larger than the store', async () => {
    const fixture = await createFixture([]);
    await fixture.run(['config', 'set', 'reuse.maxSize', '100B']);
    expect(await speakReusing(fixture)).toMatchObject({ reused: false, stderr: '' });
    expect(await storedFiles(fixture.sandbox)).toEqual([]);
    expect(await speakReusing(fixture)).toMatchObject({ reused: false });
  });
});

describe('audio that one command bought', () => {
  test('is copied from a batch, and a changed item is bought', async () => {
    const scene = await batchSandbox({ 'texts/a.txt': 'Alpha.', 'texts/b.txt': 'Bravo.' });
    const { charged, events, read, write } = scene;
    await events(['texts', '--output-dir', 'one', '--reuse']);
    const cost = await charged();
    await write('texts/b.txt', 'Bravo changed.');
    const { items, summary } = await events(['texts', '--output-dir', 'two', '--reuse']);
    expect(items.map((item) => Object(item).reused)).toEqual(expect.arrayContaining([true, false]));
    expect(summary).toMatchObject({ creditsSaved: 6, creditsUsed: 14 });
    expect(await read('two/a.mp3')).toEqual(await read('one/a.mp3'));
    expect(await charged()).toBe(cost + 14);
    // The journal of the batch knows reused items.
    const again = await events(['texts', '--output-dir', 'two', '--reuse']);
    expect(again.statuses).toEqual({ a: 'skipped', b: 'skipped' });
  });

  test('is copied again when the output of a reused item was removed, or bought without a copy', async () => {
    const scene = await batchSandbox({ 'texts/a.txt': 'Alpha.' });
    const { charged, events, sandbox } = scene;
    await events(['texts', '--output-dir', 'one', '--reuse']);
    const two = ['texts', '--output-dir', 'two', '--reuse'];
    await events(two);
    await rm(path.join(sandbox.out, 'two/a.mp3'));
    expect((await events(two)).items).toEqual([
      expect.objectContaining({ status: 'done', reused: true }),
    ]);
    expect(await charged()).toBe(6);
    await rm(path.join(sandbox.out, 'two/a.mp3'));
    await runBeside(scene, ['reuse', 'clear', '--yes']);
    expect((await events(two)).items).toEqual([
      expect.objectContaining({ status: 'done', reused: false }),
    ]);
    expect(await charged()).toBe(12);
  });

  test('is bought again for an item that --redo names', async () => {
    const { charged, events } = await batchSandbox({ 'texts/a.txt': 'Alpha.' });
    const batch = ['texts', '--output-dir', 'one', '--reuse'];
    await events(batch);
    const { items } = await events([...batch, '--redo', 'a']);
    expect(items).toEqual([expect.objectContaining({ status: 'done', reused: false })]);
    expect(await charged()).toBe(12);
  });

  test('is copied part by part for items with pauses', async () => {
    const text = 'Alpha. [pause 300ms] Bravo.';
    const { charged, events, read } = await batchSandbox({ 'texts/a.txt': text });
    await events(['texts', '--output-dir', 'one', '--pauses', '--reuse']);
    const cost = await charged();
    const again = ['texts', '--output-dir', 'two', '--pauses', '--reuse'];
    const { items, plan } = await events([...again, '--max-credits', '0', '--credit-rate', '1']);
    expect(plan).toMatchObject({ toReuse: 1, estimatedCredits: 0 });
    expect(items).toEqual([
      expect.objectContaining({ status: 'done', creditsUsed: 0, reused: true, creditsSaved: cost }),
    ]);
    expect(await read('two/a.mp3')).toEqual(await read('one/a.mp3'));
    expect(await charged()).toBe(cost);
  });
});

describe('word times', () => {
  test('are copied with the audio, which plain commands use, too', async () => {
    const scene = await batchSandbox({ 'texts/a.txt': 'Alpha speaks.' });
    const { charged, events, read, service } = scene;
    const voice = ['-v', await firstVoiceId(service), '-m', 'vendor-s21pro'];
    const tts = ['tts', 'Alpha speaks.', ...voice, '--reuse'];
    await runBeside(scene, [...tts, '-o', 'plain.mp3']);
    // Stored audio without word times does not suffice.
    await runBeside(scene, [...tts, '-o', 'a.mp3', '--subtitles', 'a.srt']);
    expect(await charged()).toBe(26);
    await runBeside(scene, [...tts, '-o', 'b.mp3', '--subtitles', 'b.srt']);
    expect(await read('b.srt')).toEqual(await read('a.srt'));
    expect((await read('b.srt')).toString()).toMatch(/Alpha speaks/);
    const { items } = await events([
      'texts',
      '--output-dir',
      'audio',
      '--subtitles',
      'srt',
      '--reuse',
    ]);
    expect(items).toEqual([expect.objectContaining({ status: 'done', reused: true })]);
    expect(await read('audio/a.srt')).toEqual(await read('a.srt'));
    await runBeside(scene, [...tts, '-o', 'c.mp3']);
    expect(await read('c.mp3')).toEqual(await read('a.mp3'));
    expect(await charged()).toBe(26);
  });
});

describe('foley reuse', () => {
  test('prune removes damaged files and keeps the others', async () => {
    const fixture = await createFixture([]);
    await speakReusing(fixture);
    await flipBit(await onlyStored(fixture.sandbox), 100);
    await speakReusing(fixture, ['--speed', '1.1']);
    const pruned = await fixture.run(['reuse', 'prune', '--json']);
    expect(parseJsonDocument(pruned.stdout)).toMatchObject({ removed: 1 });
    expect(await speakReusing(fixture, ['--speed', '1.1'])).toMatchObject({ reused: true });
  });
});

/** Changes a bit of a file. */
async function flipBit(file: string, position: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  await writeFile(file, bytes);
}
