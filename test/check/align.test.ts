import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { concatSamples } from '../../src/audio/resample.ts';
import { readSubtitles } from '../../src/captions/read-subtitles.ts';
import { music } from '../alignment/music.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { writeWav } from '../harness/wav.ts';

const TEXT =
  'The old bridge over the river is open again, and the weather is good today. We bought bread in the small shop for $2.50.';
const OTHER =
  'Farmers along the southern coast had complained for decades that most reservoirs were mismanaged, or simply forgotten.';
const WORDS = TEXT.split(' ');

interface Word {
  readonly text: string;
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** Speaks a text to a file with a voice that is not the reference. */
async function record(sandbox: Sandbox, file: string, text = TEXT): Promise<void> {
  const args = ['tts', text, '--local', '--voice-name', 'Ewan', '-o', path.join(sandbox.out, file)];
  expect(await runFoley(args, { sandbox })).toMatchObject({ code: 0 });
}

async function sandboxWith(file: string, text = TEXT): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await record(sandbox, file);
  await writeFile(path.join(sandbox.out, 'talk.txt'), text);
  return sandbox;
}

function align(sandbox: Sandbox, args: readonly string[], options: RunOptions = {}) {
  return runFoley(['align', ...args], { sandbox, ...options });
}

test('subtitles and word times are written, and the words have increasing times', async () => {
  const sandbox = await sandboxWith('talk.wav');
  const outputs = ['--subtitles', 'talk.srt', '--subtitles', 'talk.vtt', '--timings', 'talk.json'];
  const { code, stderr, stdout } = await align(sandbox, ['talk.wav', '-f', 'talk.txt', ...outputs]);
  expect({ code, out: stdout.toString() }).toEqual({ code: 0, out: '' });
  expect(stderr).toMatch(/^24 of 24 words found, mean confidence (?:0\.[5-9]\d|1\.00)$/m);
  const timings = JSON.parse(await readFile(path.join(sandbox.out, 'talk.json'), 'utf8'));
  expect(timings).toMatchObject({ version: 1, text: TEXT, complete: true });
  const words: readonly Word[] = timings.words;
  expect(words.map(({ text }) => text)).toEqual(WORDS.map((word) => word.replace(/[.,]$/, '')));
  const times = words.flatMap(({ endMs, startMs }) => [startMs ?? -1, endMs ?? -1]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeLessThanOrEqual(timings.durationMs);
  const srt = await readFile(path.join(sandbox.out, 'talk.srt'), 'utf8');
  expect(srt).toContain('We bought bread\nin the small shop for $2.50.');
  const again = await runFoley(['captions', 'talk.json', '--subtitles', 'again.srt'], {
    sandbox,
    cwd: sandbox.out,
  });
  expect(again.code).toBe(0);
  expect(await readFile(path.join(sandbox.out, 'again.srt'), 'utf8')).toBe(srt);
});

const [FIRST = '', SECOND = ''] = TEXT.split(/(?<=day\.) /);
const UNSPOKEN =
  'Thank you for listening to this chapter, and see you again in the next one of the book.';

test.each([
  ['a title', 'at the start \\("Chapter One"\\)', 'Chapter One', TEXT],
  ['a text at the start', '18 words at the start \\("Thank.*book"\\)', UNSPOKEN, TEXT],
  ['a text at the end', '18 words at the end \\("Thank you for listening … ', TEXT, UNSPOKEN],
  ['a text in the middle', '18 words after 0:0\\d ', FIRST, UNSPOKEN, SECOND],
])(
  '%s that is not spoken is named, and has no cue that flashes',
  async (_what, named, ...texts) => {
    const sandbox = await sandboxWith('talk.wav');
    await writeFile(path.join(sandbox.out, 'all.txt'), texts.join('\n\n'));
    const outputs = ['--subtitles', 'talk.srt', '--timings', 'talk.json'];
    const result = await align(sandbox, ['talk.wav', '-f', 'all.txt', ...outputs]);
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(
      new RegExp(`^foley: .*not found in the recording: .*${named}`, 'm'),
    );
    expect(result.stderr).not.toMatch(/is shown for 0/);
    const srt = await readFile(path.join(sandbox.out, 'talk.srt'), 'utf8');
    const cues = readSubtitles(srt, 'talk.srt');
    expect(cues.map(({ lines }) => lines.join(' ')).join(' ')).toBe(TEXT);
    for (const { endMs, startMs } of cues) expect(endMs - startMs).toBeGreaterThan(800);
    const again = await runFoley(['captions', 'talk.json', '--subtitles', 'again.srt'], {
      sandbox,
      cwd: sandbox.out,
    });
    expect(again.stderr).toMatch(new RegExp(named, 'm'));
    expect(await readFile(path.join(sandbox.out, 'again.srt'), 'utf8')).toBe(srt);
  },
);

test.each(['talk.mp3', 'talk.ogg'])('the words of %s go to stdout without flags', async (file) => {
  const sandbox = await sandboxWith(file);
  const { code, stdout } = await align(sandbox, [file, '-f', 'talk.txt', '--quiet']);
  expect(code).toBe(0);
  const timings: { readonly words: readonly Word[] } = JSON.parse(stdout.toString());
  expect(timings.words).toHaveLength(WORDS.length);
});

test.each(['talk.m4a', 'talk.flac', 'talk.webm', 'talk.mpeg'])(
  'the words of %s are found',
  async (file) => {
    const sandbox = await sandboxWith('talk.wav');
    const [from, to] = ['talk.wav', file].map((name) => path.join(sandbox.out, name));
    const args = ['-v', 'error', '-i', from ?? '', '-ac', '2', '-ar', '48000', to ?? ''];
    await execa(requireTool('ffmpeg'), args);
    const env = { PATH: '/none' };
    const { code, stdout } = await align(sandbox, [file, '-f', 'talk.txt', '--json'], { env });
    expect(code).toBe(0);
    expect(parseJsonDocument(stdout)).toMatchObject({ placed: WORDS.length });
  },
);

test('a FLAC file that was cut is a usage error', async () => {
  const sandbox = await sandboxWith('talk.wav');
  const [from, to] = ['talk.wav', 'talk.flac'].map((name) => path.join(sandbox.out, name));
  await execa(requireTool('ffmpeg'), ['-v', 'error', '-i', from ?? '', to ?? '']);
  await truncate(to ?? '', 60_000);
  const { code, stderr } = await align(sandbox, ['talk.flac', '-f', 'talk.txt']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/talk\.flac is cut: it has \d\.\d of \d\.\d seconds/);
});

test('--json has the mean confidence and the number of words', async () => {
  const sandbox = await sandboxWith('talk.wav');
  const printed = await align(sandbox, ['talk.wav', '-f', 'talk.txt', '--json']);
  expect(parseJsonDocument(printed.stdout)).toMatchObject({
    version: 1,
    complete: true,
    placed: WORDS.length,
    total: WORDS.length,
    confidence: expect.any(Number),
  });
  const written = await align(sandbox, [
    'talk.wav',
    '-f',
    'talk.txt',
    '--subtitles',
    'talk.srt',
    '--json',
  ]);
  expect(parseJsonDocument(written.stdout)).toMatchObject({
    audio: 'talk.wav',
    items: [{ output: 'talk.srt', format: 'srt' }],
    complete: true,
    placed: WORDS.length,
  });
});

test('the text may be a document or come from stdin', async () => {
  const sandbox = await sandboxWith('talk.wav');
  await writeFile(path.join(sandbox.out, 'talk.md'), `# The **old** bridge\n\n${TEXT.slice(15)}\n`);
  const document = await align(sandbox, ['talk.wav', '-f', 'talk.md', '--json']);
  expect(document.code).toBe(0);
  expect(parseJsonDocument(document.stdout)).toMatchObject({ placed: WORDS.length });
  const piped = await align(sandbox, ['talk.wav', '-f', '-', '--json'], { input: TEXT });
  expect(parseJsonDocument(piped.stdout)).toMatchObject({ text: TEXT, placed: WORDS.length });
});

test('captions are written for speech between music, and begin with it', async () => {
  const sandbox = await sandboxWith('talk.wav');
  const file = path.join(sandbox.out, 'talk.wav');
  const { channels, sampleRate } = await decodeAudio(await readFile(file));
  const speech = channels[0] ?? new Float32Array(0);
  const seconds = 14;
  const sound = music(seconds, 'band');
  const around = Float32Array.from({ length: seconds * sampleRate }, (_, at) => {
    return sound[Math.floor((at * sound.length) / (seconds * sampleRate))] ?? 0;
  });
  await writeFile(file, writeWav(concatSamples([around, speech, around]), sampleRate));
  const args = ['talk.wav', '-f', 'talk.txt', '--subtitles', 'talk.srt'];
  const { code, stderr } = await align(sandbox, args);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/^24 of 24 words found, mean confidence (?:0\.[7-9]\d|1\.00)$/m);
  const cues = readSubtitles(
    await readFile(path.join(sandbox.out, 'talk.srt'), 'utf8'),
    'talk.srt',
  );
  expect(cues[0]?.startMs).toBeGreaterThan(13_800);
  expect(cues.at(-1)?.endMs).toBeLessThan(16_500 + (speech.length * 1_000) / sampleRate);
});

