import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTimings } from '../../../src/captions/timings.ts';
import type { Timings } from '../../../src/captions/timings.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { meanDistance, onsets } from '../../harness/onsets.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { filesOf, snapshot } from '../../harness/snapshot.ts';

const TEN_SENTENCES = [
  'Good morning to you all.',
  'Today we talk about bridges.',
  'Big bridges carry trains and cars.',
  'Did you ever count them?',
  'Two of them cost $42.50 to cross.',
  'Dr. Brown built the oldest one.',
  'Before that, people took a boat.',
  'Boats were slow, and they were cold.',
  'Down by the river, "The Gate" still stands.',
  'Goodbye, and come again.',
].join(' ');

const LOCAL = ['--local', '--voice-name', 'Clara', '-q'] as const;

function read({ out }: Sandbox, name: string): Promise<Buffer> {
  return readFile(path.join(out, name));
}

async function timingsIn(sandbox: Sandbox, name: string): Promise<Timings> {
  return readTimings(JSON.parse((await read(sandbox, name)).toString()), name);
}

/** Words that begin after what ends a sentence. */
function opening({ text, words }: Timings): readonly number[] {
  let at = 0;
  return words.flatMap(({ startMs, text: word }) => {
    const from = text.indexOf(word, at);
    const isFirst =
      /(?:^|[.?!]\s)$/.test(text.slice(0, from)) && !text.slice(0, from).endsWith('Dr. ');
    at = from + word.length;
    return isFirst ? [startMs] : [];
  });
}

describe('the captions of ten sentences', () => {
  test.each(['mp3', 'wav', 'ogg'])('are true to the %s as it decodes', async (format) => {
    const sandbox = await createSandbox();
    const args = ['-o', `talk.${format}`, '--subtitles', 'talk.srt', '--timings', 'talk.json'];
    const result = await runFoley(['tts', TEN_SENTENCES, ...args, ...LOCAL], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const audio = await decodeAudio(await read(sandbox, `talk.${format}`));
    const timings = await timingsIn(sandbox, 'talk.json');
    expect(timings).toMatchObject({ text: TEN_SENTENCES, complete: true });
    expect(Math.abs(timings.durationMs - audio.durationMs)).toBeLessThan(60);
    const starts = opening(timings);
    expect(starts).toHaveLength(10);
    expect(meanDistance(starts, onsets(audio, 100))).toBeLessThan(60);
    const subtitles = (await read(sandbox, 'talk.srt')).toString();
    const said = subtitles.replaceAll(/^\d+\n[\d:,]+ --> [\d:,]+\n/gm, '').replaceAll(/\s+/g, ' ');
    expect(said.trim()).toBe(TEN_SENTENCES);
  });

  test('come out the same from the stored timings', async () => {
    const sandbox = await createSandbox();
    const args = [
      '--subtitles',
      'a.vtt',
      '--subtitles',
      'a.srt',
      '--timings',
      'a.json',
      '--cue-max-chars',
      '30',
    ];
    await runFoley(['tts', TEN_SENTENCES, '-o', 'a.wav', ...args, ...LOCAL], { sandbox });
    const again = [
      'a.json',
      '--subtitles',
      'b.vtt',
      '--subtitles',
      'b.srt',
      '--cue-max-chars',
      '30',
    ];
    expect((await runFoley(['captions', ...again], { sandbox })).code).toBe(0);
    expect(await read(sandbox, 'b.vtt')).toStrictEqual(await read(sandbox, 'a.vtt'));
    expect(await read(sandbox, 'b.srt')).toStrictEqual(await read(sandbox, 'a.srt'));
  });
});

test('a cue outside the limits is reported, and the same by captions --check', async () => {
  const sandbox = await createSandbox();
  const text =
    'See https://example.org/documentation/reference/captions/presets/netflix-and-bbc.html now.';
  const files = ['-o', 'x.wav', '--subtitles', 'x.srt', '--cue-preset', 'netflix'];
  const result = await runFoley(['tts', text, ...files, '--local', '--json'], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  expect(parseJsonDocument(result.stdout)).toMatchObject({
    captions: { items: [{ violations: [{ rule: 'line-length', value: 81, limit: 42 }] }] },
  });
  const warning = /^foley: x\.srt: (cue \d .*has a line of 81 columns; the maximum is 42)$/m.exec(
    result.stderr,
  );
  const check = ['captions', '--check', 'x.srt', '--cue-preset', 'netflix'];
  const checked = await runFoley(check, { sandbox });
  expect(checked.code).toBe(3);
  expect(checked.stdout.toString()).toContain(`line-length: ${warning?.[1] ?? 'missing'}\n`);
  expect(checked.stdout.toString()).toMatch(/ 1 violation\n$/);
});

test('without -o the audio goes into a file that is named after the text', async () => {
  const sandbox = await createSandbox();
  const result = await runFoley(['tts', 'Hello there', '--subtitles', 'x.srt', ...LOCAL], {
    sandbox,
  });
  expect(result).toMatchObject({ code: 0 });
  expect(result.stdout).toHaveLength(0);
  expect(filesOf(await snapshot(sandbox.out))).toStrictEqual(['hello-there.mp3', 'x.srt']);
});

test('a player hears it as well, after it has its name', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'play.sh'), 'cat > heard.mp3', { mode: 0o755 });
  const args = ['--play', '--player', 'sh play.sh', '-o', 'x.mp3', '--subtitles', 'x.srt'];
  expect(await runFoley(['tts', 'Hello there', ...args, ...LOCAL], { sandbox })).toMatchObject({
    code: 0,
  });
  expect(await read(sandbox, 'heard.mp3')).toStrictEqual(await read(sandbox, 'x.mp3'));
  expect((await read(sandbox, 'x.srt')).toString()).toContain('Hello there');
});

