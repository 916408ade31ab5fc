import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FaultServer } from '../fault-server/fault-server.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { answer } from '../fault-server/http-text.ts';
import type { RecordedRequest } from '../fault-server/recorded-request.ts';
import { pause } from '../fault-server/steps.ts';
import { hosted } from '../harness/hosted.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const PATH = '/api/open/v1/voices';

interface Sent {
  readonly request: RecordedRequest;
  readonly body: string;
  readonly type: string | undefined;
}

async function listener(): Promise<FaultServer> {
  return startFaultServer([{ answer: answer(200, { 'Content-Type': 'application/json' }, '{}') }]);
}

/** What arrives at the service when the call is made. */
async function sent(args: readonly string[], options: RunOptions = {}): Promise<Sent> {
  const server = await listener();
  const result = await runFoley(['api', ...args], { ...options, env: hosted(server) });
  expect(result.stderr).toBe('');
  expect(result.code).toBe(0);
  const request = await server.received();
  return { request, body: request.body.toString(), type: request.header('content-type') };
}

function each(flag: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [flag, value]);
}

async function withFile(name: string, content: string | Uint8Array): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, name), content);
  return sandbox;
}

describe('fields', () => {
  test('are a JSON body', async () => {
    const sandbox = await withFile('text.txt', 'Hello.\n');
    const fields = [
      'text=@text.txt',
      'speed=1.5',
      'on=true',
      'off=null',
      'a[b]=x',
      'l[]=1',
      'l[]=2',
    ];
    const args = each('-F', fields);
    const { body, request, type } = await sent(['POST', PATH, ...args], { sandbox });
    expect(type).toBe('application/json');
    expect(request.header('content-length')).toBe(`${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toStrictEqual({
      text: 'Hello.\n',
      speed: 1.5,
      on: true,
      off: null,
      a: { b: 'x' },
      l: [1, 2],
    });
  });

  test('of -f stay strings', async () => {
    const { body } = await sent(['POST', PATH, '-f', 'text=2024', '-f', 'at=@me', '-F', 'n=2024']);
    expect(JSON.parse(body)).toStrictEqual({ text: '2024', at: '@me', n: 2024 });
  });

  test('of a GET are its query, after the one it has', async () => {
    const fields = [
      'page=2',
      'includePersonal=true',
      'search=a b&c',
      'l[]=1',
      'l[]=2',
      'none=null',
    ];
    const args = each('-F', fields);
    const { request } = await sent(['GET', `${PATH}?x=1`, ...args]);
    expect(request.path).toBe(PATH);
    expect([...request.query]).toStrictEqual([
      ['x', '1'],
      ['page', '2'],
      ['includePersonal', 'true'],
      ['search', 'a b&c'],
      ['l[]', '1'],
      ['l[]', '2'],
      ['none', ''],
    ]);
    expect(request.body).toHaveLength(0);
    expect(request.header('content-type')).toBeUndefined();
  });

  test('from stdin', async () => {
    const { body } = await sent(['POST', PATH, '-F', 'text=@-'], { input: 'höre' });
    expect(JSON.parse(body)).toStrictEqual({ text: 'höre' });
  });

  test('what is not UTF-8 is no value of JSON', async () => {
    const sandbox = await withFile('a.bin', Buffer.from([0xff, 0xfe, 0x00]));
    const server = await startFaultServer([]);
    const result = await runFoley(['api', 'POST', PATH, '-F', 'a=@a.bin'], {
      sandbox,
      env: hosted(server),
    });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('-F a=@a.bin is');
    expect(server.connections).toBe(0);
  });
});

describe('--body', () => {
  test('sends a file as it is, as JSON unless a header says otherwise', async () => {
    const bytes = Buffer.from([0, 1, 2, 0xff, 0x0d, 0x0a]);
    const sandbox = await withFile('body.bin', bytes);
    const { request, type } = await sent(['POST', PATH, '--body', 'body.bin'], { sandbox });
    expect([type, request.body]).toStrictEqual(['application/json', bytes]);
    const args = ['PUT', PATH, '--body', 'body.bin', '-H', 'Content-Type: audio/wav'];
    expect((await sent(args, { sandbox })).type).toBe('audio/wav');
  });

  test('sends stdin', async () => {
    const { body } = await sent(['POST', PATH, '--body', '-'], { input: '{"a":1}' });
    expect(body).toBe('{"a":1}');
  });
});

describe('headers', () => {
  test('arrive, and the request id and the key are the user’s', async () => {
    const given = ['X-Request-Id: mine', 'Idempotency-Key: key', 'model: s1', 'Accept: audio/wav'];
    const { request } = await sent(['POST', PATH, ...each('-H', given)]);
    expect(request.header('x-request-id')).toBe('mine');
    expect(request.header('idempotency-key')).toBe('key');
    expect(request.header('model')).toBe('s1');
    expect(request.header('accept')).toBe('audio/wav');
    expect(request.headers.filter(([name]) => name === 'x-request-id')).toHaveLength(1);
  });
});

describe('--form', () => {
  test('without files is a form as browsers send it', async () => {
    const { body, type } = await sent([
      'POST',
      PATH,
      '--form',
      '-F',
      'a=1 ü',
      '-F',
      'b[]=x',
      '-F',
      'b[]=y',
    ]);
    expect(type).toBe('application/x-www-form-urlencoded');
    expect([...new URLSearchParams(body)]).toStrictEqual([
      ['a', '1 ü'],
      ['b[]', 'x'],
      ['b[]', 'y'],
    ]);
  });

  test('with files is multipart, with the length announced', async () => {
    const sandbox = await withFile('ada.wav', 'RIFF one');
    await writeFile(path.join(sandbox.out, 'ädä "2".wav'), 'RIFF two');
    const fields = [
      'name=Ada',
      'languages=["en"]',
      'audioFiles=@ada.wav',
      'audioFiles=@ädä "2".wav',
    ];
    const { request, type } = await sent(['POST', PATH, '--form', ...each('-F', fields)], {
      sandbox,
    });
    expect(request.header('content-length')).toBe(`${request.body.length}`);
    const headers = { 'content-type': type ?? '' };
    const form = await new Response(new Uint8Array(request.body), { headers }).formData();
    expect(form.get('name')).toBe('Ada');
    expect(form.get('languages')).toBe('["en"]');
    const files = form.getAll('audioFiles').filter((one) => one instanceof File);
    expect(await Promise.all(files.map((one) => one.text()))).toStrictEqual([
      'RIFF one',
      'RIFF two',
    ]);
    expect(files.map(({ name }) => name)).toStrictEqual(['ada.wav', 'ädä "2".wav']);
  });

  test('a large file does not have to fit into memory', async () => {
    const size = 200 * 1024 * 1024;
    const sandbox = await createSandbox();
    const handle = await open(path.join(sandbox.out, 'large.wav'), 'w');
    // A hole: it takes no room on the disk.
    await handle.truncate(size);
    await handle.close();
    const server = await startFaultServer([{ answer: [pause(), ...answer(200)] }]);
    const args = ['api', 'POST', PATH, '--form', '-F', 'f=@large.wav'];
    const running = await startFoley(args, { sandbox, env: hosted(server) });
    await server.paused();
    const peak = process.platform === 'linux' ? running.peakMemoryBytes() : 0;
    expect(peak).toBeLessThan(150 * 1024 * 1024);
    await server.advance();
    expect(await running.done).toMatchObject({ code: 0 });
    const [request] = server.requests;
    expect(request?.body.length).toBe(Number(request?.header('content-length')));
    expect(request?.body.length).toBeGreaterThan(size);
  });

  test.each([
    ['a folder', 'f=@.', '-F f=@. is a folder'],
    ['nothing', 'f=@nothing', '-F f=@nothing: no such file'],
  ])('%s is no file', async (_what, field, message) => {
    const server = await startFaultServer([]);
    const args = ['api', 'POST', PATH, '--form', '-F', field];
    const result = await runFoley(args, { env: hosted(server) });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(message);
    expect(server.connections).toBe(0);
  });
});
