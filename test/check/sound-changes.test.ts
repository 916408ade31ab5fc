import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { independentMeter } from '../harness/independent-meter.ts';
import { makeFifo } from '../harness/posix.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import {
  createFixture,
  filesLeft,
  onSpeech,
  outputOf,
  paidAudio,
  speakWith,
  speechRequests,
  VOICE,
} from '../binary/support/fixture.ts';
import { killedAfter } from './buying/killed-after.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog. She sells sea shells by the shore.';
// Silence of a second before and after, also in a recording with pauses.
const PAUSED = `[pause 1s] ${TEXT} [pause 1s]`;
const CHANGES = ['--loudness', '-18', '--trim'];
const meter = await independentMeter();
const { wav } = await paidAudio();

async function expectChanged(bytes: Uint8Array, lufs = -18): Promise<void> {
  const { channels, durationMs, sampleRate } = await decodeAudio(bytes);
  const [samples = new Float32Array()] = channels;
  expect(Math.abs(meter.mono(sampleRate, samples) - lufs)).toBeLessThan(0.5);
  expect(meter.truePeakDb(sampleRate, samples)).toBeLessThan(-1);
  const [first, last] = [samples.findIndex(isLoud), samples.findLastIndex(isLoud)];
  expect((first / sampleRate) * 1_000).toBeLessThan(80);
  expect(durationMs - (last / sampleRate) * 1_000).toBeLessThan(80);
}

function isLoud(sample: number): boolean {
  return Math.abs(sample) >= 10 ** (-50 / 20);
}

async function speak(sandbox: Sandbox, args: readonly string[], env = {}) {
  return runFoley(['tts', ...args, '--local', ...CHANGES], { sandbox, env });
}

describe('the sound of a file', () => {
  test.each(['mp3', 'wav', 'ogg', 'opus'])('changes in %s', async (format) => {
    const sandbox = await createSandbox();
    const result = await speak(sandbox, [PAUSED, '--pauses', '-o', `a.${format}`]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).not.toContain('does not make');
    await expectChanged(await outputOf(sandbox, `a.${format}`));
  });

  test.each(['flac', 'm4a', 'm4b'])('changes in %s', async (format) => {
    const sandbox = await createSandbox();
    const result = await speak(sandbox, [TEXT, '-o', `a.${format}`]);
    expect(result.code, result.stderr).toBe(0);
    const measured = await runFoley(['inspect', `a.${format}`, '--json'], { sandbox });
    const { loudnessLufs } = Object(JSON.parse(measured.stdout.toString()));
    expect(Math.abs(loudnessLufs + 18)).toBeLessThanOrEqual(0.5);
  });

  test.each([
    [['--via', 'job']],
    [['--via', 'sync', '--api', 'compat-tts']],
    [['--subtitles', 'a.srt', '--pauses']],
  ])('changes with %j', async (more) => {
    const sandbox = await createSandbox();
    const result = await speak(sandbox, [TEXT, '-o', 'a.wav', ...more]);
    expect(result.code, result.stderr).toBe(0);
    await expectChanged(await outputOf(sandbox, 'a.wav'));
  });

  test('is quieter than requested where its peaks would be too high', async () => {
    const sandbox = await createSandbox();
    const args = ['tts', TEXT, '--local', '-o', 'a.wav', '--trim', '--loudness', '-6'];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const [, said] =
      /a\.wav: the peaks allow only (-\d+\.\d) LUFS, not -6/.exec(result.stderr) ?? [];
    await expectChanged(await outputOf(sandbox, 'a.wav'), Number(said));
  });
});

test.each([
  [['-o', '-', '--trim'], /the output is stdout, but --trim needs a file/],
  [['--loudness', '-16', '--trim'], /the output is stdout, but --loudness needs a file/],
  [['--play', '--player', 'cat', '--trim'], /the audio is only played, but --trim needs a file/],
  [['-o', '/dev/null', '--loudness', '-16'], /requires an extension that names the format/],
  [['-o', 'a', '--loudness', '-16'], /requires an extension that names the format/],
  [['-o', 'a.wav', '--loudness', '-5'], /--loudness is "-5"; it takes a number from -60 to -6/],
  [['-o', 'a.wav', '--loudness', 'loud'], /--loudness is "loud"; it takes a number/],
])('%j is exit 2 and sends nothing', async (args, reason) => {
  const fixture = await createFixture([]);
  const result = await fixture.run(['tts', 'hi', ...args]);
  expect(result.code).toBe(2);
  expect(result.stderr).toMatch(reason);
  expect(fixture.server.requests).toEqual([]);
});

test('a named pipe is exit 2 and sends nothing', async () => {
  const fixture = await createFixture([]);
  makeFifo(path.join(fixture.sandbox.out, 'a.wav'));
  const reader = fixture.shell('cat a.wav > /dev/null');
  const result = await fixture.run(['tts', 'hi', '-v', VOICE, '-o', 'a.wav', '--trim']);
  await reader;
  expect(result.code).toBe(2);
  expect(result.stderr).toMatch(/a\.wav is a pipe or a device, but --trim needs a file/);
  expect(fixture.server.requests).toEqual([]);
});

