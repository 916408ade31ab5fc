import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { audio } from '../../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../../fault-server/healthy-service.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { parseJsonDocument, parseJsonLines } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunOptions } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { startHostedService } from '../../binary/support/hosted-service.ts';

const { mp3 } = await tinyAudio();
const TEXT = 'Hello 你好 world';
const WORDS = [{ start: 6, end: 8, text: '你好' }];
const NAMED = /cannot speak 1 word, which the audio leaves out: "你好" \(character 7\)/;

const foley = (args: readonly string[], options: RunOptions = {}) =>
  runFoley([...args, '--local'], options);
const unspokenOf = (stdout: Buffer): unknown => Object(parseJsonDocument(stdout)).unspoken;

describe('words that the voice cannot speak', () => {
  test.each([
    ['sync', []],
    ['job', ['--via', 'job']],
    ['aligned', ['--via', 'aligned', '--timings', 'a.json']],
    ['v1', ['--api', 'v1']],
    ['cached', ['--api', 'v1', '--cache']],
    ['compat-tts', ['--api', 'compat-tts']],
  ])('are named after the whole audio is delivered by %s, and the exit is 3', async (_, flags) => {
    const result = await foley(['tts', TEXT, '-o', 'a.mp3', '--json', ...flags]);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toMatch(NAMED);
    expect(result.stderr).toMatch(/foley voices list --supports-language/);
    expect(unspokenOf(result.stdout)).toEqual(WORDS);
    const file = await readFile(path.join(result.sandbox.out, 'a.mp3'));
    expect(file.length).toBe(Object(parseJsonDocument(result.stdout)).bytes);
  });

  test('leave the timings incomplete', async () => {
    const { sandbox, code } = await foley(['tts', TEXT, '-o', 'a.mp3', '--timings', 'a.json']);
    const timings: unknown = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(timings).toMatchObject({
      complete: false,
      words: [{ text: 'Hello' }, { text: 'world' }],
    });
    expect(code).toBe(3);
  });

  test('do not change the audio on stdout', async () => {
    const [mixed, plain] = await Promise.all([foley(['tts', TEXT]), foley(['tts', 'Hello world'])]);
    expect([mixed.code, plain.code]).toEqual([3, 0]);
    expect(mixed.stdout.length).toBeGreaterThan(1_000);
    expect(mixed.stderr).toMatch(NAMED);
  });

  test('are not emoji, signs or accents', async () => {
    const text = 'Naïve 🙂 — it costs €5, “Straße” → ½ 👍🏽.';
    const result = await foley(['tts', text, '-o', 'a.mp3', '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(unspokenOf(result.stdout)).toEqual([]);
  });

  test('include signs of mathematics without a name', async () => {
    const result = await foley(['tts', 'A ⊙ B ∈ C', '-o', 'a.mp3', '--json']);
    expect(result.code, result.stderr).toBe(3);
    expect(unspokenOf(result.stdout)).toEqual([{ start: 2, end: 3, text: '⊙' }]);
  });

  test('are a rejected request if there is nothing else', async () => {
    const result = await foley(['tts', '你好', '-o', 'a.mp3']);
    expect(result.code).toBe(20);
    expect(result.stderr).toMatch(/contains nothing that this voice can speak/);
  });

  test.each(['sync', 'job'])(
    'of a long text have positions in the whole text (%s)',
    async (via) => {
      const text = `${'A sentence of words. '.repeat(20)}𠀀 你好. ${'More of them. '.repeat(30)}再见. `;
      const sandbox = await createSandbox();
      await writeFile(path.join(sandbox.out, 'long.txt'), text.repeat(3));
      const args = [
        'tts',
        '-f',
        'long.txt',
        '-o',
        'a.mp3',
        '--via',
        via,
        '--json',
        '-m',
        'vendor-s21pro-free',
      ];
      const result = await foley(args, { sandbox });
      expect(result.code, result.stderr).toBe(3);
      const document = Object(parseJsonDocument(result.stdout));
      expect(document.parts).toBeGreaterThan(1);
      const points = Array.from(text.repeat(3));
      const words: { start: number; end: number; text: string }[] = document.unspoken;
      expect(words.map((word) => word.text)).toEqual(
        Array.from({ length: 3 }, () => ['𠀀', '你好', '再见']).flat(),
      );
      for (const word of words) expect(points.slice(word.start, word.end).join('')).toBe(word.text);
      expect(result.stderr).toMatch(/cannot speak 9 words.*, 4 more\./s);
    },
  );
});

describe('a job with words that the voice cannot speak', () => {
  test('is reported when its audio is created, awaited or downloaded', async () => {
    const sandbox = await createSandbox();
    const created = await foley(['jobs', 'create', TEXT, '-o', 'a.mp3', '--json'], { sandbox });
    expect(created.code, created.stderr).toBe(3);
    expect(unspokenOf(created.stdout)).toEqual(WORDS);
    const { id } = Object(parseJsonDocument(created.stdout));
    for (const args of [
      ['jobs', 'wait', id, '-o', 'b.mp3'],
      ['jobs', 'download', id, '-o', 'c.mp3'],
    ]) {
      const result = await foley([...args, '--json'], { sandbox });
      expect(result.code, result.stderr).toBe(3);
      expect(result.stderr).toMatch(NAMED);
      expect(unspokenOf(result.stdout)).toEqual(WORDS);
    }
    const v1 = await foley(['jobs', 'download', id, '-o', 'd.mp3', '--api', 'v1', '--json'], {
      sandbox,
    });
    expect(v1.code).toBe(3);
    expect(unspokenOf(v1.stdout)).toEqual([{ start: 6, end: 8 }]);
    const waited = await foley(['jobs', 'wait', id, '--json'], { sandbox });
    expect([waited.code, unspokenOf(waited.stdout)]).toEqual([0, null]);
  });

  test('is reported among several jobs', async () => {
    const sandbox = await createSandbox();
    const ids = await Promise.all(
      ['Hello', TEXT].map(async (text) =>
        (await foley(['jobs', 'create', text], { sandbox })).stdout.toString().trim(),
      ),
    );
    const result = await foley(['jobs', 'wait', ...ids, '-o', 'all'], { sandbox });
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toMatch(NAMED);
  });
});

describe('a batch with words that a voice cannot speak', () => {
  const LINES = 'One.\nTwo 你好.\nThree 🙂.\n';

  test.each([[[]], [['--subtitles', 'srt']]])(
    'is done, ends with 3 once, and lists them in the report (%j)',
    async (flags) => {
      const sandbox = await createSandbox();
      await writeFile(path.join(sandbox.out, 'l.txt'), LINES);
      const args = ['batch', '--lines', 'l.txt', '--output-dir', 'made', ...flags];
      const first = await foley([...args, '--report', 'r.json'], { sandbox });
      expect(first.code, first.stderr).toBe(3);
      expect(first.stdout.toString()).toMatch(/^3 done, 0 failed, 0 skipped/);
      expect(first.stderr).toMatch(
        /l-2: the voice .* cannot speak 1 word.*"你好" \(character 5\)/s,
      );
      const report: unknown = JSON.parse(await readFile(path.join(sandbox.out, 'r.json'), 'utf8'));
      const items: { id: string; status: string; unspoken: unknown }[] = Object(report).items;
      const listed = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(listed).toMatchObject([
        { status: 'done', unspoken: [] },
        { status: 'done', unspoken: [{ start: 4, end: 6, text: '你好' }] },
        { status: 'done', unspoken: [] },
      ]);
      const second = await foley([...args, '--json'], { sandbox });
      expect(second.code, second.stderr).toBe(0);
      expect(parseJsonLines(second.stdout.toString())).toContainEqual(
        expect.objectContaining({
          id: 'l-2',
          status: 'skipped',
          unspoken: [{ start: 4, end: 6, text: '你好' }],
        }),
      );
      expect(second.stderr).toMatch(/an item of an earlier run leaves words out/);
    },
  );
});

describe('live speech with words that the voice cannot speak', () => {
  test.each(['v3', 'v2'])('names them and exits with 3 in simple mode (%s)', async (api) => {
    const args = ['live', TEXT, '-o', 'a.mp3', '--protocol', api, '--mode', 'simple', '--json'];
    const result = await foley(args);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toMatch(NAMED);
    expect(parseJsonLines(result.stdout.toString()).at(-1)).toMatchObject({
      event: 'summary',
      unspoken: [{ segmentId: null, ...WORDS[0] }],
    });
  });

  test('names them by segment, also those of a segment that has nothing else', async () => {
    const args = ['live', '-o', 'a.mp3', '--mode', 'reliable', '--json'];
    const result = await foley(args, { input: 'One 🙂. Two 你好.\n\n再见。\n\nThree.' });
    expect(result.code, result.stderr).toBe(3);
    const summary = Object(parseJsonLines(result.stdout.toString()).at(-1));
    expect(summary.unspoken.map(({ text }: { text: string }) => text)).toEqual(['你好', '再见']);
    expect(new Set(summary.unspoken.map((one: { segmentId: string }) => one.segmentId)).size).toBe(
      2,
    );
  });
});

const speakWith = async (text: string, value: string) => {
  const headers = { 'X-Foley-Unspoken': value };
  const answer = audio({ ...mp3, headers });
  const { env } = await startHostedService([{ method: 'POST', path: SPEECH_PATH, answer }]);
  return runFoley(['tts', text, '-o', 'a.mp3', '--json'], { env });
};

describe('the header of an untrusted service', () => {
  test('is believed if it is valid', async () => {
    const result = await speakWith('Hello there', '6-11');
    expect(result.code).toBe(3);
    expect(unspokenOf(result.stdout)).toEqual([{ start: 6, end: 11, text: 'there' }]);
  });

  test.each(['6-99', '8-6', '0-1,0-2', '6', 'x'.repeat(9_000), '-', '6-8,', '0x0-0x2'])(
    'is ignored if it is %s',
    async (value) => {
      const result = await speakWith('Hello there', value);
      expect(result.code, result.stderr).toBe(0);
      expect(unspokenOf(result.stdout)).toEqual([]);
    },
  );

  test('cannot make the terminal show control characters of the text', async () => {
    const result = await speakWith('Hi \u202e\u009b31m there', '3-9');
    expect(result.code).toBe(3);
    expect(result.stderr).not.toMatch(/[\u202e\u009b]/);
    expect(result.stderr).toContain('\\u202e');
  });
});
