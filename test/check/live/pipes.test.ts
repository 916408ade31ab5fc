import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { RunOptions } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { serve } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import type { ScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { live, REQUEST_ID, scripted, WHO } from '../../binary/live/spoken.ts';

async function start(server: ScriptedServer, args: readonly string[], options: RunOptions = {}) {
  const all = ['live', ...WHO, '--request-id', REQUEST_ID, '--format', 'pcm', ...args];
  return startFoley(all, { keepInputOpen: true, input: '', ...options, env: scripted(server) });
}

test('a sentence is spoken while the next one is written', async () => {
  const server = await startScriptedServer();
  const running = await start(server, ['--flush-after', '1h']);
  running.write('One is he');
  running.write('re. Two is ');
  await running.waitFor('stdout', /^[^]/);
  const connection = await server.connected();
  const first = await connection.receivedMessage('text');
  expect(first).toMatchObject({ sequence: 1, text: 'One is here.' });
  // The emoji is four bytes, which arrive in two pieces.
  running.write(Uint8Array.of(0xf0, 0x9f));
  running.write(Uint8Array.of(0x90, 0xb1));
  running.endInput();
  const result = await running.done;
  expect(result.code).toBe(0);
  expect(result.stdout.equals(spokenAudio(['One is here.', 'Two is 🐱'], 'pcm'))).toBe(true);
});

test('a sentence before a pause does not wait for --flush-after', async () => {
  const server = await startScriptedServer();
  const running = await start(server, ['--flush-after', '1h']);
  const connection = await server.connected();
  await connection.receivedMessage('start');
  running.write('First sentence.');
  expect(await connection.receivedMessage('text')).toMatchObject({ text: 'First sentence.' });
  running.endInput();
  expect((await running.done).code).toBe(0);
});

test('an incomplete sentence is spoken after --flush-after', async () => {
  const server = await startScriptedServer();
  const running = await start(server, ['--flush-after', '50ms']);
  running.write('No end in sight');
  const connection = await server.connected();
  await connection.receivedMessage('flush');
  running.write(' and then one.');
  running.endInput();
  const { code, stdout } = await running.done;
  expect(code).toBe(0);
  expect(stdout.equals(spokenAudio(['No end in sight', 'and then one.'], 'pcm'))).toBe(true);
});

test.each([
  ['line', 'One. Two.\nThree.\n', ['One. Two.', 'Three.']],
  ['input', 'One. Two.\nThree.\n', ['One. Two.\nThree.']],
])('--segment-by %s', async (by, input, segments) => {
  const server = await startScriptedServer();
  const { code } = await live(server, ['--segment-by', by, '-o', 'a.mp3'], { input });
  expect(code).toBe(0);
  expect(server.book.charges.map(({ text }) => text)).toEqual(segments);
});

test('a refusal ends the command while the pipe is open', async () => {
  const server = await startScriptedServer({ connections: [{ refuse: { status: 401 } }] });
  const running = await start(server, ['--json', '-o', 'a.pcm']);
  expect(errorLine(await running.done)).toMatchObject({ exitCode: 4 });
});

test.each([
  ['an empty pipe', ''],
  ['a pipe with nothing but white space', ' \n\t\n'],
])('%s is exit 2', async (_name, input) => {
  const server = await startScriptedServer();
  for (const mode of ['simple', 'reliable']) {
    const result = await live(server, ['--mode', mode, '--json', '-o', 'a.mp3'], { input });
    expect(errorLine(result)).toMatchObject({ exitCode: 2, billed: 'no', code: 'usage' });
    expect(await readdir(result.sandbox.out)).toEqual([]);
  }
  expect(server.book.charges).toEqual([]);
});

test('invalid UTF-8 is exit 2, with its position', async () => {
  const server = await startScriptedServer();
  const input = Buffer.concat([Buffer.from('One is here. Two'), Buffer.of(0xff)]);
  const result = await live(server, ['--json', '-o', 'a.mp3'], { input });
  expect(errorLine(result)).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('offset 16'),
    billed: 'no',
  });
});

