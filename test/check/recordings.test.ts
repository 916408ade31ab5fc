import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { independentMeter } from '../harness/independent-meter.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { requireTool } from '../harness/require-tool.ts';
import { make } from '../script/recording/make.ts';
import { speak } from '../harness/flite.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const RATE = 44_100;
const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));

/** Lines of voices with different levels. */
const LINES = (['slt', 'awb', 'rms'] as const).flatMap((voice, index) =>
  [
    'Good evening, everybody, and welcome to the show. Please take a seat, and stay until the end.',
    'Stop! Really? Peter Piper picked a peck of pickled peppers, and nobody ever asked him why.',
  ].map((text) => {
    const samples = speak(text, { voice }).map((sample) => sample / (1 + 3 * index));
    return { samples, sampleRate: 16_000, speaker: voice, text, pauseAfterMs: 400 };
  }),
);

describe.each(FILE_FORMATS)('a recording of several voices in %s', (format) => {
  test.each([-16, -20])('has %i LUFS, and no true peak above -1 dB', async (loudness) => {
    const { durationMs, file, lines } = await make(LINES, { format, loudness });
    const { rate, samples } = await decoded(file);
    const isMp4 = format === 'm4a' || format === 'm4b';
    if (!isMp4) expect(samples).toHaveLength(Math.round((durationMs * rate) / 1000));
    const meter = await independentMeter();
    expect(Math.abs(meter.mono(rate, samples) - loudness)).toBeLessThanOrEqual(0.5);
    expect(meter.truePeakDb(rate, samples)).toBeLessThanOrEqual(-1);
    const levels = [0, 2, 4].map((first) => {
      const own = lines.slice(first, first + 2).map(({ endMs, startMs }) => {
        return samples.subarray((startMs / 1000) * rate, (endMs / 1000) * rate);
      });
      return meter.mono(rate, concatSamples(own));
    });
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(0.7);
  });

  test('is measured alike by ffmpeg', async () => {
    const ffmpeg = requireTool('ffmpeg');
    const made = await make(LINES, { format, loudness: -16 });
    const filter = ['-af', 'ebur128=peak=true', '-f', 'null', '-'];
    const { stderr } = await execa(ffmpeg, [
      '-hide_banner',
      '-nostats',
      '-i',
      made.file,
      ...filter,
    ]);
    const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
    const [, lufs] = /I:\s+(-[\d.]+) LUFS/.exec(summary) ?? [];
    const [, peakDb] = /Peak:\s+(-[\d.]+) dBFS/.exec(summary) ?? [];
    expect(Math.abs(Number(lufs) + 16)).toBeLessThanOrEqual(0.5);
    expect(Number(peakDb)).toBeLessThanOrEqual(-1);
  });
});

test('the sound of an m4b begins where that of a wav begins', async () => {
  const [wav, m4b] = await Promise.all(
    (['wav', 'm4b'] as const).map(async (format) => {
      const { file } = await make(LINES.slice(0, 1), { format, loudness: -20 });
      return (await decoded(file)).samples;
    }),
  );
  // The offset at which the two are most alike.
  const alike = Array.from({ length: 2101 }, (_, index) => index - 1050).map((offset) => {
    let sum = 0;
    for (let at = 30_000; at < 60_000; at += 1) sum += (wav?.[at] ?? 0) * (m4b?.[at + offset] ?? 0);
    return { offset, sum };
  });
  const best = alike.reduce((most, one) => (one.sum > most.sum ? one : most));
  expect(Math.abs(best.offset)).toBeLessThanOrEqual(1);
});

test('chapters and tags are read by mutagen', { timeout: 300_000 }, async () => {
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'tags.txt'));
  const tags = { title: 'Größe', author: 'Ada', album: 'Serie' };
  const lines = [
    { seconds: 0.8, pauseAfterMs: 200 },
    { seconds: 0.5, chapter: 'Anfang – „ü“', pauseAfterMs: 500 },
    { seconds: 0.7, chapter: 'Two' },
  ];
  for (const format of ['mp3', 'm4b', 'm4a', 'ogg', 'opus', 'flac'] as const) {
    const { file } = await make(lines, { format, tags });
    const script = path.join(PYTHON_FILES, 'read_tags.py');
    const { stdout } = await execa(path.join(bin, 'python'), [script, file]);
    const chapters = [
      { title: 'Anfang – „ü“', start: 1 },
      { title: 'Two', start: 2 },
    ];
    const isMp4 = format === 'm4a' || format === 'm4b';
    const all = isMp4 ? [{ title: 'Größe', start: 0 }, ...chapters] : chapters;
    expect(Object(JSON.parse(stdout))[file]).toEqual({
      ...tags,
      chapters: all,
      // For mp3, ffmpeg counts from the encoder delay.
      ffmpeg: all.map(({ start, title }) => ({ title, start: expect.closeTo(start, 1) })),
      cover: [],
    });
  }
});

test('long subtitles need little memory', { timeout: 900_000 }, async () => {
  const [line] = LINES;
  // Two hours, or a half.
  const lineCount = IS_FULL ? 1800 : 450;
  const lines = Array.from({ length: lineCount }, (_, index) => ({
    ...line,
    samples: line?.samples.subarray(0, 16_000 + index),
    startMs: index * 4000,
  }));
  const before = used();
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, used() - before)), 50);
  // An m4b needs most memory, and most time.
  const format = IS_FULL ? 'm4b' : 'mp3';
  const made = await make(lines, { format, loudness: -16 });
  clearInterval(timer);
  expect(made.durationMs).toBeGreaterThan((lineCount - 1) * 4000);
  expect(made.lines.every(({ lateMs }) => lateMs === 0 || lateMs >= 20)).toBe(true);
  expect(most / 1e6).toBeLessThan(IS_FULL ? 300 : 150);
});

/** Bytes of memory that this process uses for objects and samples. */
function used(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** The samples of a file, and their rate in Hz. */
async function decoded(
  file: string,
): Promise<{ readonly rate: number; readonly samples: Float32Array }> {
  if (file.endsWith('.flac')) {
    const decoder = new FLACDecoder();
    await decoder.ready;
    const { channelData, sampleRate } = await decoder.decodeFile(await readFile(file));
    decoder.free();
    return { rate: sampleRate, samples: channelData[0] ?? new Float32Array(0) };
  }
  if (!/\.m4[ab]$/.test(file)) {
    const { channels, sampleRate } = await decodeAudio(await readFile(file));
    return { rate: sampleRate, samples: channels[0] ?? new Float32Array(0) };
  }
  const ffmpeg = requireTool('ffmpeg');
  const { stdout } = await execa(
    ffmpeg,
    ['-v', 'error', '-i', file, '-f', 'f32le', '-map', '0:a', '-'],
    {
      encoding: 'buffer',
    },
  );
  return { rate: RATE, samples: new Float32Array(stdout.slice().buffer) };
}
