import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { inShell } from '../harness/in-shell.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { speechBodyOf, startHostedService } from '../binary/support/hosted-service.ts';
import { refused, spokenText } from '../binary/support/spoken-text.ts';

const UTF16 = Buffer.from('\ufeffHello', 'utf16le');

async function sandboxWith(name: string, content: string | Uint8Array) {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, name), content);
  return sandbox;
}

describe('text comes', () => {
  test('from the arguments, joined by a space', async () => {
    expect(await spokenText(['Hello', 'brave  new', 'world'])).toBe('Hello brave  new world');
  });

  test('from a file, as it is', async () => {
    const text = 'First line.\n\tSecond “line” 👋\r\n';
    const sandbox = await sandboxWith('a text.txt', text);
    expect(await spokenText(['-f', 'a text.txt'], { sandbox })).toBe(text);
  });

  test.each([['-f', '-'], ['--file=-'], []])('from stdin with [%s %s]', async (...args) => {
    expect(await spokenText(args, { input: 'From a pipe. Čau 👋' })).toBe('From a pipe. Čau 👋');
  });

  test('from something that is no regular file', async () => {
    const { server, env } = await startHostedService();
    const result = await inShell('foley tts -o out.mp3 -f <(printf "Hello there")', { env });
    expect(result).toMatchObject({ code: 0 });
    expect(speechBodyOf(server)).toMatchObject({ text: 'Hello there' });
  });

  test('from stdin that arrives in the middle of a character', async () => {
    const { server, env } = await startHostedService();
    const running = await startFoley(['tts', '-o', 'out.mp3'], { env, keepInputOpen: true });
    const bytes = Buffer.from('a👋b');
    running.write(bytes.subarray(0, 3));
    running.write(bytes.subarray(3));
    running.endInput();
    expect(await running.done).toMatchObject({ code: 0 });
    expect(speechBodyOf(server)).toMatchObject({ text: 'a👋b' });
  });
});

describe('an argument that is the name of a file', () => {
  test.each([[['tts']], [['jobs', 'create']], [['text']], [['live', '--json']]])(
    'is spoken by %j as a text, with a notice that names -f',
    async (command) => {
      const sandbox = await sandboxWith('chapter.txt', 'Once upon a time.');
      const output = command[0] === 'text' ? [] : ['-o', 'a.mp3'];
      const result = await runFoley([...command, 'chapter.txt', ...output, '--local'], { sandbox });
      expect(result.code, result.stderr).toBe(0);
      expect(result.stderr.replaceAll('\n', ' ')).toContain(
        '"chapter.txt" is used as the text. For the text of the file chapter.txt, use -f chapter.txt.',
      );
    },
  );

  test.each([
    ['', 'Once upon a time.'],
    ['y', 'Once upon a time.'],
    ['No', 'chapter.txt'],
  ])('is asked for on a terminal, and "%s" speaks "%s"', async (answer, text) => {
    const { server, env } = await startHostedService();
    const sandbox = await sandboxWith('chapter.txt', 'Once upon a time.');
    const running = await startInTerminal(['tts', 'chapter.txt', '-o', 'a.mp3'], { sandbox, env });
    await running.waitFor('stdout', /chapter\.txt is a file\. Use its text\? \[Y\/n\] /);
    expect(server.connections).toBe(0);
    running.write(`${answer}\r`);
    expect(await running.done).toMatchObject({ code: 0 });
    expect(speechBodyOf(server)).toMatchObject({ text });
  });

  test.each([
    ['another answer', 'what?\r'],
    ['the end of the input', '\x04'],
  ])('is asked for on a terminal, and %s sends nothing', async (_, typed) => {
    const { server, env } = await startHostedService();
    const sandbox = await sandboxWith('chapter.txt', 'Once upon a time.');
    const running = await startInTerminal(['tts', 'chapter.txt', '-o', 'a.mp3'], { sandbox, env });
    await running.waitFor('stdout', /Use its text\?/);
    running.write(typed);
    const { code, stdout } = await running.done;
    expect(code).toBe(2);
    expect(stdout.toString().replaceAll(/\s+/g, ' ')).toContain(
      'chapter.txt is a file For the text of the file chapter.txt, use -f chapter.txt.',
    );
    expect(server.connections).toBe(0);
  });

  test('with others is spoken as a text, with a notice that names foley batch', async () => {
    const sandbox = await sandboxWith('one.txt', 'One.');
    await writeFile(path.join(sandbox.out, 'two 2.txt'), 'Two.');
    const result = await runFoley(['text', 'one.txt', 'two 2.txt'], { sandbox });
    expect(result.stdout.toString()).toBe('one.txt two 2.txt\n');
    expect(result.stderr).toContain("`foley batch one.txt 'two 2.txt'` speaks their texts.");
    const other = await runFoley(['text', 'one.txt', 'three.txt'], { sandbox });
    expect(other.stderr).not.toContain('foley batch');
    const running = await startInTerminal(['tts', 'one.txt', 'two 2.txt'], { sandbox });
    await running.waitFor(
      'stdout',
      /one\.txt two 2\.txt are files\. Speak these words\? \[y\/N\] /,
    );
    running.write('\r');
    expect(await running.done).toMatchObject({ code: 2 });
  });

  test('is not asked for with --no-input', async () => {
    const { server, env } = await startHostedService();
    const sandbox = await sandboxWith('chapter.txt', 'Once upon a time.');
    const words = ['tts', 'chapter.txt', '-o', 'a.mp3', '--no-input'];
    const running = await startInTerminal(words, { sandbox, env });
    expect(await running.done).toMatchObject({ code: 0 });
    expect(speechBodyOf(server)).toMatchObject({ text: 'chapter.txt' });
  });
});

