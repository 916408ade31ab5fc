import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { FaultServer } from '../fault-server/fault-server.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import {
  CAPABILITIES_PATH,
  healthyService,
  PROFILE_PATH,
  SPEECH_PATH,
  VOICES,
  VOICES_PATH,
} from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Answer, Rule } from '../fault-server/script.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { errorLine } from '../harness/error-line.ts';
import { hosted } from '../harness/hosted.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../harness/run-options.ts';
import { filesLeft } from './support/fixture.ts';
import { requireFullDevice } from '../harness/posix.ts';

const PATH = '/api/open/v9/thing';
const SPEECH = ['-F', 'text=hi', '-F', `voiceId=${VOICES[0].voiceId}`];

async function service(...rules: readonly Rule[]): Promise<FaultServer> {
  return startFaultServer([...rules, ...healthyService({ audio: await tinyAudio() })]);
}

function api(
  server: FaultServer,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runFoley(['api', ...args], { ...options, env: { ...hosted(server), ...options.env } });
}

function json(text: string, status = 200): Answer {
  return answer(status, { 'Content-Type': 'application/json' }, text);
}

describe('the answer goes to stdout as it came', () => {
  test('JSON, byte for byte', async () => {
    const text = '{ "b" : 1,\r\n\t"a":[ ] ,"big":12345678901234567890}';
    const result = await api(await service({ path: PATH, answer: json(text) }), ['GET', PATH]);
    expect(result).toMatchObject({ code: 0, stderr: '', stdout: Buffer.from(text) });
  });

  test('audio, byte for byte', async () => {
    const server = await service();
    const result = await api(server, ['POST', SPEECH_PATH, ...SPEECH]);
    expect(result).toMatchObject({ code: 0, stderr: '', stdout: (await tinyAudio()).mp3.bytes });
  });

  test('nothing for an answer without a body', async () => {
    const rules = [{ path: PATH, answer: faults.noContent() }];
    const result = await api(await service(...rules), ['DELETE', PATH]);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    const document = await api(await service(...rules), ['DELETE', PATH, '--json']);
    expect(parseJsonDocument(document.stdout)).toBe(null);
  });

  test('--json prints one line, and refuses what is not JSON', async () => {
    const good = await api(await service({ path: PATH, answer: json('{ "a": 1 }') }), [
      'GET',
      PATH,
      '--json',
    ]);
    expect(good.stdout.toString()).toBe('{"a":1}\n');
    const page = await service({ path: PATH, answer: faults.captivePortal() });
    const bad = await api(page, ['GET', PATH, '--json']);
    expect(errorLine(bad)).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(bad.stdout.toString()).toBe('');
  });

  test('--include prints the status line and the headers first', async () => {
    const rule = { path: PATH, answer: answer(201, { 'X-Thing': 'a b' }, 'body') };
    const result = await api(await service(rule), ['POST', PATH, '--include']);
    const [head = '', body] = result.stdout.toString().split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toBe('HTTP/1.1 201 Created');
    expect(head).toContain('\r\nx-thing: a b\r\n');
    expect(body).toBe('body');
  });

  test('HEAD prints the headers with --include', async () => {
    const rule = { method: 'HEAD', path: PATH, answer: faults.noContent() };
    const result = await api(await service(rule), ['HEAD', PATH, '--include']);
    expect(result.stdout.toString()).toMatch(/^HTTP\/1\.1 204 No Content\r\n(.+\r\n)*\r\n$/);
  });
});

