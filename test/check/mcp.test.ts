import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execa } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFixture, onSpeech, speechRequests, VOICE } from '../binary/support/fixture.ts';
import * as faults from '../fault-server/catalogue.ts';
import { cleanEnvironment } from '../harness/environment.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { FOLEY, runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { BOOK } from '../harness/tagged-book.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';

/** What a tool returned. */
interface Answer {
  readonly isError: boolean;
  readonly result: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
}

interface Agent {
  readonly client: Client;
  call(
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Answer>;
}

/** Starts `foley mcp` in the output folder of a sandbox, and connects the client of the SDK. */
async function connect(
  sandbox: Sandbox,
  flags: readonly string[] = ['--local'],
  env: Readonly<Record<string, string>> = {},
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: TESTED_NODE,
    args: [FOLEY, 'mcp', ...flags],
    cwd: sandbox.out,
    env: { ...cleanEnvironment(sandbox), ...env },
    stderr: 'pipe',
  });
  await client.connect(transport);
  // From now on, the client checks each result against the schema of its tool.
  await client.listTools();
  onTestFinished(() => client.close());
  return {
    client,
    async call(name, given, signal) {
      const answer = Object(
        await client.callTool(
          { name, arguments: { ...given } },
          { ...(signal && { signal }), timeout: 110_000 },
        ),
      );
      const links = answer.content.flatMap(({ uri }: { uri?: string }) => uri ?? []);
      return { isError: answer.isError === true, result: answer.structuredContent, links };
    },
  };
}

const SCRIPT = Array.from(
  { length: 20 },
  (_, at) => `ADA: Is ${at} open?\n\nBO: Number ${at} is open.\n`,
).join('');

describe('foley mcp', () => {
  test('has nine tools, whose arguments are described by the flags of the commands', async () => {
    const { client } = await connect(await createSandbox());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'speak',
      'speak_script',
      'caption',
      'align',
      'list_voices',
      'list_models',
      'preview',
      'job',
      'recover',
    ]);
    for (const { outputSchema } of tools) {
      expect(outputSchema).toMatchObject({
        type: 'object',
        anyOf: expect.arrayContaining([
          expect.objectContaining({ required: expect.arrayContaining(['exitCode']) }),
        ]),
      });
    }
    const [spoken] = Object(tools[0]?.outputSchema).anyOf;
    expect(spoken.required).toEqual(expect.arrayContaining(['output', 'creditsUsed', 'exitCode']));
    const { inputSchema } = tools[0] ?? {};
    expect(inputSchema?.required).toEqual(['output']);
    expect(Object(inputSchema?.properties).only_chapters.description).toContain('1-3,7');
  });

  test('speaks with captions, aligns what it spoke, and converts the captions', async () => {
    const sandbox = await createSandbox();
    const { call } = await connect(sandbox);
    const text = 'The old bridge is open again.';
    const files = { output: 'a.mp3', subtitles: ['a.srt'], timings: 'a.json' };
    const spoken = await call('speak', { text, voice_name: 'Clara', ...files });
    expect(spoken, JSON.stringify(spoken.result)).toMatchObject({ isError: false });
    expect(spoken.result).toMatchObject({ files: ['a.mp3', 'a.srt', 'a.json'], exitCode: 0 });
    expect(spoken.links[0]).toMatch(/^file:\/\/.*a\.mp3$/);
    await writeFile(path.join(sandbox.out, 'a.txt'), text);
    const aligned = await call('align', { audio: 'a.mp3', file: 'a.txt', subtitles: ['b.vtt'] });
    expect(aligned.result).toMatchObject({ files: ['b.vtt'], exitCode: 0 });
    const captions = await call('caption', { file: 'a.srt', subtitles: ['a.ass'] });
    expect(captions.result['files']).toEqual(['a.ass']);
    expect(await readFile(path.join(sandbox.out, 'a.ass'), 'utf8')).toContain('Dialogue:');
  });

  test('speaks a chapter of a book with captions', async () => {
    const sandbox = await createSandbox();
    const { call } = await connect(sandbox);
    await writeFile(path.join(sandbox.out, 'book.epub'), BOOK);
    const book = { file: 'book.epub', only_chapters: '2', voice_name: 'Clara' };
    const { result } = await call('speak', {
      ...book,
      output: 'boat.mp3',
      subtitles: ['boat.srt'],
    });
    expect(result, JSON.stringify(result)).toMatchObject({
      files: ['boat.mp3', 'boat.srt'],
      durationMs: expect.any(Number),
      exitCode: 0,
    });
    const captions = await readFile(path.join(sandbox.out, 'boat.srt'), 'utf8');
    expect(captions).toContain('Then the boat came in');
    expect(captions).not.toContain('harbour');
  });

  test('makes a recording of a script with two voices, and tells its progress', async () => {
    const sandbox = await createSandbox();
    const { client } = await connect(sandbox);
    // A slow source: when the lines are known, the call has lasted longer than the time between two reports.
    await execa('mkfifo', ['talk.txt'], { cwd: sandbox.out });
    const source = execa({ cwd: sandbox.out })`sh -c ${'exec >talk.txt; sleep 3; cat'}`;
    source.stdin.end(SCRIPT);
    const seen: { progress: number; total?: number | undefined }[] = [];
    const given = { file: 'talk.txt', output: 'talk.mp3', cast: ['ADA=Clara', 'BO=Martin'] };
    const answer = await client.callTool(
      { name: 'speak_script', arguments: given },
      { onprogress: (progress) => seen.push(progress), timeout: 110_000 },
    );
    expect(answer.structuredContent).toMatchObject({ files: ['talk.mp3'], done: 40, failed: 0 });
    const numbers = seen.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
    expect(seen[0]).toMatchObject({ progress: 0, total: 40 });
  });

  test('shows what will be said, and lists voices and models', async () => {
    const { call } = await connect(await createSandbox());
    const preview = await call('preview', { text: 'It costs $5.', reading: true });
    expect(preview.result).toMatchObject({ characters: 12, reading: ['It costs five dollars.'] });
    const { result } = await call('list_voices', { search: 'Clara' });
    expect(result['items']).toMatchObject([{ name: 'Clara' }]);
    expect((await call('list_models', {})).isError).toBe(false);
  });

  test('creates a job that goes on when the client is gone', async () => {
    const sandbox = await createSandbox();
    const { call, client } = await connect(sandbox);
    const created = await call('job', { action: 'create', text: 'A job.', voice_name: 'Clara' });
    const { id = '' } = created.result;
    await client.close();
    const other = await connect(sandbox);
    const waited = await other.call('job', { action: 'wait', id, output: 'job.mp3' });
    expect(waited.result, JSON.stringify(waited.result)).toMatchObject({ files: ['job.mp3'] });
  });

  test('speaks a megabyte of text, which no command line could hold', async () => {
    const { call } = await connect(await createSandbox());
    const text = 'Words of a long text. '.repeat(48_000);
    const { result } = await call('preview', { text });
    expect(result['characters']).toBe(text.length);
  });

  test('answers twenty calls at once', async () => {
    const { call } = await connect(await createSandbox());
    const calls = Array.from({ length: 20 }, (_, at) => call('preview', { text: `Number ${at}.` }));
    const texts = (await Promise.all(calls)).map(({ result }) => result['text']);
    expect(texts).toEqual(Array.from({ length: 20 }, (_, at) => `Number ${at}.`));
  });

  test('goes on after garbage on stdin, and ends when stdin ends', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize' };
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const input = `garbage\n{"a":\n\u0000\n${JSON.stringify({ ...request, params })}\n`;
    const result = await runFoley(['mcp'], { input });
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      id: 1,
      result: { serverInfo: { name: 'foley' } },
    });
  });
});