describe('an argument that looks like the path of a missing file', () => {
  test.each([
    ['chapters/one.txt'],
    ['book.epub'],
    ['./notes.md'],
    ['../notes'],
    ['~/a.txt'],
    ['/texts/a.txt'],
    [String.raw`texts\a.docx`],
    ['Kapitel-1.TXT'],
    ['notes.mkd'],
    ['list.toml'],
    ['book.azw'],
  ])('%s is spoken with a notice', async (name) => {
    const result = await runFoley(['text', name]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toContain(`"${name}" is used as the text. No file has this name.`);
  });

  test.each([
    ['Node.js'],
    ['and/or'],
    ['See notes.txt'],
    ['example.org'],
    ['https://example.com/a.html'],
    ['example.com/a.html'],
    ['ASP.NET'],
    ['.md'],
    ['3/4'],
    ['No.'],
    ['km/h'],
    ['...'],
    ['w/o'],
    ['he said/she said'],
    ['24/7'],
    ['/r/news'],
    [':/'],
  ])('%s is no path', async (text) => {
    const result = await runFoley(['text', text]);
    expect(result.stderr).not.toContain('is used as the text');
  });

  test('a folder is spoken with a notice that names batch', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'texts'));
    const folder = await runFoley(['text', 'texts/'], { sandbox });
    expect(folder.stderr).toContain('`foley batch FOLDER` speaks the texts of a folder.');
    expect((await runFoley(['text', 'texts'], { sandbox })).stderr).not.toContain('folder');
  });

  test.each([
    ['y', 0],
    ['n', 2],
  ])('is asked for on a terminal, and %s exits with %i', async (answer, code) => {
    const { server, env } = await startHostedService();
    const running = await startInTerminal(['tts', 'one.txt', '-o', 'a.mp3'], { env });
    await running.waitFor('stdout', /no such file: one\.txt\. Speak these words\? \[y\/N\] /);
    running.write(`${answer}\r`);
    expect(await running.done).toMatchObject({ code });
    expect(server.connections > 0).toBe(code === 0);
  });
});

