import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { withGain } from '../audio/samples.ts';
import { inShell } from '../harness/in-shell.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { writeWav } from '../harness/wav.ts';

const RATE = 16_000;
const BEEPS = fileURLToPath(new URL('../fixtures/media/beeps.opus', import.meta.url));

function isHeard(second: number): boolean {
  return (second >= 0.5 && second < 2.5) || (second >= 3.5 && second < 4.5);
}

/** Half a second of nothing, two of a tone, a pause of one, a tone, and a quarter of nothing. */
function toneWithPause(level: number): Buffer {
  const tone = (index: number): number => level * Math.sin((2 * Math.PI * 997 * index) / RATE);
  const samples = Float32Array.from({ length: RATE * 4.75 }, (_, index) =>
    isHeard(index / RATE) ? tone(index) : 0,
  );
  return writeWav(samples, RATE);
}

describe('inspect', () => {
  test('prints length, loudness, peak and silence', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'tone.wav'), toneWithPause(0.5));
    const result = await runFoley(['inspect', 'tone.wav'], { sandbox });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const text = result.stdout.toString();
    expect(text).toMatch(/^duration +4\.8 s$/m);
    expect(text).toMatch(/^loudness +-9\.\d LUFS$/m);
    expect(text).toMatch(/^peak +-6 dBFS$/m);
    expect(text).toMatch(
      /^silence +500 ms at the beginning, 250 ms at the end; pauses of 1\.5 s in all, the longest of 1\.0 s$/m,
    );
    expect(text).toMatch(/\n▁{5,9}[▅▆▇█]{20,}▁{10,}[▅▆▇█]{10,}▁{3,}\n$/);
  });

  test('with --json has them as numbers, and the waveform', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'loud.wav'), toneWithPause(1));
    const result = await runFoley(['inspect', 'loud.wav', '--json'], { sandbox });
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      file: 'loud.wav',
      format: 'wav',
      codec: null,
      durationMs: 4750,
      sampleRate: RATE,
      channels: 1,
      bitrate: 256_074,
      peakDbfs: 0,
      silence: { startMs: 500, endMs: 250, longestMs: 1000, totalMs: 1500 },
    });
  });

  test.each([
    ['beeps.aac', 'aac', null, 10_112],
    ['beeps.m4a', 'm4a', 'aac', 10_000],
  ])('decodes %s', async (name, format, codec, durationMs) => {
    const file = fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));
    const result = await runFoley(['inspect', file, '--json']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const told = { format, codec, durationMs, sampleRate: 16_000, channels: 1 };
    expect(parseJsonDocument(result.stdout)).toMatchObject(told);
  });

  test('reads each stream of chained Opus, with its output gain', async () => {
    const sandbox = await createSandbox();
    const beeps = await readFile(BEEPS);
    const inspect = async (bytes: Uint8Array) => {
      await writeFile(path.join(sandbox.out, 'a.opus'), bytes);
      const result = await runFoley(['inspect', 'a.opus', '--json'], { sandbox });
      expect(result.code, result.stderr).toBe(0);
      return Object(parseJsonDocument(result.stdout));
    };
    const plain = await inspect(beeps);
    const quiet = await inspect(withGain(beeps, -12));
    expect(quiet.loudnessLufs).toBeCloseTo(plain.loudnessLufs - 12, 0);
    expect(quiet.peakDbfs).toBeCloseTo(plain.peakDbfs - 12, 0);
    const chained = await inspect(Buffer.concat([withGain(beeps, -12), beeps, beeps]));
    expect(chained).toMatchObject({ durationMs: 30_000, peakDbfs: plain.peakDbfs });
  });

  test('of hours of Opus is stopped by Ctrl-C', async () => {
    const sandbox = await createSandbox();
    const beeps = await readFile(BEEPS);
    await writeFile(
      path.join(sandbox.out, 'a.opus'),
      Buffer.concat(Array<Buffer>(4_000).fill(beeps)),
    );
    const running = await startFoley(['inspect', 'a.opus'], { sandbox, timeoutMs: 20_000 });
    // No output shows that it decodes. It does by the time another process has decoded a short file.
    await runFoley(['inspect', BEEPS]);
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  test.each(['mp3', 'ogg', 'wav'])(
    'hears what foley speaks as %s as ffmpeg does',
    async (format) => {
      requireTool('ffmpeg');
      const sandbox = await createSandbox();
      const speech = ['tts', '--local', 'A sentence to be measured, neither long nor short.'];
      await runFoley([...speech, '-o', `speech.${format}`], { sandbox });
      const result = await runFoley(['inspect', `speech.${format}`, '--json'], { sandbox });
      const { loudnessLufs, peakDbfs } = Object(parseJsonDocument(result.stdout));
      const theirs = await inShell(
        `ffmpeg -hide_banner -nostats -i speech.${format} -af ebur128=peak=sample -f null - 2>&1 | tail -12`,
        { sandbox },
      );
      const told = theirs.stdout.toString();
      expect(loudnessLufs).toBeCloseTo(Number(/I: +(-[\d.]+) LUFS/.exec(told)?.[1]), 0);
      expect(peakDbfs).toBeCloseTo(Number(/Peak: +(-[\d.]+) dBFS/.exec(told)?.[1]), 0);
    },
  );

  test.each([
    [
      'words.txt',
      'just words',
      /words\.txt is not an audio file; use wav, mp3, flac, ogg, opus, m4a/,
    ],
    ['cut.wav', toneWithPause(1).subarray(0, 5000), /cut\.wav /],
    ['empty.mp3', '', /empty\.mp3 /],
  ])('refuses %s', async (name, content, message) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, name), content);
    const result = await runFoley(['inspect', name], { sandbox });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
    expect(result.stdout.toString()).toBe('');
  });

  test('says which file is not there', async () => {
    const result = await runFoley(['inspect', 'nowhere.mp3']);
    expect(result).toMatchObject({
      code: 2,
      stderr: 'foley: nowhere.mp3: no such file\n',
    });
  });
});

describe('tts --waveform', () => {
  test('draws the file that was made, on stderr', async () => {
    const sandbox = await createSandbox();
    const args = ['tts', '--local', 'hello there', '-o', 'hello.wav', '--waveform'];
    const result = await runFoley(args, { sandbox });
    expect(result.code).toBe(0);
    expect(result.stdout.toString()).toBe('');
    expect(result.stderr).toMatch(/\n[▁▂▃▄▅▆▇█]{40,80}\n/);
  });

  test.each([
    [['-o', '-'], /--waveform requires an output file/],
    [
      ['--api', 'compat-speech', '-m', 'vendor-s1', '--format', 'pcm', '-o', 'x.pcm'],
      /--waveform does not work with the format pcm/,
    ],
  ])('is refused with %j before anything is sent', async (flags, message) => {
    const result = await runFoley(['tts', '--local', 'hi', '--waveform', ...flags]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
  });
});
