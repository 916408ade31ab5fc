import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { checkWithMpg123, probeWithFfprobe } from '../harness/second-opinion.ts';
import { expectSound, expectSoundIn, withTrueLengths } from '../binary/support/sound.ts';

const TEXT = 'Hello from foley. This is the second sentence.';

async function speakInto(name: string, ...flags: readonly string[]) {
  const result = await runFoley(['tts', TEXT, '--local', '-o', name, ...flags]);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toHaveLength(0);
  return result.sandbox;
}

describe('the ending of the output decides the format', () => {
  test.each([
    ['hello.mp3', 'mp3'],
    ['hello.wav', 'wav'],
    ['hello.ogg', 'ogg'],
    ['HELLO.MP3', 'mp3'],
    ['v1.2 hello.wave', 'wav'],
    ['hello', 'mp3'],
    ['hello.part2', 'mp3'],
    ['.wav', 'mp3'],
  ])('%s is %s', async (name, format) => {
    const audio = await expectSoundIn(await speakInto(name), name);
    expect(audio.format).toBe(format);
    expect(audio.durationMs).toBeGreaterThan(1_500);
    expect(audio.durationMs).toBeLessThan(8_000);
  });
});

describe('a format that is asked for', () => {
  test.each(['mp3', 'wav', 'ogg'])('%s comes on stdout', async (format) => {
    const result = await runFoley(['tts', TEXT, '--local', '--format', format, '-o', '-']);
    expect(result.code, result.stderr).toBe(0);
    const isWav = format === 'wav';
    const audio = await expectSound(isWav ? withTrueLengths(result.stdout) : result.stdout);
    expect(audio.format).toBe(format);
    expect(audio.durationMs).toBeGreaterThan(1_500);
  });

  test('is taken in any case, and for a name without an ending', async () => {
    const sandbox = await speakInto('hello', '--format', 'OGG');
    expect(await expectSoundIn(sandbox, 'hello')).toMatchObject({ format: 'ogg' });
  });

  test('is also --output-format', async () => {
    const sandbox = await speakInto('hello', '--output-format', 'wav');
    expect(await expectSoundIn(sandbox, 'hello')).toMatchObject({ format: 'wav' });
  });
});

describe('other programs agree that it is whole', () => {
  test.each([
    ['mp3', 'mp3'],
    ['wav', 'pcm_s16le'],
    ['ogg', 'vorbis'],
  ])('ffprobe, of %s', async (extension, codec) => {
    const sandbox = await speakInto(`hello.${extension}`);
    const probe = await probeWithFfprobe(path.join(sandbox.out, `hello.${extension}`));
    const own = await expectSoundIn(sandbox, `hello.${extension}`);
    expect(probe).toMatchObject({ codec, sampleRate: own.sampleRate });
    expect(Math.abs(probe.durationMs - own.durationMs)).toBeLessThan(100);
  });

  test('mpg123, of mp3', async () => {
    const sandbox = await speakInto('hello.mp3');
    await checkWithMpg123(path.join(sandbox.out, 'hello.mp3'));
  });
});