describe('the folder of foley mcp', () => {
  test.each(['../a.mp3', '/a.mp3', 'link/a.mp3', 'dangling.mp3', 'link/../../a.mp3'])(
    'holds all files: %s is refused, and nothing is sent',
    async (output) => {
      const fixture = await createFixture([]);
      const { out } = fixture.sandbox;
      await symlink(path.dirname(out), path.join(out, 'link'));
      await symlink(path.join(path.dirname(out), 'gone.mp3'), path.join(out, 'dangling.mp3'));
      const { call } = await connect(fixture.sandbox, [], fixture.env);
      const { isError, result } = await call('speak', { text: 'Hi.', voice: VOICE, output });
      expect({ isError, result }).toMatchObject({
        isError: true,
        result: { error: { code: 'usage', billed: 'no', hint: expect.stringContaining('--dir') } },
      });
      const file = await call('preview', { file: output });
      expect(file.isError).toBe(true);
      expect(speechRequests(fixture)).toEqual([]);
    },
  );

  test('keeps its files, unless --allow-overwrite is given', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'sub'));
    await writeFile(path.join(sandbox.out, 'sub/a.mp3'), 'mine');
    const given = { text: 'Hi.', voice_name: 'Clara', output: 'sub/a.mp3' };
    const { call } = await connect(sandbox);
    const { result } = await call('speak', given);
    expect(result).toMatchObject({ error: { message: expect.stringContaining('a.mp3 exists') } });
    expect(await readFile(path.join(sandbox.out, 'sub/a.mp3'), 'utf8')).toBe('mine');
    const other = await connect(sandbox, ['--local', '--allow-overwrite']);
    expect((await other.call('speak', given)).isError).toBe(false);
  });
});

describe('money', () => {
  test('a budget counts all calls of a session, also those at once', async () => {
    const fixture = await createFixture([]);
    const flags = ['--max-credits', '6', '--credit-rate', '1'];
    const { call } = await connect(fixture.sandbox, flags, fixture.env);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) =>
        call('speak', { text: 'Hi.', voice: VOICE, output: `${name}.mp3` }),
      ),
    );
    // Each costs two credits and is estimated at three, so that the third may cost too much.
    const spoken = answers.filter(({ isError }) => !isError);
    expect(spoken).toHaveLength(2);
    expect(speechRequests(fixture)).toHaveLength(2);
    expect((await call('list_models', {})).isError).toBe(false);
  });

  test('a cancelled call leaves no file, and recover finds what was paid for', async () => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const { call } = await connect(fixture.sandbox, [], fixture.env);
    const cancel = new AbortController();
    const speaking = call('speak', { text: 'Hi.', voice: VOICE, output: 'a.mp3' }, cancel.signal);
    await fixture.server.paused();
    cancel.abort();
    await expect(speaking).rejects.toThrow();
    await expect
      .poll(async () => (await call('recover', { list: true })).result['items'])
      .toHaveLength(1);
    await expect(lstat(path.join(fixture.sandbox.out, 'a.mp3'))).rejects.toThrow();
  });

  test('an error has the code, the hint and the billing of the command, and no key is in it', async () => {
    const fixture = await createFixture([]);
    const { call } = await connect(fixture.sandbox, [], fixture.env);
    const answer = await call('speak', { text: 'Hi.', voice: VOICE, output: 'a.wma' });
    expect(answer).toMatchObject({
      isError: true,
      result: { error: { code: 'usage', billed: 'no' } },
    });
    expect(JSON.stringify(answer)).not.toContain(fixture.key);
  });
});