describe('ending early', () => {
  test('by closing the output pipe is silent', async () => {
    const server = await startScriptedServer();
    const running = await start(server, []);
    running.write('One is here. Two is ');
    await running.waitFor('stdout', /^[^]/);
    running.closeOutput('stdout');
    running.write('there. And three. ');
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
    const connection = await server.connected();
    await connection.gone;
  });

  test('by Ctrl-C prints how to resume, and leaves no incomplete file', async () => {
    const steps = [{ kind: 'pause' } as const];
    const faults = [{ on: 'sent', event: 'audio', number: 2, when: 'before', steps } as const];
    const server = await startScriptedServer({ connections: [{ steps: [serve({ faults })] }] });
    const running = await start(server, ['-o', 'a.pcm'], { keepInputOpen: true });
    running.write('One is here. Two is ');
    await server.gate.paused();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    expect(result.stderr).toMatch(
      /stopped; the received audio .*--request-id request-1 --retry-failed/,
    );
    expect(await readdir(result.sandbox.out)).toEqual([]);
    const connection = await server.connected();
    await connection.gone;
    expect(connection.ending).toMatchObject({ kind: 'closed', code: 1000 });
  });
});

test('a slow reader loses nothing', async () => {
  const audio = { framesPerSegment: 60, frameBytes: 60_000 };
  const texts = Array.from({ length: 4 }, (_none, index) => `This is number ${index}.`);
  const server = await startScriptedServer({ audio });
  const running = await start(server, [], { holdStdout: true });
  running.write(texts.join('\n\n'));
  running.endInput();
  const connection = await server.connected();
  await connection.receivedMessage('flush', texts.length);
  running.resumeStdout();
  const { code, stdout } = await running.done;
  expect(code).toBe(0);
  expect(stdout.equals(spokenAudio(texts, 'pcm', audio))).toBe(true);
}, 120_000);

test('a long text uses reliable mode by default', async () => {
  const server = await startScriptedServer();
  const text = `${'These are the words of it, '.repeat(12)}and here it ends. `.repeat(40);
  const args = ['live', ...WHO, text, '-o', 'a.mp3'];
  const { code } = await runFoley(args, { env: scripted(server) });
  expect(code).toBe(0);
  // The first sentence is two segments, so that audio starts sooner.
  expect(server.book.charges).toHaveLength(41);
});

test('Markdown from a pipe is spoken without its marks, with --text-format markdown', async () => {
  const input = '# Title\n\nSee *[this](http://x.com)*.\n\n---\n- one\n- two\n';
  const args = ['-o', 'a.mp3'];
  const plain = await startScriptedServer();
  expect(await live(plain, args, { input: '# Title' })).toMatchObject({ code: 0 });
  expect(plain.book.charges.map(({ text }) => text)).toEqual(['# Title']);
  const server = await startScriptedServer();
  const markdown = [...args, '--text-format', 'markdown'];
  expect(await live(server, markdown, { input })).toMatchObject({ code: 0 });
  const segments = ['Title.', 'See this.', 'one.', 'two.'];
  expect(server.book.charges.map(({ text }) => text)).toEqual(segments);
});

test.each(['a.md', 'b.MARKDOWN'])(
  'Markdown in the file %s is spoken without its marks',
  async (name) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, name), '# Title\n\nSee *this*.\n\n---\n');
    const server = await startScriptedServer();
    const reliable = ['-f', name, '--mode', 'reliable', '-o', 'a.mp3'];
    expect(await live(server, reliable, { sandbox })).toMatchObject({ code: 0 });
    expect(server.book.charges.map(({ text }) => text)).toEqual(['Title.', 'See this.']);
    const other = await startScriptedServer();
    const plain = ['-f', name, '--text-format', 'plain', '-o', 'b.mp3'];
    expect(await live(other, plain, { sandbox })).toMatchObject({ code: 0 });
    expect(other.book.charges.map(({ text }) => text)).toEqual(['# Title\n\nSee *this*.\n\n---\n']);
  },
);

test.each(['html', 'epub', 'ssml', 'srt'])(
  'a file with the extension .%s is refused',
  async (extension) => {
    const sandbox = await createSandbox();
    const name = `a.${extension}`;
    await writeFile(path.join(sandbox.out, name), '<p>Hi</p>');
    const server = await startScriptedServer();
    const refused = await live(server, ['-f', name, '-o', 'a.mp3'], { sandbox });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain(`.rtf and .fb2, not a.${extension}`);
    expect(server.book.charges).toEqual([]);
    const plain = ['-f', name, '--text-format', 'plain', '-o', 'a.mp3'];
    expect(await live(server, plain, { sandbox })).toMatchObject({ code: 0 });
  },
);

test('Markdown as an argument is spoken without its marks, with --text-format markdown', async () => {
  const server = await startScriptedServer();
  const args = ['--text-format', 'markdown', '-o', 'a.mp3', '# Hi *you*'];
  expect(await live(server, args)).toMatchObject({ code: 0 });
  expect(server.book.charges.map(({ text }) => text)).toEqual(['Hi you.']);
  const refused = await live(server, ['--code', 'read', '-o', 'b.mp3'], { input: 'Hi' });
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('--code works with Markdown');
});
