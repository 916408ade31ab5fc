import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { batchSandbox } from './batch/batch-sandbox.ts';
import { createFixture, filesLeft, OPEN, outputOf, speechRequests } from './support/fixture.ts';
import { firstVoiceId } from './support/serve.ts';
import { onlyStored, runBeside, speakReusing, storedFiles } from './support/stored-audio.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';

describe('foley tts --reuse', () => {
  test('copies the audio of an equal request, which costs nothing', async () => {
    const fixture = await createFixture([]);
    expect(await speakReusing(fixture)).toMatchObject({
      creditsUsed: 2,
      reused: false,
      creditsSaved: 0,
    });
    const bought = await outputOf(fixture.sandbox);
    const result = await fixture.speak(['--reuse', '-o', 'again.mp3']);
    expect(result).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/reused, 2 credits not spent/),
    });
    expect(result.stderr).not.toMatch(/credits? used/);
    expect(await speakReusing(fixture, ['-o', 'third.mp3'])).toMatchObject({
      output: 'third.mp3',
      creditsUsed: 0,
      reused: true,
      creditsSaved: 2,
    });
    for (const name of ['again.mp3', 'third.mp3']) {
      expect(await outputOf(fixture.sandbox, name)).toEqual(bought);
    }
    expect(speechRequests(fixture)).toHaveLength(1);
    expect(await filesLeft(fixture.sandbox)).not.toContain(OPEN);
  });

  test('stores and reads nothing without the flag and the setting', async () => {
    const fixture = await createFixture([]);
    const [first, second] = [await fixture.speak(['--json']), await fixture.speak(['--json'])];
    for (const { stdout } of [first, second]) {
      expect(parseJsonDocument(stdout)).not.toHaveProperty('reused');
    }
    expect(await storedFiles(fixture.sandbox)).toEqual([]);
    expect(speechRequests(fixture)).toHaveLength(2);
    await speakReusing(fixture);
    await fixture.speak(['--json']);
    expect(speechRequests(fixture)).toHaveLength(4);
  });

  test('never uses audio of another account, service, API version or body', async () => {
    const [fixture, other] = [await createFixture([]), await createFixture([])];
    await speakReusing(fixture);
    await speakReusing(fixture, [], { FOLEY_API_KEY: 'another-account-of-the-same-service' });
    await speakReusing(fixture, ['--speed', '1.1']);
    await speakReusing(fixture, ['--format', 'wav', '-o', 'hi.wav']);
    expect(speechRequests(fixture)).toHaveLength(4);
    await speakReusing(fixture, [], {
      FOLEY_BASE_URL: other.env['FOLEY_BASE_URL'] ?? '',
      FOLEY_API_KEY: fixture.key,
    });
    expect(speechRequests(other)).toHaveLength(1);
    // Each of these is stored by itself.
    expect(await speakReusing(fixture, ['--speed', '1.1'])).toMatchObject({ reused: true });
    expect(await speakReusing(fixture, ['--format', 'wav', '-o', 'hi.wav'])).toMatchObject({
      reused: true,
    });
    expect(speechRequests(fixture)).toHaveLength(4);
  });

  test('counts as 0 for --max-credits', async () => {
    const fixture = await createFixture([]);
    const limited = ['--reuse', '--max-credits', '0', '--credit-rate', '1'];
    expect(await fixture.fail(limited)).toMatchObject({ exitCode: 2 });
    await speakReusing(fixture);
    expect((await fixture.speak(limited)).code).toBe(0);
    expect(speechRequests(fixture)).toHaveLength(1);
  });
});

const WAV = ['--format', 'wav'];

describe('audio that one command bought', () => {
  test('is copied by every other command with the same request', async () => {
    const scene = await batchSandbox({ 'texts/a.txt': 'Alpha speaks.', 's.txt': 'Alpha speaks.' });
    const { charged, events, read, service } = scene;
    const voice = ['-v', await firstVoiceId(service), '-m', 'vendor-s21pro'];
    await runBeside(scene, ['tts', 'Alpha speaks.', ...voice, ...WAV, '-o', 'a.wav', '--reuse']);
    const bought = await read('a.wav');
    const cost = await charged();
    expect(cost).toBe('Alpha speaks.'.length);
    const batch = ['texts', '--output-dir', 'audio', ...WAV, '--reuse'];
    const { items, plan, summary } = await events([
      ...batch,
      '--max-credits',
      '0',
      '--credit-rate',
      '1',
    ]);
    expect(plan).toMatchObject({ toSpeak: 0, toReuse: 1, estimatedCredits: 0 });
    expect(items).toEqual([
      expect.objectContaining({ status: 'done', creditsUsed: 0, reused: true, creditsSaved: cost }),
    ]);
    expect(summary).toMatchObject({ creditsUsed: 0, reused: true, creditsSaved: cost });
    expect(await read('audio/a.wav')).toEqual(bought);
    const script = ['script', 's.txt', '-o', 's.wav', ...voice, '--reuse'];
    const plain = await runBeside(scene, [...script, '--dry-run']);
    expect(plain.stdout.toString()).toMatch(/reuse: paid for/);
    const made = await runBeside(scene, script);
    expect(made.stdout.toString()).toMatch(/13 credits not spent/);
    await runBeside(scene, [
      'jobs',
      'create',
      'Alpha speaks.',
      ...voice,
      ...WAV,
      '-o',
      'j.wav',
      '--reuse',
    ]);
    expect(await read('j.wav')).toEqual(bought);
    const pauses = ['tts', 'Alpha speaks. [pause 300ms] Then Bravo.', '--pauses', ...voice, ...WAV];
    const parts = await runBeside(scene, [...pauses, '-o', 'p.wav', '--reuse', '--json']);
    const then = 'Then Bravo.'.length;
    expect(parseJsonDocument(parts.stdout)).toMatchObject({
      parts: 2,
      creditsUsed: then,
      reused: true,
      creditsSaved: cost,
    });
    expect(await charged()).toBe(cost + then);
    // Parts and the audio of jobs are stored, too.
    await runBeside(scene, ['tts', 'Then Bravo.', ...voice, ...WAV, '-o', 'b.wav', '--reuse']);
    expect(await charged()).toBe(cost + then);
  });
});

describe('foley reuse', () => {
  test('lists and removes the stored audio', async () => {
    const fixture = await createFixture([]);
    const none = await fixture.run(['reuse', 'list']);
    expect(none).toMatchObject({ code: 0, stderr: expect.stringMatching(/No stored audio/) });
    await speakReusing(fixture);
    const list = parseJsonDocument((await fixture.run(['reuse', 'list', '--json'])).stdout);
    expect(list).toMatchObject({
      total: 1,
      maxBytes: 1_000_000_000,
      items: [
        {
          format: 'mp3',
          creditsUsed: 2,
          hasWordTimes: false,
          service: fixture.env['FOLEY_BASE_URL'],
        },
      ],
    });
    const stored = await readFile(await onlyStored(fixture.sandbox));
    expect(stored.toString('latin1')).not.toContain(fixture.key);
    const refused = await fixture.run(['reuse', 'clear']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--yes/) });
    await onlyStored(fixture.sandbox);
    const cleared = await fixture.run(['reuse', 'clear', '--yes', '--json']);
    expect(parseJsonDocument(cleared.stdout)).toMatchObject({ removed: 1 });
    expect(await storedFiles(fixture.sandbox)).toEqual([]);
    await outputOf(fixture.sandbox);
  });
});
