import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectedBytes } from '../../../src/paid/deliver.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { readWav } from '../../harness/wav.ts';
import { startHostedService } from '../../binary/support/hosted-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import { refused, spokenText } from '../../binary/support/spoken-text.ts';

const TEXT =
  '[pause 300ms] One, two. [pause 800ms] Three [pause 1s][pause 0.5s] four.[pause 250ms]';
const PARTS = ['One, two.', 'Three', 'four.'];
const PAUSES_MS = [300, 800, 1_500, 250];
const TOTAL_MS = 2_850;

async function spoken(sandbox: Sandbox, args: readonly string[]): Promise<Buffer> {
  const result = await runFoley(['tts', '-q', ...args], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  const at = args.indexOf('-o');
  return at === -1 ? result.stdout : readFile(path.join(sandbox.out, args[at + 1] ?? ''));
}

function wavOf(bytes: Buffer) {
  const { channels, sampleRate } = readWav(bytes);
  return { sampleRate, samples: channels[0] ?? new Float32Array() };
}

describe('--pauses', () => {
  test.each(['sync', 'job', 'aligned'])('is exact to the sample in wav (--via %s)', async (via) => {
    const sandbox = await createSandbox();
    const args = [TEXT, '--pauses', '--via', via, '-o', 'a.wav'];
    const { sampleRate, samples } = wavOf(await spoken(sandbox, args));
    const parts: number[] = [];
    for (const part of PARTS) {
      parts.push(wavOf(await spoken(sandbox, [part, '-o', 'part.wav'])).samples.length);
    }
    const silent = PAUSES_MS.map((ms) => (ms * sampleRate) / 1000);
    const sum = [...parts, ...silent].reduce((total, one) => total + one, 0);
    expect(samples.length).toBe(sum);
    let at = 0;
    for (const [index, length] of silent.entries()) {
      expect(samples.subarray(at, at + length).every((one) => one === 0)).toBe(true);
      at += length + (parts[index] ?? 0);
    }
  });

  test.each(['mp3', 'ogg'])('is exact to a frame in %s, in a file and a stream', async (format) => {
    const sandbox = await createSandbox();
    let expected = TOTAL_MS;
    for (const part of PARTS) {
      const bytes = await spoken(sandbox, [part, '-o', `part.${format}`]);
      expected += (await decodeAudio(bytes)).durationMs;
    }
    const frameMs = format === 'mp3' ? 576 / 24 : 0.1;
    const whole = await spoken(sandbox, [TEXT, '--pauses', '-o', `a.${format}`]);
    const stream = await spoken(sandbox, [TEXT, '--pauses', '--format', format]);
    for (const bytes of [whole, stream]) {
      const { durationMs } = await decodeAudio(bytes);
      // A decoder leaves out its own delay where a tag has the length.
      const delayMs = format === 'mp3' ? 529 / 24 : 0;
      expect(Math.abs(durationMs - expected)).toBeLessThanOrEqual(frameMs + delayMs);
    }
  });

  test('is exact to the sample in raw samples', async () => {
    const sandbox = await createSandbox();
    const flags = ['--api', 'compat-tts', '--format', 'pcm'];
    const whole = await spoken(sandbox, [TEXT, '--pauses', ...flags]);
    let expected = (TOTAL_MS / 1000) * 24_000 * 2;
    for (const part of PARTS) expected += (await spoken(sandbox, [part, ...flags])).length;
    expect(whole.length).toBe(expected);
  });

  test.each([16_000, 48_000])('has the rate of the service in raw samples: %i', async (rate) => {
    const headers = { 'Content-Type': `audio/pcm;rate=${rate};channels=1` };
    const speech = Buffer.alloc(1_000, 1);
    const { env } = await startHostedService([
      { method: 'POST', path: '/v1/tts', answer: answer(200, headers, speech) },
    ]);
    const flags = ['--pauses', '--api', 'compat-tts', '--format', 'pcm', '-q'];
    const silence = (ms: number) => Buffer.alloc((ms / 1000) * rate * 2);
    const expected = PAUSES_MS.flatMap((ms, index) =>
      index < PARTS.length ? [silence(ms), speech] : [silence(ms)],
    );
    for (const more of [[], ['-o', 'a.pcm']]) {
      const result = await runFoley(['tts', TEXT, ...flags, ...more], { env });
      expect(result.code, result.stderr).toBe(0);
      const bytes =
        more.length === 0 ? result.stdout : await readFile(path.join(result.sandbox.out, 'a.pcm'));
      expect(bytes.equals(Buffer.concat(expected))).toBe(true);
    }
    // Jobs have no raw samples.
    const job = await runFoley(['tts', TEXT, ...flags, '--via', 'job'], { env });
    expect(job).toMatchObject({ code: 2 });
  });

  test('shifts captions exactly, and shows the text without marks', async () => {
    const sandbox = await createSandbox();
    const captions = async (text: string, name: string, ...more: readonly string[]) => {
      await spoken(sandbox, [text, '-o', `${name}.wav`, '--timings', `${name}.json`, ...more]);
      return JSON.parse(await readFile(path.join(sandbox.out, `${name}.json`), 'utf8'));
    };
    const whole = await captions(TEXT, 'whole', '--pauses', '--subtitles', 'whole.srt');
    expect(whole).toMatchObject({ complete: true, text: 'One, two. Three four.' });
    const expected: object[] = [];
    let at = 0;
    for (const [index, part] of PARTS.entries()) {
      const { durationMs, words } = await captions(part, 'part');
      at += PAUSES_MS[index] ?? 0;
      for (const { endMs, startMs, text } of words) {
        expected.push({ text, startMs: startMs + at, endMs: endMs + at });
      }
      at += durationMs;
    }
    expect(whole.words).toHaveLength(expected.length);
    for (const [index, word] of whole.words.entries()) {
      const { endMs, startMs, text } = Object(expected[index]);
      expect(word.text).toBe(text);
      expect(Math.abs(word.startMs - startMs)).toBeLessThanOrEqual(2);
      expect(Math.abs(word.endMs - endMs)).toBeLessThanOrEqual(2);
    }
    expect(Math.abs(whole.durationMs - at - 250)).toBeLessThanOrEqual(2);
  });

  test.each(['sync', 'job', 'aligned'])(
    'leaves out a part that the voice cannot speak, and keeps both silences (--via %s)',
    async (via) => {
      const sandbox = await createSandbox();
      const text = 'One. [pause 500ms] привет, мир! [pause 300ms] Two.';
      const file = ['--pauses', '--via', via, '-o', 'a.wav', '--json'];
      const result = await runFoley(['tts', '-q', text, ...file], { sandbox });
      expect(result.code, result.stderr).toBe(3);
      expect(parseJsonDocument(result.stdout)).toMatchObject({
        parts: 3,
        creditsUsed: 4,
        unspoken: [{ text: 'привет' }, { text: 'мир' }],
      });
      const [one, two] = [
        wavOf(await spoken(sandbox, ['One.', '-o', 'one.wav'])),
        wavOf(await spoken(sandbox, ['Two.', '-o', 'two.wav'])),
      ];
      const { sampleRate, samples } = wavOf(await readFile(path.join(sandbox.out, 'a.wav')));
      const silent = (800 * sampleRate) / 1000;
      expect(samples.length).toBe(one.samples.length + silent + two.samples.length);
      const { stdout } = await runFoley(['recover', '--list', '--json'], { sandbox });
      expect(stdout.toString()).not.toContain('a.wav');
    },
  );

  test('fails without a charge if the voice can speak no part', async () => {
    const sandbox = await createSandbox();
    const result = await runFoley(['tts', 'привет [pause 1s] мир', '--pauses', '-o', 'a.wav'], {
      sandbox,
    });
    expect(result).toMatchObject({ code: 20 });
    expect((await runFoley(['recover', '--list'], { sandbox })).stdout.toString()).toBe('');
  });

  test('speaks the breaks of SSML without the flag', async () => {
    const sandbox = await createSandbox();
    await writeFile(
      path.join(sandbox.out, 'a.ssml'),
      '<speak>One.<break time="700ms"/>Two.</speak>',
    );
    const [whole, one, two] = [
      await spoken(sandbox, ['-f', 'a.ssml', '-o', 'a.wav']),
      await spoken(sandbox, ['One.', '-o', 'one.wav']),
      await spoken(sandbox, ['Two.', '-o', 'two.wav']),
    ].map((bytes) => wavOf(bytes));
    const speech = (one?.samples.length ?? 0) + (two?.samples.length ?? 0);
    expect(whole?.samples.length).toBe(speech + 0.7 * (whole?.sampleRate ?? 0));
  });

  test('is text without the flag', async () => {
    expect(await spokenText(['One [pause 1s] two'])).toBe('One [pause 1s] two');
    expect(await spokenText(['--pauses', 'One two'])).toBe('One two');
  });

  test('counts each part by itself for --max-credits, rounded up', async () => {
    const sandbox = await createSandbox();
    const args = ['tts', TEXT, '--pauses', '-o', 'a.wav', '--credit-rate', '0.5', '--max-credits'];
    const tooLittle = await runFoley([...args, '10'], { sandbox });
    expect(tooLittle.code).toBe(2);
    expect(tooLittle.stderr).toContain(
      'this command may cost 11 credits (19 characters at 0.5 credits each)',
    );
    expect((await runFoley([...args, '11'], { sandbox })).code).toBe(0);
  });

  test('is shown by --dry-run and foley text', async () => {
    const { stdout } = await runFoley(['tts', TEXT, '--pauses', '--dry-run', '--json']);
    const { parts, pauses } = Object(JSON.parse(stdout.toString()));
    expect(parts.map(({ body }: { body: { text: string } }) => body.text)).toEqual(PARTS);
    expect(pauses).toEqual(PAUSES_MS.map((ms, afterPart) => ({ afterPart, ms })));
    const text = await runFoley(['text', TEXT, '--pauses', '--json']);
    expect(parseJsonDocument(text.stdout)).toMatchObject({
      text: 'One, two. Three four.',
      characters: PARTS.join('').length,
      parts: 3,
      pauses: [
        { at: 0, ms: 300 },
        { at: 10, ms: 800 },
        { at: 16, ms: 1_000 },
        { at: 16, ms: 500 },
        { at: 21, ms: 250 },
      ],
    });
  });

  test('works with --split never, which refuses only text that is too long between pauses', async () => {
    const never = ['--pauses', '--split', 'never', '--dry-run', '--json'];
    const halves = `${'Word. '.repeat(1_200)}[pause 1s]${'Word. '.repeat(1_200)}`;
    const { stdout } = await runFoley(['tts', ...never], { input: halves });
    expect(Object(JSON.parse(stdout.toString())).parts).toHaveLength(2);
    const long = await runFoley(['tts', ...never], {
      input: `[pause 1s]${'Word. '.repeat(9_000)}`,
    });
    expect(long).toMatchObject({ code: 2 });
    expect(long.stderr).toContain('characters; one request accepts at most');
  });

  test.each([
    [
      'One\ntwo [pause 2m] three',
      'the text, line 2, column 5: the pause "[pause 2m]" has no valid',
    ],
    ['[pause 61s] One', 'the text, line 1, column 1: the pause "[pause 61s]" is too long'],
    ['One [pause 1s', 'the text, line 1, column 5: the pause "[pause 1s" is not closed'],
    ['[pause 1s] [pause 2s] …', 'the text has only pauses'],
  ])('refuses %j', async (text, message) => {
    const { stderr } = await refused(['--pauses', text]);
    expect(stderr).toContain(message);
  });

  test('refuses pauses that alone are longer than a wav file can be, before anything is sent', async () => {
    const input = '[pause 60s] One '.repeat(812);
    const { stderr } = await refused(['--pauses', '-o', 'a.wav'], { input });
    expect(stderr).toContain(
      'the pauses (--pauses or <break>) last 48720 s: a wav file holds at most 48695 s (4 GiB)',
    );
    for (const flags of [
      ['--format', 'wav'],
      ['-o', 'a.mp3'],
      ['-o', 'a.wav', input.slice(16)],
    ]) {
      const args = ['tts', '--pauses', '--dry-run', ...flags];
      expect(await runFoley(args, { input })).toMatchObject({ code: 0 });
    }
  });

  test('counts pauses when it checks the space on the disk', () => {
    expect(expectedBytes('Hi', 'wav', 60_000) - expectedBytes('Hi', 'wav')).toBe(60 * 96_000);
  });

  test('names the file with a bad mark, and what is allowed', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'a.txt'), 'One\n[pause] two');
    const { stderr } = await refused(['--pauses', '-f', 'a.txt'], { sandbox });
    expect(stderr).toContain('a.txt, line 2, column 1: the pause "[pause]" has no valid length');
    expect(stderr).toContain('[pause 800ms]');
  });

  test.each([[['jobs', 'create']], [['dub', 'create', '--video', 'http://a/b.mp4']], [['live']]])(
    'is refused by other commands, naming those that have it (%j)',
    async (words) => {
      const result = await runFoley([...words, 'Hi', '--pauses']);
      expect(result).toMatchObject({ code: 2 });
      expect(result.stderr).toContain('`foley tts`, `foley batch` and `foley text` have --pauses');
    },
  );
});
