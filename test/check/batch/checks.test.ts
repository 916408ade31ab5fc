import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { snapshot } from '../../harness/snapshot.ts';
import { batchSandbox, lastLine } from '../../binary/batch/batch-sandbox.ts';

/** No service runs at this address: a command that sends a request ends with 24. */
const NO_SERVICE = { FOLEY_BASE_URL: 'http://127.0.0.1:9', FOLEY_API_KEY: 'key' };

const LONG = 'x'.repeat(10_001);

/** The files, the arguments and the message. */
const WRONG: readonly (readonly [
  string,
  Readonly<Record<string, string>>,
  readonly string[],
  RegExp,
])[] = [
  ['no input at all', {}, [], /no text to speak/],
  ['a missing file', {}, ['no.txt'], /no such file or folder: no\.txt/],
  ['a folder without texts', { 'texts/a.csv': 'x' }, ['texts'], /the folder texts has no texts/],
  [
    'an empty text',
    { 'texts/a.txt': 'A', 'texts/b.txt': ' \n' },
    ['texts'],
    /texts\/b\.txt is empty/,
  ],
  ['too long a text', { 'a.txt': LONG }, ['a.txt'], /a\.txt has 10001 characters; .* 10000/],
  [
    'too long a line',
    { 'l.txt': `a\n${LONG}` },
    ['--lines', 'l.txt'],
    /l\.txt, line 2 has 10001 characters/,
  ],
  [
    'pauses that are longer than a wav file',
    { 'l.txt': `One\n${'[pause 60s]'.repeat(812)}One` },
    ['--lines', 'l.txt', '--pauses', '--format', 'wav'],
    /l\.txt, line 2: the pauses \(--pauses or <break>\) last 48720 s: a wav file holds at most 48695 s/,
  ],
  [
    'a list of more than a million lines',
    { 'l.txt': 'a\n'.repeat(1_000_001) },
    ['--lines', 'l.txt'],
    /line 1000001 is item 1000001; a batch has at most 1000000 items/,
  ],
  ['an empty list', { 'l.txt': '\n\n' }, ['--lines', 'l.txt'], /inputs are empty/],
  [
    'a line that is not JSON',
    { 'l.jsonl': '{"text":"a"}\n{' },
    ['--jsonl', 'l.jsonl'],
    /l\.jsonl, line 2 is not JSON/,
  ],
  [
    'a line that is not an object',
    { 'l.jsonl': '["a"]' },
    ['--jsonl', 'l.jsonl'],
    /line 1 is not a JSON object/,
  ],
  [
    'an unknown key',
    { 'l.jsonl': '{"text":"a","voice":"v"}' },
    ['--jsonl', 'l.jsonl'],
    /line 1: unknown key "voice"[\s\S]*voiceId/,
  ],
  [
    'neither text nor file',
    { 'l.jsonl': '{"id":"a"}' },
    ['--jsonl', 'l.jsonl'],
    /neither text nor file/,
  ],
  [
    'a control out of range',
    { 'l.jsonl': '{"text":"a","speed":9}' },
    ['--jsonl', 'l.jsonl'],
    /line 1: speed is 9; it takes a number from 0\.5 to 2/,
  ],
  [
    'a text instead of true',
    { 'l.jsonl': '{"text":"a","filterEmoji":"false"}' },
    ['--jsonl', 'l.jsonl'],
    /filterEmoji is "false"; it takes true or false/,
  ],
  [
    'a missing file of an item',
    { 'l.jsonl': '{"file":"b.txt"}' },
    ['--jsonl', 'l.jsonl'],
    /no such file: b\.txt/,
  ],
  [
    'one id twice',
    { 'l.jsonl': '{"id":"a","text":"a"}\n{"id":"a","text":"b"}' },
    ['--jsonl', 'l.jsonl'],
    /line 2: item 1 has the same id "a"/,
  ],
  [
    'one output twice',
    { 'x/a.txt': 'A', 'y/a.txt': 'B' },
    ['x', 'y'],
    /y\/a\.txt: its output a\.mp3 is also the output of item 1/,
  ],
  [
    'outputs that differ in case',
    { 'x/a.txt': 'A', 'y/A.txt': 'B' },
    ['x', 'y'],
    /is also the output of item 1/,
  ],
  [
    'outputs that differ in the encoding of accents',
    { 'x/\u00e9.txt': 'A', 'y/e\u0301.txt': 'B' },
    ['x', 'y'],
    /is also the output of item 1/,
  ],
  [
    'an output that is also a folder',
    { 'l.jsonl': '{"text":"a","output":"a.mp3"}\n{"text":"b","output":"a.mp3/b.mp3"}' },
    ['--jsonl', 'l.jsonl'],
    /a file and a folder/,
  ],
  [
    'an output above the folder',
    { 'l.jsonl': '{"text":"a","output":"../a.mp3"}' },
    ['--jsonl', 'l.jsonl'],
    /not a plain path inside/,
  ],
  [
    'an absolute output',
    { 'l.jsonl': '{"text":"a","output":"/tmp/a.mp3"}' },
    ['--jsonl', 'l.jsonl'],
    /not a plain path inside/,
  ],
  [
    'an output in the folder of foley',
    { 'l.jsonl': '{"text":"a","output":".Foley/secret.mp3"}' },
    ['--jsonl', 'l.jsonl'],
    /a name that foley reserves/,
  ],
  [
    'a format that differs from the extension',
    { 'l.jsonl': '{"text":"a","output":"a.wav","format":"mp3"}' },
    ['--jsonl', 'l.jsonl'],
    /format is mp3, but its output has the extension of wav/,
  ],
  [
    'a format that speech does not have',
    { 'a.txt': 'A' },
    ['a.txt', '--name', '{name}.mp4'],
    /mp4; speech formats are|is a\.mp4; the extension/,
  ],
  [
    'an unknown placeholder',
    { 'a.txt': 'A' },
    ['a.txt', '--name', '{nome}.mp3'],
    /unknown placeholder \{nome\}/,
  ],
  ['an invalid shard', { 'a.txt': 'A' }, ['a.txt', '--shard', '0/3'], /--shard is "0\/3"/],
  ['an unknown item to be redone', { 'a.txt': 'A' }, ['a.txt', '--redo', 'b'], /--redo is "b"/],
  ['stdin used twice', { 'a.txt': 'A' }, ['-', '--lines', '-'], /stdin is used twice/],
  [
    'stdin used for the key too',
    { 'a.txt': 'A' },
    ['-', '--api-key-file', '-'],
    /stdin is used twice/,
  ],
  [
    'a credit rate that is not used',
    { 'a.txt': 'A' },
    ['a.txt', '--credit-rate', '1'],
    /--credit-rate requires --max-credits or --dry-run/,
  ],
  [
    'a cue flag without subtitles',
    { 'a.txt': 'A' },
    ['a.txt', '--cue-by', 'word', '--timings'],
    /--cue-by requires --subtitles/,
  ],
  [
    'captions of two items with one name',
    { 'l.jsonl': '{"text":"a","output":"a.mp3"}\n{"text":"b","output":"a.wav"}' },
    ['--jsonl', 'l.jsonl', '--subtitles', 'vtt'],
    /a\.vtt is also the output of item 1/,
  ],
];