describe('words that are not in the recording', () => {
  test('have null times, and the exit code is 3', async () => {
    const sandbox = await sandboxWith('talk.wav', `${TEXT} ${OTHER.slice(0, 70)}`);
    const { code, stderr } = await align(sandbox, [
      'talk.wav',
      '-f',
      'talk.txt',
      '--timings',
      'talk.json',
      '--subtitles',
      'talk.srt',
    ]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/11 of 35 words were not found in the recording: 11 words at the end/);
    const timings = JSON.parse(await readFile(path.join(sandbox.out, 'talk.json'), 'utf8'));
    expect(timings.complete).toBe(false);
    expect(timings.words.at(-1)).toEqual({ text: 'most', startMs: null, endMs: null });
    expect(timings.words[0].startMs).toBeGreaterThanOrEqual(0);
    const cues = await runFoley(['captions', 'talk.json', '--subtitles', 'again.srt'], {
      sandbox,
      cwd: sandbox.out,
    });
    expect(cues.code).toBe(3);
    expect(await readFile(path.join(sandbox.out, 'again.srt'), 'utf8')).toBe(
      await readFile(path.join(sandbox.out, 'talk.srt'), 'utf8'),
    );
  });

  test('are most words of another text, for which no subtitles are written', async () => {
    const sandbox = await sandboxWith('talk.wav', OTHER);
    const { code, stderr, stdout } = await align(sandbox, [
      'talk.wav',
      '-f',
      'talk.txt',
      '--subtitles',
      'talk.srt',
      '--json',
    ]);
    expect(code).toBe(3);
    expect(stderr).toContain('less than half of the words were found');
    const { confidence, items } = parseJsonDocument(stdout) as {
      readonly confidence: number;
      readonly items: readonly unknown[];
    };
    expect(items).toEqual([]);
    expect(confidence).toBeLessThan(0.3);
    await expect(readFile(path.join(sandbox.out, 'talk.srt'))).rejects.toThrow('ENOENT');
  });
});