test('--via aligned needs no captions, and is sync as far as anybody hears', async () => {
  const sandbox = await createSandbox();
  for (const via of ['aligned', 'sync']) {
    const args = ['Hello there', '-o', `${via}.wav`, '--via', via, '--no-clobber', ...LOCAL];
    expect(await runFoley(['tts', ...args], { sandbox })).toMatchObject({ code: 0 });
  }
  expect(await read(sandbox, 'aligned.wav')).toStrictEqual(await read(sandbox, 'sync.wav'));
});

test('--dry-run shows the aligned request and opens no file', async () => {
  const sandbox = await createSandbox();
  const args = ['Hello', '--subtitles', 'no/x.srt', '--dry-run', '--json', ...LOCAL];
  const result = await runFoley(['tts', ...args], { sandbox });
  expect(parseJsonDocument(result.stdout)).toMatchObject({
    method: 'POST',
    url: expect.stringMatching(/\/api\/open\/v3\/speech\/tts\/aligned$/),
    headers: { accept: 'text/event-stream, application/json' },
  });
  expect(filesOf(await snapshot(sandbox.out))).toStrictEqual([]);
});

/** The words of a text as its timings have them: without the signs around them. */
function writtenWords(text: string): string[] {
  return text.split(' ').map((word) => word.replaceAll(/^[-("]+|[.,?!)"]+$/g, ''));
}

const NUMBERS = Array.from({ length: 105 }, (_, at) => 400 + at).join(', ');

describe('every written number has its time', () => {
  test.each([
    ['in a long list', `${NUMBERS}.`],
    ['in a list without commas', NUMBERS.replaceAll(',', '')],
    ['of years', 'In 1984, 1066, 1905, 2000, 2009, 2024 and 1500 it was so.'],
    ['of ten digits and more', 'Take 1234567890, 9876543210, 12345678901 and 123456789012345678.'],
    ['with separators', 'Of 1,234,567 there were 1,000, 23,456 and 9,876,543,210.'],
    ['below zero', 'It was -5, -12, -400 and -1,234 degrees.'],
    ['with decimals', '3.14, 2.72, 1.41, 0.5, -3.5, 1,234.56 and 10.25.'],
    ['of days, which sound otherwise alone', 'On May 1, May 2, May 3, 4 May and 5 May.'],
    [
      'of all kinds',
      'On May 5, 1984 (at 12:30) 007 sold 42 of 1,000 for $3.50, 10% off, 3rd time.',
    ],
    [
      'in forms that are not read as whole numbers',
      '1-2-3, 10-20, 30-40, 1,2,3,4,5,6, 1/2, 3/4, 5x6.',
    ],
  ])('%s', async (_name, text) => {
    const sandbox = await createSandbox();
    const args = ['-o', 'x.wav', '--timings', 'x.json', '--subtitles', 'x.srt', ...LOCAL];
    const result = await runFoley(['tts', text, ...args], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const { complete, durationMs, words } = await timingsIn(sandbox, 'x.json');
    expect(complete).toBe(true);
    expect(words.map((word) => word.text)).toStrictEqual(writtenWords(text));
    const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    expect(times).toStrictEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBeLessThanOrEqual(durationMs);
    expect(words.every(({ startMs, endMs }) => endMs > startMs)).toBe(true);
  });
});

test('what the voice cannot say is marked: exit 3, and everything is written', async () => {
  const sandbox = await createSandbox();
  const text = 'Hello there. 你好。 Goodbye.';
  const args = ['--voice-name', 'Jonas', '--local', '-o', 'x.wav', '--timings', 'x.json', '--json'];
  const result = await runFoley(['tts', text, ...args], { sandbox });
  expect(result.code).toBe(3);
  expect(parseJsonDocument(result.stdout)).toMatchObject({ captions: { complete: false } });
  expect(await timingsIn(sandbox, 'x.json')).toMatchObject({ text, complete: false });
  expect(result.stderr).toContain('did not time all of this text');
});

describe('what does not go together is exit 2, and nothing is sent', () => {
  test.each<[string, readonly string[], RegExp]>([
    [
      'another interface',
      ['--subtitles', 'x.srt', '--api', 'v1'],
      /--subtitles works with --api v3 only/,
    ],
    ['a job', ['--timings', 'x.json', '--via', 'job'], /--timings needs .* --via job/],
    ['one answer', ['--timings', 'x.json', '--via', 'sync'], /--via sync/],
    [
      'aligned elsewhere',
      ['--via', 'aligned', '--api', 'compat-tts'],
      /--via aligned works with --api v3 only/,
    ],
    [
      'a cache',
      ['--subtitles', 'x.srt', '--cache', '--api', 'v1'],
      /--subtitles works with --api v3 only/,
    ],
    ['an unknown ending', ['--subtitles', 'x.sub'], /\.srt, \.vtt, \.ass, \.ttml, \.lrc/],
    ['timings that are no JSON', ['--timings', 'x.txt'], /\.json/],
    ['one name for two', ['-o', 'x.srt', '--subtitles', './x.srt'], /--output is x\.srt/],
    [
      'shapes of nothing',
      ['--cue-by', 'word', '--timings', 'x.json'],
      /--cue-by requires --subtitles/,
    ],
    [
      'limits that contradict',
      ['--subtitles', 'x.srt', '--cue-max-duration', '1s', '--cue-min-duration', '2s'],
      /cue-min-duration/,
    ],
  ])('%s', async (_name, args, message) => {
    const result = await runFoley(['tts', 'Hello', ...args, '--local', '--json']);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
    expect(error.message).toMatch(message);
    expect(filesOf(await snapshot(result.sandbox.out))).toStrictEqual([]);
  });
});

test('a model without aligned streams is reported with the models that have them', async () => {
  const args = ['tts', 'Hello', '--subtitles', 'x.srt', '-m', 'vendor-s1', '--local', '--json'];
  const result = await runFoley(args);
  const error = errorLine(result);
  expect(error).toMatchObject({ exitCode: 20, status: 400, billed: 'no' });
  expect(error.message).toContain(
    'word times require aligned streams, but the model vendor-s1 does not have them',
  );
  expect(error.hint).toContain('vendor-s21pro-flash');
  expect(filesOf(await snapshot(result.sandbox.out))).toStrictEqual([]);
});