describe('before the first request', () => {
  test.each(WRONG)('%s is exit 2', async (_, files, args, said) => {
    const sandbox = await sandboxWith(files);
    const before = await snapshot(sandbox.out);
    const result = await runFoley(['batch', '-v', 'v', ...args], { sandbox, env: NO_SERVICE });
    expect(result.stderr).toMatch(said);
    expect(result).toMatchObject({ code: 2 });
    expect(await snapshot(sandbox.out)).toEqual(before);
  });

  test('bytes that are not UTF-8 are exit 2, and reported', async () => {
    const { sandbox, batch, write } = await batchSandbox({});
    await write('a.txt', Buffer.from([0x41, 0xff, 0x41]));
    expect(errorLine(await batch(['a.txt', '--json']))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/a\.txt is not valid UTF-8: byte 0xff/),
    });
    await mkdir(path.join(sandbox.out, 'taken.mp3'));
    await write('taken.txt', 'Text.');
    expect((await batch(['taken.txt'])).code).toBe(2);
  });

  test('a file that the batch did not make is replaced only with --overwrite', async () => {
    const { batch, charged, read, write } = await batchSandbox({
      'a.txt': 'Alpha.',
      'b.txt': 'Bravo.',
    });
    await write('b.mp3', 'made by the user');
    const refused = await batch(['a.txt', 'b.txt', '--json']);
    expect(errorLine(refused)).toMatchObject({
      exitCode: 31,
      message: expect.stringMatching(/b\.mp3 exists already/),
    });
    expect([await charged(), (await read('b.mp3')).toString()]).toEqual([0, 'made by the user']);
    expect((await batch(['a.txt', 'b.txt', '--overwrite'])).code).toBe(0);
    // A file that was edited since counts as made by the user.
    await write('a.mp3', Buffer.concat([await read('a.mp3'), Buffer.from('edited')]));
    expect(errorLine(await batch(['a.txt', 'b.txt', '--json']))).toMatchObject({
      exitCode: 31,
      message: expect.stringMatching(
        /a\.mp3 was changed by another program after this batch wrote/,
      ),
      hint: expect.stringMatching(/--overwrite/),
    });
  });

  test('a link among the output folders that leads elsewhere is exit 2', async () => {
    const { batch, sandbox, charged, write } = await batchSandbox({ 'elsewhere/keep.txt': 'x' });
    await write('l.jsonl', '{"text":"Text.","output":"part/a.mp3"}\n');
    await mkdir(path.join(sandbox.out, 'audio'));
    await symlink(path.join(sandbox.out, 'elsewhere'), path.join(sandbox.out, 'audio/part'));
    const result = await batch(['--jsonl', 'l.jsonl', '--output-dir', 'audio']);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(/leads out of audio/) });
    expect(await charged()).toBe(0);
    expect(await readdir(path.join(sandbox.out, 'elsewhere'))).toEqual(['keep.txt']);
  });

  test('a folder that is not writable is exit 30', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await mkdir(path.join(sandbox.out, 'closed'), { mode: 0o555 });
    const result = await runFoley(['batch', '--lines', '-', '-v', 'v', '--output-dir', 'closed'], {
      sandbox,
      env: NO_SERVICE,
      input: 'Text.\n',
    });
    expect(result).toMatchObject({
      code: 30,
      stderr: expect.stringMatching(/permission is denied[\s\S]*another place with --output-dir/),
    });
  });

  test('an estimate above --max-credits is exit 2', async () => {
    const { batch, charged } = await batchSandbox({
      'a.txt': 'Alpha.',
      'b.txt': 'Bravo, and more of it.',
      'one.txt': 'A',
    });
    expect((await batch(['b.txt', '--max-credits', '5'])).stderr).toMatch(/--credit-rate/);
    const one = await batch(['one.txt', '--dry-run', '--credit-rate', '1']);
    expect(lastLine(one)).toMatch(/^1 to speak \(1 character, about 1 credit\)/);
    expect((await batch(['a.txt'])).code).toBe(0);
    const refused = await batch(['b.txt', '--max-credits', '5']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is 5, but this command may cost 22/),
    });
    expect(await charged()).toBe('Alpha.'.length);
    expect((await batch(['a.txt', 'b.txt', '--max-credits', '22'])).code).toBe(0);
  });
});

async function sandboxWith(files: Readonly<Record<string, string>>): Promise<Sandbox> {
  const sandbox = await createSandbox();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(sandbox.out, name)), { recursive: true });
    await writeFile(path.join(sandbox.out, name), content);
  }
  return sandbox;
}
