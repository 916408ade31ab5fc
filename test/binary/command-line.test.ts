import { describe, expect, test } from 'vitest';
import { silence, unavailable } from '../fault-server/catalogue.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { inShell } from '../harness/in-shell.ts';
import { runFoley } from '../harness/run-foley.ts';
import { speechBodyOf, startHostedService } from './support/hosted-service.ts';

describe('what foley does not know is exit 2 with what was meant', () => {
  test.each([
    [['tss', 'hello'], /unknown command "tss"\nDid you mean `foley tts "hello" -o hello\.mp3`\?/],
    [['TTS', 'hello', '-o', 'a.ogg'], /Did you mean `foley tts "hello" -o a\.ogg`\?/],
    [['voice', 'list'], /unknown command "voice"\nDid you mean `foley voices list`\?/],
    [['apy', 'GET', 'https://me:word@example.com'], /Did you mean `foley api`\?/],
    [['voices', 'lst'], /unknown command "voices lst"[\s\S]*foley voices list/],
    [['model'], /unknown command "model"[\s\S]*foley models/],
    [['help', 'servr'], /unknown command "servr"[\s\S]*foley serve/],
    [['qwertyuiop'], /unknown command "qwertyuiop"[\s\S]*tts, jobs/],
    [
      ['Hello'],
      /unknown command "Hello"\nTo speak this text, use `foley tts "Hello" -o hello\.mp3`\./,
    ],
    [['Hello there'], /use `foley tts "Hello there" -o hello-there\.mp3`\./],
    [['Hello', 'there', '-v', 'Martin'], /use `foley tts "Hello there" -v Martin`\./],
    [['It costs $5'], /use `foley tts 'It costs \$5' -o it-costs-5\.mp3`\./],
    [['greetings'], /use `foley tts "greetings" -o greetings\.mp3`\. Commands: tts, jobs/],
    [['chapters/1.txt'], /use `foley tts -f chapters\/1\.txt -o 1\.mp3`\./],
    [['talk.mp3'], /unknown command "talk\.mp3"\nSee `foley --help` for the commands/],
    [['say', 'hi there'], /"say"\nDid you mean `foley tts "hi there" -o hi-there\.mp3`\?/],
    [['say'], /Did you mean `foley tts "Hello" -o hello\.mp3`\?/],
    [['sepak', 'hi'], /Did you mean `foley tts "hi" -o hi\.mp3`\?/],
    [['read', 'book.epub'], /Did you mean `foley tts -f book\.epub -o book\.mp3`\?/],
    [['speak', 'hi', '-o', 'a.mp3'], /Did you mean `foley tts "hi" -o a\.mp3`\?/],
    [['speak', '-f', 'a.txt'], /Did you mean `foley tts -f a\.txt`\?/],
    [['login'], /unknown command "login"\nDid you mean `foley auth login`\?/],
    [['status'], /Did you mean `foley live status` or `foley auth status`\?/],
    [['install', 'kokoro'], /Did you mean `foley engine add kokoro`\?/],
    [['-o', 'a.mp3', 'Hello'], /-o is given before the command\nThe command comes first, as in/],
    [['help', 'me'], /unknown command "me"\nCommands: tts/],
    [['version'], /unknown command "version"\nDid you mean `foley --version`\?/],
    [
      ['align', 'a.mp3', 'a.txt'],
      /too many arguments: "a.txt" is not expected\nFor the text of a file, use -f a.txt\./,
    ],
    [['tts', 'hi', '--sped', '1'], /'--sped'[\s\S]*Did you mean --speed\?/],
    [['tts', 'hi', '--rate', '1.2'], /'--rate'\nDid you mean --speed\?/],
    [['tts', 'hi', '--speed-x=1'], /'--speed-x[\s\S]*Did you mean --speed\?/],
    [['voices', 'list', '--jsn'], /'--jsn'[\s\S]*Did you mean --json\?/],
    [['--jsn', 'voices', 'list'], /'--jsn'[\s\S]*Did you mean --json\?/],
    [['serve', '--prot', '1'], /'--prot'[\s\S]*Did you mean --port\?/],
    [
      ['voices', 'list', '--json=yes'],
      /^foley: --json does not accept a value\nSee `foley voices list/,
    ],
    [['batch', 'a.txt', '-o', 'x'], /'-o'\nSee `foley batch --help`/],
    [['tts', 'hi', '-Z'], /'-Z'/],
  ])('%j', async (args, reason) => {
    const result = await runFoley(args);
    expect(result.code).toBe(2);
    expect(result.stdout).toHaveLength(0);
    expect(result.stderr).toMatch(reason);
    expect(result.stderr).toMatch(/^foley: .*\n[^\n]+--help[^\n]*\n$/);
  });

  test('also as an error line', async () => {
    for (const args of [
      ['--json', 'tss'],
      ['tts', 'hi', '--sped', '1', '--json'],
    ]) {
      expect(errorLine(await runFoley(args))).toMatchObject({ code: 'usage', exitCode: 2 });
    }
  });
});

test('the line that a hint names runs as it is, in a shell', async () => {
  const text = 'It\'s $5 `now`, "cheap" \\ fine!';
  const { stderr } = await runFoley([text]);
  const line = /use `(foley .*)`\. See/.exec(stderr)?.[1] ?? '';
  const { server, env } = await startHostedService();
  expect(await inShell(line, { env })).toMatchObject({ code: 0 });
  expect(speechBodyOf(server)).toMatchObject({ text });
});

test('in a folder that was removed, what needs it says so, and the rest works', async () => {
  const gone = 'mkdir gone && cd gone && rmdir ../gone';
  const result = await inShell(
    `${gone} && foley config path && foley help exit-codes && foley tts hi -o a.mp3 --json`,
  );
  expect([result.code, result.stdout.toString()]).toEqual([2, expect.stringMatching(/json\nCODE/)]);
  expect(errorLine(result)).toMatchObject({
    code: 'usage',
    message: 'the current folder was deleted',
    hint: expect.stringContaining('cd ~'),
    billed: 'no',
  });
  const order = 'foley image create cat -m vendor-image-1-flash -o a.png';
  expect(await inShell(`${gone} && ${order}`)).toMatchObject({
    code: 30,
    stderr: expect.stringMatching(/a\.png: the current folder was deleted\nGo to another/),
  });
});

describe('words that are missing or too many are exit 2', () => {
  test.each([
    [['voices', 'get'], /'id'/],
    [['voices', 'get', 'a', 'b'], /too many arguments/],
    [['voices', 'list', 'x'], /too many arguments/],
    [['serve', 'x'], /too many arguments/],
    [['tts', 'hi', '-o'], /--output.*missing/],
    [['tts', 'hi', '--speed'], /--speed.*missing/],
    [['voices', 'list', '--json=yes'], /--json/],
    [['voices', 'list', '--max-retries', '-1'], /--max-retries is "-1"/],
    [['voices', 'list', '--idle-timeout', 'soon'], /--idle-timeout is "soon".*500ms/],
    [['tts', 'hi', '--api', 'v4'], /--api is "v4"; it takes v3.*\n(?!Did you mean)/],
    [['voices', 'list', '--color', 'red'], /--color is "red".*auto, always, never/],
  ])('%j', async (args, reason) => {
    const result = await runFoley(args);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stdout).toHaveLength(0);
    expect(result.stderr).toMatch(reason);
  });
});

describe('a flag that takes one value is given at most once', () => {
  test.each([
    [['tts', 'hi', '-o', 'a.mp3', '--output', 'b.mp3'], /--output .*"a\.mp3".*"b\.mp3"/],
    [['tts', 'hi', '--speed', '1', '--speed=1.5'], /--speed .*"1".*"1\.5"/],
    [['batch', 'a.txt', '--report', 'a.html', '--report', 'b.json'], /--report /],
    [['--account', 'a', 'voices', 'list', '--account', 'b'], /--account /],
    [['voices', 'list', '--color', 'auto', '--color', 'auto'], /--color /],
    [['--account', 'a', '--account', 'b', '--help'], /--account /],
  ])('%j', async (args, reason) => {
    const result = await runFoley(args);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(reason) });
    expect(result.stderr).toMatch(/given more than once/);
  });

  test('and the others as often as wanted', async () => {
    const { env } = await startHostedService();
    const flags = ['--json', '--json', '-q', '-q', '-H', 'a:1', '-H', 'b:2'];
    const result = await runFoley(['api', 'GET', '/api/open/v3/voices', ...flags], { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('global flags', () => {
  test.each([
    [['--json', 'voices', 'list']],
    [['voices', '--json', 'list']],
    [['voices', 'list', '--json']],
    [['--max-retries', '0', '--json', 'voices', 'list']],
  ])('work anywhere: %j', async (args) => {
    const { env } = await startHostedService();
    const result = await runFoley(args, { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(parseJsonDocument(result.stdout)).toHaveProperty('items');
  });

  test('work before a command that has no verbs', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['--quiet', 'tts', 'Hi', '-o', 'hi.mp3'], { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('with values work before the command', async () => {
    const { server } = await startHostedService();
    const flags = ['--base-url', server.origin, '--api-key-file', '-'];
    const result = await runFoley([...flags, 'voices', 'list'], { input: 'some-key' });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('--max-retries 0 asks once', async () => {
    const { server, env } = await startHostedService([
      { method: 'GET', path: /voices/, answer: unavailable('0') },
    ]);
    const result = await runFoley(['voices', 'list', '--max-retries', '0'], { env });
    expect(result.code).toBe(23);
    expect(server.requests).toHaveLength(1);
  });

  test('--response-timeout ends the wait for an answer', async () => {
    const { env } = await startHostedService([
      { method: 'GET', path: /voices/, answer: silence() },
    ]);
    const flags = ['--response-timeout', '50ms', '--max-retries', '0'];
    const result = await runFoley(['voices', 'list', ...flags], { env });
    expect(result.code, result.stderr).toBe(24);
  });

  test.each([
    [['--color', 'always'], {}, true],
    [[], { FORCE_COLOR: '1' }, true],
    [[], {}, false],
    [['--color', 'always'], { NO_COLOR: '1' }, true],
    [['--color', 'never'], { FORCE_COLOR: '1' }, false],
  ])('%j with %j: coloured %s', async (flags, more, isColored) => {
    const { env } = await startHostedService();
    const result = await runFoley(['voices', 'list', ...flags], { env: { ...env, ...more } });
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.includes('\u001b[')).toBe(isColored);
  });

  test.each([
    [['--color', 'always'], {}, true],
    [['--color=never'], { FORCE_COLOR: '1' }, false],
    [[], {}, false],
  ])('a complaint about the words themselves, %j with %j: coloured %s', async (flags, env, is) => {
    const result = await runFoley(['tts', '--sped', '2', ...flags], { env });
    expect(result.code).toBe(2);
    expect(result.stderr.includes('\u001b[')).toBe(is);
  });
});
