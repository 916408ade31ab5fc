import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { openPage } from '../harness/browser.ts';
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
      // The three parts of an mp3 are joined at frames, and each has 48 to 72 ms of silence from the encoder.
      const tolerance = format === 'mp3' ? 0.25 : format.startsWith('m4') ? FRAME_SECONDS : 0.0005;
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

test('a browser plays every format, with exact durations, and seeks in it', async () => {
  const { fileOf, seconds } = await speakAll();
  const page = await openPage();
  for (const format of [...FORMATS, 'wav']) {
    const url = `data:${MEDIA_TYPES[format]};base64,${await readFile(fileOf(format), 'base64')}`;
    const { duration, time } = Object(await page.evaluate(`(${PLAY})(${JSON.stringify(url)})`));
    // The parts of an mp3 are joined at frames.
    const tolerance = format === 'mp3' ? 0.25 : FRAME_SECONDS;
    expect(Math.abs(duration - seconds), format).toBeLessThan(tolerance);
    expect(time, format).toBeGreaterThan(2);
  }
});

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  m4b: 'audio/mp4',
  wav: 'audio/wav',
};

// Seeks to 2 s, and plays for a moment.
const PLAY = `async (url) => {
  const audio = new Audio();
  const loaded = new Promise((resolve, reject) => {
    audio.oncanplaythrough = resolve;
    audio.onerror = () => reject(new Error(audio.error.message));
  });
  audio.src = url;
  await loaded;
  const sought = new Promise((resolve) => (audio.onseeked = resolve));
  audio.currentTime = 2;
  await sought;
  const moved = new Promise((resolve) => (audio.ontimeupdate = () => audio.currentTime > 2.1 && resolve()));
  await audio.play();
  await moved;
  audio.pause();
  return { duration: audio.duration, time: audio.currentTime };
}`;

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

test('flac finds no error', async () => {
  const flac = requireTool('flac');
  const { fileOf } = await speakAll();
  const { stderr } = await execa(flac, ['--test', '--warnings-as-errors', fileOf('flac')]);
  expect(stderr).toMatch(/talk\.flac: ok/);
});

test('opusdec decodes every sample of opus', async () => {
  const opusdec = requireTool('opusdec');
  const { fileOf, seconds } = await speakAll();
  await execa(opusdec, ['--quiet', fileOf('opus'), fileOf('decoded.wav')]);
  const { channels, sampleRate } = readWav(await readFile(fileOf('decoded.wav')));
  expect((channels[0]?.length ?? 0) / sampleRate).toBeCloseTo(seconds, 3);
});

test('mpg123 plays every frame of mp3', async () => {
  const mpg123 = requireTool('mpg123');
  const { fileOf, seconds } = await speakAll();
  const { stderr } = await execa(mpg123, ['--wav', fileOf('mp3.wav'), fileOf('mp3')]);
  expect(stderr).not.toMatch(/warning|error/i);
  const { channels, sampleRate } = readWav(await readFile(fileOf('mp3.wav')));
  // The parts are joined at frames.
  expect(Math.abs((channels[0]?.length ?? 0) / sampleRate - seconds)).toBeLessThan(0.2);
});
