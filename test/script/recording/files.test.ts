import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { CUE_PRESETS } from '../../../src/captions/cue-shape.ts';
import { readSubtitles } from '../../../src/captions/read-subtitles.ts';
import { subtitlesOf } from '../../../src/captions/subtitles.ts';
import { readTimings } from '../../../src/captions/timings.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { readWav } from '../../harness/wav.ts';
import { make } from './make.ts';

const SHAPE = { ...CUE_PRESETS.netflix, by: 'phrase' } as const;

describe('the track of each speaker', () => {
  const lines = [
    { seconds: 0.6, speaker: 'ADA', pauseAfterMs: 100 },
    { seconds: 0.9, speaker: 'Bob & Co.', hertz: 300, pauseAfterMs: 100 },
    { seconds: 0.4, speaker: 'ADA' },
  ];

  test('is as long as the recording, and all together are the recording', async () => {
    const { out } = await createSandbox();
    const folder = path.join(out, 'stems');
    const stems = { folder, speakers: ['ADA', 'Bob & Co.'] };
    const { file } = await make(lines, { stems, loudness: -30 });
    const [samples = new Float32Array(0)] = readWav(await readFile(file)).channels;
    const names = await readdir(folder);
    expect(names).toEqual(['ADA.wav', expect.stringMatching(/^Bob-Co-\w{8}\.wav$/)]);
    const tracks = await Promise.all(
      names.map(async (name) => readFloatWav(await readFile(path.join(folder, name)))),
    );
    expect(tracks.map(({ length }) => length)).toEqual([samples.length, samples.length]);
    const error = samples.reduce((most, sample, at) => {
      const sum = tracks.reduce((all, track) => all + (track[at] ?? 0), 0);
      return Math.max(most, Math.abs(sample - sum));
    }, 0);
    expect(error).toBeLessThan(1e-4);
  });
});

describe('chapter files', () => {
  const lines = [
    { seconds: 0.8, chapter: 'One; #1 = a\\b', pauseAfterMs: 200 },
    { seconds: 0.5, chapter: 'Two' },
  ];
  const tags = { title: 'Talk', author: 'Ada' };

  test('are JSON for podcasts and metadata for ffmpeg', async () => {
    const { out } = await createSandbox();
    const chapterFiles = [path.join(out, 'c.json'), path.join(out, 'c.txt')];
    const made = await make(lines, { tags, chapterFiles });
    expect(made.files).toEqual([...chapterFiles, made.file]);
    const [json = '', text = ''] = await Promise.all(
      chapterFiles.map((file) => readFile(file, 'utf8')),
    );
    expect(JSON.parse(json)).toEqual({
      version: '1.2.0',
      title: 'Talk',
      author: 'Ada',
      chapters: [
        { startTime: 0, endTime: 1, title: 'One; #1 = a\\b' },
        { startTime: 1, endTime: 1.5, title: 'Two' },
      ],
    });
    expect(text).toBe(
      ';FFMETADATA1\ntitle=Talk\nartist=Ada\n' +
        '\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=One\\; \\#1 \\= a\\\\b\n' +
        '\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=1500\ntitle=Two\n',
    );
  });

  test('are read by ffmpeg', async () => {
    const ffprobe = requireTool('ffprobe');
    const { out } = await createSandbox();
    const file = path.join(out, 'c.txt');
    await make(lines, { chapterFiles: [file] });
    const { stdout } = await execa(ffprobe, ['-v', 'error', '-show_chapters', '-of', 'json', file]);
    const { chapters } = JSON.parse(stdout);
    expect(chapters[0]).toMatchObject({ end_time: '1.000000', tags: { title: 'One; #1 = a\\b' } });
  });
});

describe('captions of a recording', () => {
  const lines = [
    {
      seconds: 1,
      text: 'Hello  there.',
      timings: { complete: true, words: [word('Hello', 0, 500), word('there', 500, 1000)] },
      pauseAfterMs: 500,
    },
    {
      seconds: 0.5,
      speaker: 'B & <C>',
      text: 'Hi!',
      timings: { complete: true, words: [word('Hi', 100, 500)] },
    },
  ];

  test('name the speaker of each line, and stay the same when they are shaped again', async () => {
    const { out } = await createSandbox();
    const [json, vtt] = [path.join(out, 'a.json'), path.join(out, 'a.vtt')];
    const targets = [
      { path: json, format: 'json' },
      { path: vtt, format: 'vtt' },
    ] as const;
    const made = await make(lines, { captions: { targets, shape: SHAPE } });
    expect(made.isTimed).toBe(true);
    const stored = JSON.parse(await readFile(json, 'utf8'));
    expect(stored).toEqual({
      version: 1,
      text: 'Hello there.\nHi!',
      durationMs: 2000,
      complete: true,
      lines: [
        { speaker: 'ADA', text: 'Hello there.', startMs: 0, endMs: 1000, words: 2 },
        { speaker: 'B & <C>', text: 'Hi!', startMs: 1500, endMs: 2000, words: 1 },
      ],
      words: [
        { ...word('Hello', 0, 500), speaker: 'ADA' },
        { ...word('there', 500, 1000), speaker: 'ADA' },
        { ...word('Hi', 1600, 2000), speaker: 'B & <C>' },
      ],
    });
    const subtitles = await readFile(vtt, 'utf8');
    expect(subtitles).toContain('<v ADA>Hello there.');
    expect(subtitles).toContain('<v B &amp; &lt;C&gt;>Hi!');
    expect(subtitlesOf(readTimings(stored, 'a.json'), SHAPE, 'vtt').content).toBe(subtitles);
    const cues = readSubtitles(subtitles, 'a.vtt');
    expect(cues.map((cue) => cue.lines)).toEqual([['Hello there.'], ['Hi!']]);
  });

  test('are incomplete when a line has no times', async () => {
    const captions = { targets: [], shape: SHAPE };
    expect((await make([{ seconds: 0.5 }], { captions })).isTimed).toBe(false);
  });

  test('never overlap, though lines do', async () => {
    const { out } = await createSandbox();
    const [json, srt] = [path.join(out, 'a.json'), path.join(out, 'a.srt')];
    const targets = [
      { path: json, format: 'json' },
      { path: srt, format: 'srt' },
    ] as const;
    const timed = lines.map((line, index) => ({ ...line, startMs: index * 300 }));
    await make(timed, { timing: 'overlap', captions: { targets, shape: SHAPE } });
    const [first, second] = readSubtitles(await readFile(srt, 'utf8'), 'a.srt');
    expect(first?.endMs).toBeLessThanOrEqual(second?.startMs ?? 0);
    const stored = readTimings(JSON.parse(await readFile(json, 'utf8')), 'a.json');
    expect(stored.lines).toMatchObject([{ endMs: 1000 }, { startMs: 300 }]);
  });
});

function word(text: string, startMs: number, endMs: number) {
  return { text, startMs, endMs };
}

/** Reads the samples of a wav file with a header of 58 bytes and floating-point samples. */
function readFloatWav(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: (bytes.length - 58) / 4 }, (_, at) =>
    bytes.readFloatLE(58 + at * 4),
  );
}