test.each([
  [['talk.wav'], '--file is required'],
  [['none.wav', '-f', 'talk.txt'], 'none.wav'],
  [['talk.wav', '-f', 'none.txt'], 'no such file: none.txt'],
  [['talk.txt', '-f', 'talk.txt'], 'talk.txt is not an audio file'],
  [['talk.wav', '-f', 'empty.txt'], 'the text of empty.txt is empty'],
  [['talk.wav', '-f', 'signs.txt'], 'cannot be compared'],
  [['talk.wav', '-f', 'russian.txt'], '--language'],
  [['talk.wav', '-f', 'talk.txt', '--language', 'de'], 'foley engine add espeak-ng'],
  [['talk.wav', '-f', 'talk.txt', '--cue-by', 'word'], '--cue-by requires --subtitles'],
  [
    ['talk.wav', '-f', 'talk.txt', '--subtitles', 'talk.sub'],
    'it takes a file with the extension .srt, .vtt',
  ],
])('%j is a usage error', async (args, message) => {
  const sandbox = await sandboxWith('talk.wav');
  await writeFile(path.join(sandbox.out, 'empty.txt'), ' \n');
  await writeFile(path.join(sandbox.out, 'signs.txt'), '— …\n');
  await writeFile(path.join(sandbox.out, 'russian.txt'), 'Доброе утро\n');
  const { code, stderr, stdout } = await align(sandbox, args);
  expect({ code, out: stdout.toString() }).toEqual({ code: 2, out: '' });
  expect(stderr).toContain(message);
});

test('a folder that cannot be written fails with exit code 30', async () => {
  const sandbox = await sandboxWith('talk.wav');
  const { code } = await align(sandbox, [
    'talk.wav',
    '-f',
    'talk.txt',
    '--subtitles',
    'none/talk.srt',
  ]);
  expect(code).toBe(30);
});
