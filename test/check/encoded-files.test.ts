import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { installPythonTools } from '../harness/python-tools.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { probeWithFfprobe } from '../harness/second-opinion.ts';
import { readWav } from '../harness/wav.ts';

const TEXT = 'Hello from foley. [pause 700ms] This is the second part. [pause 300ms] And a third.';
const FORMATS = ['mp3', 'ogg', 'opus', 'flac', 'm4a', 'm4b'] as const;
const PYTHON = path.join(import.meta.dirname, 'python');

// A packet of AAC, at the lowest sample rate of the voices.
const FRAME_SECONDS = 1024 / 22_050;

/** Speaks a text with pauses in every format. Returns the paths of the files, and the duration of the wav file. */
async function speakAll() {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.home, 'text.txt'), TEXT);
  const fileOf = (format: string): string => path.join(sandbox.out, `talk.${format}`);
  for (const format of [...FORMATS, 'wav']) {
    const args = ['tts', '-f', '../home/text.txt', '--pauses', '--local', '-o', `talk.${format}`];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(0);
  }
  const { channels, sampleRate } = readWav(await readFile(fileOf('wav')));
  return { fileOf, seconds: (channels[0]?.length ?? 0) / sampleRate };
}

test(
  'libsndfile and mutagen read whole files with exact durations',
  { timeout: 600_000 },
  async () => {
    const bin = await installPythonTools(path.join(PYTHON, 'sound.txt'));
    const { fileOf, seconds } = await speakAll();
    const files = FORMATS.map(fileOf);
    const script = path.join(PYTHON, 'read_sound.py');
    const { stdout } = await execa(path.join(bin, 'python'), [script, ...files]);
    const found = Object(JSON.parse(stdout));
    for (const format of FORMATS) {
      const { decoded = seconds, seeks = true, stated } = Object(found[fileOf(format)]);
      // The parts of an mp3 are joined at frames, and mutagen adds the delays.
      const tolerance = format === 'mp3' ? 0.2 : format.startsWith('m4') ? FRAME_SECONDS : 0.0005;
      expect(Math.abs(stated - seconds), `${format} by mutagen`).toBeLessThan(tolerance);
      expect(Math.abs(decoded - seconds), `${format} by libsndfile`).toBeLessThan(tolerance);
      expect(seeks, `${format} can be sought in`).toBe(true);
    }
  },
);

test('ffprobe reads exact durations', async () => {
  requireTool('ffprobe');
  const { fileOf, seconds } = await speakAll();
  for (const format of FORMATS.filter((one) => one !== 'mp3')) {
    const { durationMs } = await probeWithFfprobe(fileOf(format));
    expect(Math.abs(durationMs / 1000 - seconds), format).toBeLessThan(FRAME_SECONDS);
  }
});

test('the samples of flac have the MD5 that its header states, by ffmpeg', async () => {
  const ffmpeg = requireTool('ffmpeg');
  const { fileOf } = await speakAll();
  const flac = await readFile(fileOf('flac'));
  // The signature and the head of a block come before the 34 bytes of STREAMINFO, which end with the MD5 (RFC 9639).
  const stated = flac.subarray(8 + 34 - 16, 8 + 34).toString('hex');
  const { stdout } = await execa(ffmpeg, ['-v', 'error', '-i', fileOf('flac'), '-f', 'md5', '-']);
  expect(stdout).toBe(`MD5=${stated}`);
});

test('ffmpeg decodes every sample of opus', async () => {
  const ffmpeg = requireTool('ffmpeg');
  const { fileOf, seconds } = await speakAll();
  await execa(ffmpeg, ['-v', 'error', '-i', fileOf('opus'), fileOf('opus.wav')]);
  const { channels, sampleRate } = readWav(await readFile(fileOf('opus.wav')));
  expect(sampleRate).toBe(48_000);
  expect((channels[0]?.length ?? 0) / 48_000).toBeCloseTo(seconds, 3);
});