describe('stdin', () => {
  test('is not read when text is given', async () => {
    const { env } = await startHostedService();
    const options = { env, input: 'left for the next' };
    const result = await inShell('foley tts hi -o out.mp3 && cat', options);
    expect(result.stdout.toString()).toBe('left for the next');
  });

  test('is not read when a file is given', async () => {
    const { env } = await startHostedService();
    const sandbox = await sandboxWith('text.txt', 'hi');
    const options = { sandbox, env, input: 'left for the next' };
    const result = await inShell('foley tts -f text.txt -o out.mp3 && cat', options);
    expect(result.stdout.toString()).toBe('left for the next');
  });

  test('is not waited for when text is given', async () => {
    const { env } = await startHostedService();
    const running = await startFoley(['tts', 'hi', '-o', 'x.mp3'], { env, keepInputOpen: true });
    expect(await running.done).toMatchObject({ code: 0 });
  });

  test('is not waited for on a terminal', async () => {
    const { server, env } = await startHostedService();
    const running = await startInTerminal(['tts'], { env });
    const result = await running.done;
    expect(result.code).toBe(2);
    expect(result.stdout.toString()).toMatch(/no text to speak/);
    expect(server.connections).toBe(0);
  });

  test.each([
    ['-f', '-'],
    ['-o', 'out.mp3'],
  ])('cannot give both the text and the key (%s %s)', async (...args) => {
    const { env } = await startHostedService();
    const withoutKey = { FOLEY_BASE_URL: env['FOLEY_BASE_URL'] ?? '' };
    const options = { env: withoutKey, input: 'some-key\n' };
    const result = await runFoley(['tts', ...args, '--api-key-file', '-'], options);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toMatch(/--api-key-file -/);
    expect(result.stderr).toMatch(/text/);
  });
});

describe('a byte order mark is dropped', () => {
  test('from a file', async () => {
    const sandbox = await sandboxWith('bom.txt', '\ufeffHello');
    expect(await spokenText(['-f', 'bom.txt'], { sandbox })).toBe('Hello');
  });

  test('from stdin, but only at the beginning', async () => {
    expect(await spokenText([], { input: '\ufeffa\ufeffb' })).toBe('a\ufeffb');
  });
});

describe('what is no text is refused and named', () => {
  test.each([
    ['bytes that are no UTF-8', Buffer.from([0x48, 0x0a, 0xff, 0x69]), /not valid UTF-8.*0xff/],
    ['a character that is cut off', Buffer.from('Hi 👋').subarray(0, -1), /not valid UTF-8/],
    ['UTF-16', UTF16, /UTF-16/],
    ['UTF-16, big-endian', Buffer.from(UTF16).swap16(), /UTF-16/],
    ['nothing', '', /is empty/],
    ['white space', ' \n\t\u00a0\u3000', /is empty/],
    ['a byte order mark', '\ufeff', /is empty/],
  ])('%s', async (_, content, reason) => {
    const sandbox = await sandboxWith('bad.txt', content);
    const fromFile = await refused(['-f', 'bad.txt', '-o', 'x.mp3'], { sandbox });
    expect(fromFile.stderr).toMatch(reason);
    expect(fromFile.stderr).toMatch(/bad\.txt/);
    const fromPipe = await refused(['-o', 'x.mp3'], { sandbox, input: content });
    expect(fromPipe.stderr).toMatch(reason);
    expect(fromPipe.stderr).toMatch(/stdin/);
  });

  test('an empty argument', async () => {
    expect((await refused([''])).stderr).toMatch(/arguments is empty/);
  });

  test('no stdin', async () => {
    expect((await refused([])).stderr).toMatch(/stdin is empty/);
  });

  test('a folder', async () => {
    const { stderr } = await refused(['-f', '.']);
    expect(stderr).toMatch(/^foley: \. is a folder/);
  });

  test('a file that is not there', async () => {
    const { stderr } = await refused(['-f', 'nowhere.txt']);
    expect(stderr).toMatch(/no such file: nowhere\.txt/);
  });

  test('text that is given twice', async () => {
    const sandbox = await sandboxWith('text.txt', 'hi');
    const { stderr } = await refused(['hi', '-f', 'text.txt'], { sandbox });
    expect(stderr).toMatch(/twice.*--file text\.txt/);
  });
});