describe('who is asked', () => {
  test('with the key, a request id and our name', async () => {
    const server = await service({ path: PATH, answer: json('1') });
    const env = hosted(server);
    await runFoley(['api', 'GET', PATH], { env });
    const [request] = server.requests;
    expect(request?.header('authorization')).toBe(`Bearer ${env['FOLEY_API_KEY']}`);
    expect(request?.header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(request?.header('user-agent')).toMatch(/^foley\//);
    expect(request?.header('accept')).toBe('*/*');
  });

  test('a public document without the key, with or without one', async () => {
    const server = await service();
    await api(server, ['GET', CAPABILITIES_PATH]);
    const result = await runFoley(['api', 'GET', CAPABILITIES_PATH], {
      env: { FOLEY_BASE_URL: server.origin },
    });
    expect(result.code).toBe(0);
    const keys = server.requests.map(({ header }) => header('authorization'));
    expect(keys).toStrictEqual([undefined, undefined]);
  });

  test('the realtime host for its own paths', async () => {
    const realtime = await startFaultServer([
      { path: '/v3/tts/capabilities', answer: json('{"here":true}') },
    ]);
    const base = await startFaultServer([]);
    const env = { FOLEY_REALTIME_URL: realtime.origin.replace('http', 'ws') };
    const result = await api(base, ['GET', '/v3/tts/capabilities'], { env });
    expect(result.stdout.toString()).toBe('{"here":true}');
    expect(base.connections).toBe(0);
  });

  test('below the path of the base URL', async () => {
    const server = await service({ path: `/gateway${PATH}`, answer: json('1') });
    const result = await api(server, ['GET', PATH, '--base-url', `${server.origin}/gateway/`]);
    expect(result.code).toBe(0);
  });

  test('only to the service, whatever the path looks like', async () => {
    const other = await startFaultServer([]);
    const host = new URL(other.origin).host;
    const server = await service({ answer: json('1') });
    for (const path of [`//${host}/x`, `/@${host}/x`, `/..//${host}/x`]) {
      expect(await api(server, ['GET', path])).toMatchObject({ code: 0 });
    }
    expect(other.connections).toBe(0);
  });

  test('the embedded service, when no other is meant', async () => {
    const result = await runFoley([
      'api',
      'GET',
      VOICES_PATH,
      '-F',
      'pageSize=1',
      '--local',
      '--json',
    ]);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ pageSize: 1, items: [{}] });
  });

  test.each([
    ['a URL', ['GET', 'https://evil.test/x'], 'PATH is a URL'],
    ['no path', ['GET', 'api/open'], 'Did you mean /api/open?'],
    [
      'Authorization',
      ['GET', PATH, '-H', 'Authorization: x'],
      '-H cannot set the header Authorization',
    ],
    ['Host', ['GET', PATH, '-H', 'Host: evil.test'], 'cannot set the header Host'],
    ['a missing file', ['POST', PATH, '--body', 'nothing'], '--body nothing: no such file'],
    [
      '--include with --json',
      ['GET', PATH, '--include', '--json'],
      '--include does not work with --json or --jq',
    ],
    ['audio with --json', ['POST', SPEECH_PATH, '--json'], 'the response is audio'],
  ])('%s is refused before a connection is made', async (_what, args, message) => {
    const server = await startFaultServer([]);
    const result = await api(server, args);
    expect(result).toMatchObject({ code: 2, stdout: Buffer.alloc(0) });
    expect(result.stderr).toContain(message);
    expect(server.connections).toBe(0);
  });
});

describe('errors are those of every command', () => {
  test.each([
    ['ERR_NOT_FOUND', 404, 20],
    ['ERR_UNAUTHORIZED', 401, 4],
    ['ERR_FORBIDDEN', 403, 4],
    ['ERR_INSUFFICIENT_CREDITS', 402, 21],
    ['ERR_RATE_LIMITED', 429, 22],
    ['ERR_INTERNAL', 500, 23],
    ['ERR_MODEL_UNAVAILABLE', 503, 23],
  ])(
    '%s (%d) is exit %d; stdout stays empty and stderr has the rest',
    async (code, status, exitCode) => {
      const fault = faults.errorAnswer(status, { code, details: { field: 'text' } });
      const server = await service({ path: PATH, answer: fault });
      const result = await api(server, ['GET', PATH, '--max-retries', '0', '--json']);
      expect(errorLine(result)).toMatchObject({
        exitCode,
        code,
        status,
        details: { field: 'text' },
      });
      expect(errorLine(result)).toMatchObject({ requestId: `r-${status}`, billed: 'no' });
      expect(result.stdout.toString()).toBe('');
    },
  );

  test('a body that is cut is exit 25, and what came was passed on', async () => {
    const payload = { type: 'application/json', bytes: Buffer.from('{"a":"0123456789"}') };
    const server = await service({ path: PATH, answer: faults.shortBody(payload) });
    const result = await api(server, ['GET', PATH]);
    expect(result).toMatchObject({ code: 25, stdout: Buffer.from('{"a":"012') });
  });

  test('stdout that cannot be written is exit 30', async () => {
    const full = { stdout: { path: requireFullDevice() } };
    const server = await service();
    const result = await api(server, ['GET', VOICES_PATH], full);
    expect(result).toMatchObject({ code: 30 });
  });

  test('a reader that goes away ends it quietly', async () => {
    const { mp3 } = await tinyAudio();
    const server = await service({ path: PATH, answer: faults.endlessBody(mp3) });
    const running = await startFoley(['api', 'GET', PATH], { env: hosted(server) });
    await running.waitFor('stdout', /./s);
    running.closeOutput('stdout');
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
  });

  test('a service that repeats the request does not make us repeat the key', async () => {
    const server = await service({ path: PATH, answer: faults.echoOfRequest(400) });
    const result = await api(server, ['GET', PATH, '--json', '--verbose', '-H', 'X-A: b']);
    // The harness looks for the key in every output.
    expect(errorLine(result)).toMatchObject({ exitCode: 20 });
  });
});

