import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startHostedService } from './support/hosted-service.ts';
import { spokenText } from './support/spoken-text.ts';

describe('foley text', () => {
  test('prints what would be sent, and the characters that would be billed', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'a.md'), '# Hi *you* 👋\n\n- one\n');
    const { server, env } = await startHostedService();
    const result = await runFoley(['text', '-f', 'a.md'], { sandbox, env });
    expect(result).toMatchObject({
      code: 0,
      stderr: '15 characters to bill, in 1 request; price unknown until the first charge\n',
    });
    expect(result.stdout.toString()).toBe('Hi you 👋.\n\none.\n');
    expect(server.connections).toBe(0);
    const plain = await runFoley(['text', '# Hi'], { sandbox });
    expect(plain.stdout.toString()).toBe('# Hi\n');
  });

  test('--drop-sounds leaves descriptions of sounds out of subtitles', async () => {
    const input = '1\n00:00:01,000 --> 00:00:03,000\n[MUSIC]\n(sighs) No. ♪ la ♪\n';
    const args = ['text', '--text-format', 'subtitles'];
    const [all, spoken] = await Promise.all(
      [args, [...args, '--drop-sounds']].map((one) => runFoley(one, { input })),
    );
    expect(all?.stdout.toString()).toBe('[MUSIC] (sighs) No. ♪ la ♪\n');
    expect(spoken?.stdout.toString()).toBe('No.\n');
  });

  test('with --json lists replacements and pauses, by code points', async () => {
    const input = '<speak>👋 <sub alias="World Wide Web">WWW</sub> is<break time="1s"/> up</speak>';
    const result = await runFoley(['text', '--text-format', 'ssml', '--json'], { input });
    expect(parseJsonDocument(result.stdout)).toEqual({
      text: '👋 World Wide Web is up',
      // Each side of the pause is a request; the white space between them is not sent.
      characters: 21,
      estimatedCredits: null,
      parts: 2,
      pauses: [{ at: 19, ms: 1000 }],
      replaced: [{ written: 'WWW', spoken: 'World Wide Web', at: 2 }],
    });
    const long = await runFoley(['text', '--json'], { input: 'A sentence. '.repeat(1_000) });
    expect(parseJsonDocument(long.stdout)).toMatchObject({ characters: 12_000, parts: 2 });
  });

  test('keeps the words at both sides of a break apart', async () => {
    const sandbox = await createSandbox();
    const ssml = '<speak>Breathe in<break time="1s"/>breathe out<break/>, and rest.</speak>';
    await writeFile(path.join(sandbox.out, 'a.ssml'), ssml);
    const text = 'Breathe in breathe out, and rest.';
    const printed = await runFoley(['text', '-f', 'a.ssml'], { sandbox });
    expect(printed.stdout.toString()).toBe(`${text}\n`);
    const files = ['-o', 'a.wav', '--timings', 'a.json'];
    const spoken = await runFoley(['tts', '-f', 'a.ssml', '--local', ...files], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const timings = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(timings).toMatchObject({ text, complete: true });
  });

  test('estimates the credits from what the model has cost, and from nothing else', async () => {
    const sandbox = await createSandbox();
    const model = ['-m', 'vendor-s21pro-flash', '--local'];
    const before = await runFoley(['text', 'Hello there.', ...model], { sandbox });
    expect(before.stderr).toBe(
      '12 characters to bill, in 1 request; price unknown until the first charge\n',
    );
    const spoken = await runFoley(['tts', 'Hello there.', ...model, '-o', 'a.mp3'], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const text = 'One, two, three, four, five.';
    const after = await runFoley(['text', text, ...model], { sandbox });
    expect(after.stderr).toBe(
      '28 characters to bill, in 1 request; about 14 credits (estimate from earlier charges)\n',
    );
    const env = { FOLEY_MODEL: 'vendor-s21pro-flash' };
    const json = await runFoley(['text', text, '--json', '--local'], { sandbox, env });
    expect(parseJsonDocument(json.stdout)).toMatchObject({ characters: 28, estimatedCredits: 14 });
    const other = await runFoley(['text', text, '-m', 'vendor-s1', '--json', '--local'], {
      sandbox,
    });
    expect(parseJsonDocument(other.stdout)).toMatchObject({ estimatedCredits: null });
    const elsewhere = await runFoley(['text', text, '-m', 'vendor-s21pro-flash', '--json'], {
      sandbox,
      env: { FOLEY_BASE_URL: 'https://speech.example', FOLEY_API_KEY: 'key' },
    });
    expect(parseJsonDocument(elsewhere.stdout)).toMatchObject({ estimatedCredits: null });
  });

  test.each([
    ['no voice', {}],
    ['the name of a voice', { FOLEY_VOICE: 'Clara' }],
  ])('estimates the credits without a model, with %s', async (_, env) => {
    const sandbox = await createSandbox();
    const spoken = await runFoley(['tts', 'Hello there.', '--local', '-o', 'a.mp3'], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const text = 'One, two, three, four, five.';
    const { stderr } = await runFoley(['text', text, '--local'], { sandbox, env });
    expect(stderr).toMatch(/28 characters to bill, in 1 request; about 14 credits/);
  });

  test('with --reading prints how English is read, a sentence a line', async () => {
    const input = 'It is 3/15/2024.\nDr. Smith paid $5.50 for 2 kg!';
    const result = await runFoley(['text', '--reading'], { input });
    expect(result.stdout.toString()).toBe(
      'It is March fifteenth, twenty twenty-four.\nDoctor Smith paid five dollars and fifty cents for two kilograms!\n',
    );
    const british = await runFoley(['text', '--reading', '-l', 'en-GB', '3/4/2024']);
    expect(british.stdout.toString()).toMatch(/^the third of April/i);
    const german = await runFoley(['text', '--reading', '-l', 'de', 'Am 3.4.']);
    expect(german).toMatchObject({ code: 2 });
    expect(german.stderr).toContain('--reading works with English only: the language is "de"');
  });

  test('is refused for a document that cannot be read, or has no text to speak', async () => {
    const html = ['text', '--text-format', 'html'];
    const empty = await runFoley(html, { input: '<script>a</script>' });
    expect(empty).toMatchObject({ code: 2 });
    expect(empty.stderr).toContain('stdin: the document has no text to speak');
    const latin = await runFoley(html, { input: Buffer.from('<p>caf\xe9</p>', 'latin1') });
    expect(latin).toMatchObject({ code: 2 });
    expect(latin.stderr).toContain('stdin is not valid UTF-8: byte 0xe9');
  });

  test('reads stdin for -, as foley tts and live do, and a dash after --', async () => {
    const input = 'Hello there.';
    expect((await runFoley(['text', '-'], { input })).stdout.toString()).toBe(`${input}\n`);
    expect((await runFoley(['text', '--', '-'], { input })).stdout.toString()).toBe('-\n');
    expect(await spokenText(['-'], { input })).toBe(input);
    const twice = await runFoley(['text', '-', '-f', 'a.txt'], { input });
    expect(twice).toMatchObject({ code: 2 });
    expect(twice.stderr).toContain('text is given twice');
  });

  test('names its own ways to pass a text', async () => {
    for (const args of [['text'], ['text', '-']]) {
      const result = await runFoley(args, { input: '' });
      expect(result).toMatchObject({ code: 2 });
      expect(result.stderr).toContain(
        'Pass the text as an argument, with -f FILE or through a pipe.',
      );
    }
  });

  test.each([
    ['md', 'markdown'],
    ['srt', 'subtitles'],
    ['markdwn', 'markdown'],
  ])('suggests a format for --text-format %s', async (given, format) => {
    const result = await runFoley(['text', 'Hi', '--text-format', given]);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(`Did you mean ${format}?`);
  });
});