describe('audio that is paid for', () => {
  test('gets the wanted sound when it is recovered from the spool', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(wav))]);
    const folder = path.join(fixture.sandbox.out, 'there');
    await mkdir(folder);
    const running = await fixture.start(speakWith(['-o', 'there/hi.wav', '--loudness', '-30']));
    await fixture.server.paused();
    await rm(folder, { recursive: true });
    await fixture.server.advance();
    expect((await running.done).code).toBe(30);
    await mkdir(folder);
    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(0);
    const bytes = await outputOf(fixture.sandbox, 'there/hi.wav');
    expect(bytes.equals(wav.bytes)).toBe(false);
    const { channels, sampleRate } = await decodeAudio(bytes);
    expect(Math.abs(meter.mono(sampleRate, channels[0] ?? new Float32Array()) + 30)).toBeLessThan(
      1,
    );
    expect(speechRequests(fixture)).toHaveLength(1);
    expect(await filesLeft(fixture.sandbox)).not.toContain('state/foley/spool/ID.wav');
  });

  test.each([
    ['one request', [TEXT]],
    ['an aligned stream', [TEXT, '--timings', 'a.json']],
    ['a job', [TEXT, '--via', 'job']],
    ['several parts', [PAUSED, '--pauses']],
  ])('gets the wanted sound after a kill, over %s', async (_, args) => {
    for (let nth = 2; nth < 30; nth += 1) {
      const sandbox = await createSandbox();
      const { env, lastState } = await killedAfter(sandbox, nth);
      const killed = await speak(sandbox, [...args, '-o', 'a.wav'], env);
      expect(killed.signal, `no record says "verified" of ${args.join(' ')}`).toBe('SIGKILL');
      if (!(await lastState()).includes('verified')) continue;
      const recovered = await runFoley(['recover', '--local'], { sandbox });
      expect(recovered.code, recovered.stderr).toBe(0);
      await expectChanged(await outputOf(sandbox, 'a.wav'));
      return;
    }
  });
});

async function batch(sandbox: Sandbox, args: readonly string[]): Promise<string> {
  const flags = ['--local', '--output-dir', 'audio', '--pauses'];
  const result = await runFoley(['batch', 'texts', ...flags, ...args], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  return result.stdout.toString();
}

describe('the items of a batch', () => {
  test.each(['mp3', 'wav'])('change as %s, and are made once', async (format) => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'texts'));
    await writeFile(path.join(sandbox.out, 'texts/plain.txt'), TEXT);
    await writeFile(path.join(sandbox.out, 'texts/paused.txt'), PAUSED);
    const args = [...CHANGES, '--format', format];
    expect(await batch(sandbox, args)).toContain('2 done');
    for (const name of ['plain', 'paused']) {
      await expectChanged(await outputOf(sandbox, `audio/${name}.${format}`));
    }
    expect(await batch(sandbox, args)).toContain('2 skipped');
    expect(await batch(sandbox, ['--loudness', '-23', '--trim', '--format', format])).toContain(
      '2 done',
    );
    await expectChanged(await outputOf(sandbox, `audio/plain.${format}`), -23);
  });

  describe('with captions are not bought again', () => {
    const args = ['--trim', '--loudness', '-18', '--subtitles', 'srt', '--format', 'ogg'];
    const caption = (sandbox: Sandbox, env = {}) =>
      runFoley(['batch', 'a.txt', '--local', '--output-dir', 'audio', ...args], { sandbox, env });

    test('after a kill', async () => {
      for (let nth = 3; nth < 30; nth += 1) {
        const sandbox = await createSandbox();
        await writeFile(path.join(sandbox.out, 'a.txt'), TEXT);
        const { env, lastState } = await killedAfter(sandbox, nth);
        const killed = await caption(sandbox, env);
        expect(killed.signal, 'no record says "verified"').toBe('SIGKILL');
        if (!(await lastState()).includes('verified')) continue;
        const next = await caption(sandbox);
        expect(next.code, next.stderr).toBe(0);
        expect(next.stdout.toString()).toContain(' 0 credits used');
        await expectChanged(await outputOf(sandbox, 'audio/a.ogg'));
        expect((await outputOf(sandbox, 'audio/a.srt')).toString()).toContain('lazy dog');
        return;
      }
    });

    test('without the output folder', async () => {
      const sandbox = await createSandbox();
      await writeFile(path.join(sandbox.out, 'a.txt'), TEXT);
      const first = await caption(sandbox);
      expect(first.code, first.stderr).toBe(0);
      const bytes = await outputOf(sandbox, 'audio/a.ogg');
      await rm(path.join(sandbox.out, 'audio'), { recursive: true });
      const next = await caption(sandbox);
      expect(next.code, next.stderr).toBe(0);
      expect(next.stdout.toString()).toContain(' 0 credits used');
      expect((await outputOf(sandbox, 'audio/a.ogg')).equals(bytes)).toBe(true);
    });
  });

  test('have captions without the silence that was cut', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'texts'));
    await writeFile(path.join(sandbox.out, 'texts/a.txt'), PAUSED);
    await batch(sandbox, ['--trim', '--timings', '--format', 'wav']);
    const { durationMs, words } = JSON.parse((await outputOf(sandbox, 'audio/a.json')).toString());
    const audio = await decodeAudio(await outputOf(sandbox, 'audio/a.wav'));
    expect(words[0].startMs).toBeLessThan(80);
    expect(Math.abs(durationMs - audio.durationMs)).toBeLessThanOrEqual(1);
  });
});