/** The fault for the first request, and a good answer for those after it. */
function thenGood(fault: Answer): Rule[] {
  return [
    { path: PATH, nth: 1, answer: fault },
    { path: PATH, optional: true, answer: json('"good"') },
  ];
}

describe('what is asked again', () => {
  test.each([
    ['503', faults.unavailable('0')],
    ['a reset', faults.resetBeforeHeaders()],
  ])('a read, after %s', async (_what, fault) => {
    const server = await startFaultServer(thenGood(fault));
    const result = await api(server, ['GET', PATH]);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.from('"good"') });
    expect(server.requests).toHaveLength(2);
  });

  test.each(['PUT', 'PATCH', 'POST'])(
    'never a %s that no code recognizes: exit 26',
    async (method) => {
      const server = await startFaultServer(thenGood(faults.resetBeforeHeaders()));
      const result = await api(server, [method, PATH, '-F', 'a=1', '--json']);
      expect(errorLine(result)).toMatchObject({ exitCode: 26, billed: 'unknown' });
      expect(server.requests).toHaveLength(1);
    },
  );

  test.each(['DELETE', 'POST'])(
    'a free %s neither, and it is not billed: exit 24',
    async (method) => {
      const path = method === 'POST' ? PROFILE_PATH : PATH;
      const server = await startFaultServer([{ path, answer: faults.resetBeforeHeaders() }]);
      const result = await api(server, [method, path, '--json']);
      expect(errorLine(result)).toMatchObject({ exitCode: 24, billed: 'no' });
      expect(server.requests).toHaveLength(1);
    },
  );

  test('speech with the user’s key, under the same key', async () => {
    const server = await service({
      path: SPEECH_PATH,
      nth: 1,
      answer: faults.resetBeforeHeaders(),
    });
    const args = ['POST', SPEECH_PATH, ...SPEECH, '-H', 'Idempotency-Key: mine'];
    const result = await api(server, args);
    expect(result).toMatchObject({ code: 0, stdout: (await tinyAudio()).mp3.bytes });
    const keys = server.requests.map(({ header }) => header('idempotency-key'));
    expect(keys).toStrictEqual(['mine', 'mine']);
    const ids = new Set(server.requests.map(({ header }) => header('x-request-id')));
    expect(ids.size).toBe(1);
  });

  test('speech without a key is not: exit 26, and it says where to look', async () => {
    const server = await startFaultServer([
      { path: SPEECH_PATH, answer: faults.resetBeforeHeaders() },
    ]);
    const result = await api(server, ['POST', SPEECH_PATH, ...SPEECH]);
    expect(result).toMatchObject({ code: 26 });
    expect(result.stderr).toContain('foley profile');
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.header('idempotency-key')).toBeUndefined();
  });

  test('a key that was refunded is not replaced by one of ours', async () => {
    const server = await startFaultServer([
      { path: SPEECH_PATH, answer: faults.requestPreviouslyRefunded() },
    ]);
    const args = ['POST', SPEECH_PATH, ...SPEECH, '-H', 'Idempotency-Key: mine'];
    const result = await api(server, args);
    expect(result).toMatchObject({ code: 20 });
    expect(result.stderr).toContain('its idempotency key cannot be reused');
    expect(server.requests).toHaveLength(1);
  });
});

describe('redirects', () => {
  test('a read follows to another origin with nothing of ours', async () => {
    const other = await startFaultServer([{ path: '/signed', answer: json('"there"') }]);
    const server = await service({
      path: PATH,
      answer: faults.redirectTo(`${other.origin}/signed?sig=1`),
    });
    const args = ['GET', PATH, '-H', 'X-Secret: s', '-H', 'Idempotency-Key: k'];
    const result = await api(server, args);
    expect(result.stdout.toString()).toBe('"there"');
    const names = other.requests[0]?.headers.map(([name]) => name.toLowerCase()) ?? [];
    expect(names.sort()).toStrictEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  test('a write goes nowhere else: exit 25', async () => {
    const other = await startFaultServer([]);
    const server = await service({ path: PATH, answer: faults.redirectTo(other.origin, 307) });
    const result = await api(server, ['POST', PATH, '-F', 'a=1', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 25 });
    expect(other.connections).toBe(0);
  });
});

test('nothing is left on disk', async () => {
  const result = await api(await service(), ['POST', SPEECH_PATH, ...SPEECH]);
  expect(await filesLeft(result.sandbox)).toStrictEqual([]);
});
