import { describe, expect, test } from 'vitest';
import { errorAnswer } from '../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { speechRequestOf, startHostedService } from './support/hosted-service.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

async function headersOf(...args: readonly string[]) {
  const { server, env } = await startHostedService();
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', ...args], { env });
  expect(result.code, result.stderr).toBe(0);
  const request = speechRequestOf(server);
  return {
    key: request.header('idempotency-key'),
    requestId: request.header('x-request-id'),
    authorization: request.header('authorization'),
    contentType: request.header('content-type'),
    apiKey: env['FOLEY_API_KEY'] ?? '',
  };
}

describe('a speech request', () => {
  test('carries the key, an idempotency key and a request id of its own', async () => {
    const first = await headersOf();
    expect(first).toMatchObject({
      key: expect.stringMatching(UUID),
      requestId: expect.stringMatching(UUID),
      authorization: `Bearer ${first.apiKey}`,
      contentType: 'application/json',
    });
    const second = await headersOf();
    expect(new Set([first.key, first.requestId, second.key, second.requestId]).size).toBe(4);
  });

  test('carries the idempotency key and the request id that are given', async () => {
    const given = ['--idempotency-key', 'order 66/ä'.slice(0, 8), '--request-id', 'trace-1'];
    expect(await headersOf(...given)).toMatchObject({ key: 'order 66', requestId: 'trace-1' });
  });

  test('takes a key of 128 characters', async () => {
    const key = 'k'.repeat(128);
    expect(await headersOf('--idempotency-key', key)).toMatchObject({ key });
  });

  test('carries the same key when it is sent again', async () => {
    const busy = errorAnswer(503, { retryAfter: '0' });
    const { server, env } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, times: 2, answer: busy },
    ]);
    const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3'], { env });
    expect(result.code, result.stderr).toBe(0);
    const speech = server.requests.filter(({ path }) => path === SPEECH_PATH);
    expect(speech).toHaveLength(3);
    expect(new Set(speech.map((request) => request.header('idempotency-key'))).size).toBe(1);
    expect(new Set(speech.map(({ body }) => body.toString())).size).toBe(1);
  });
});

test.each([
  ['--idempotency-key', 'k'.repeat(129), /--idempotency-key has 129 characters.*128/],
  ['--idempotency-key', '', /--idempotency-key is empty/],
  ['--idempotency-key', 'a\nX-Evil: 1', /--idempotency-key/],
  ['--request-id', 'ř', /--request-id/],
])('%s %j is exit 2 and sends nothing', async (flag, value, reason) => {
  const { server, env } = await startHostedService();
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', flag, value], { env });
  expect(result.code, result.stderr).toBe(2);
  expect(result.stderr).toMatch(reason);
  expect(server.connections).toBe(0);
});

describe('--dry-run', () => {
  test('prints the request with the key masked, and sends nothing', async () => {
    const { server, env } = await startHostedService();
    const args = ['tts', 'Hi', '-o', 'hi.wav', '--speed', '1.5', '--idempotency-key', 'k-1'];
    const result = await runFoley([...args, '--request-id', 'r-1', '--dry-run'], { env });
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      method: 'POST',
      url: `${server.origin}${SPEECH_PATH}`,
      headers: expect.objectContaining({
        'content-type': 'application/json',
        'idempotency-key': 'k-1',
        'x-request-id': 'r-1',
        authorization: 'Bearer [redacted]',
      }),
      body: { text: 'Hi', voiceId: env['FOLEY_VOICE'], format: 'wav', speed: 1.5 },
    });
    expect(server.connections).toBe(0);
  });

  test('is exactly what would have been sent', async () => {
    const { server, env } = await startHostedService();
    const args = ['tts', 'Hi', '-o', 'hi.mp3', '--idempotency-key', 'k-1', '--request-id', 'r-1'];
    const told = await runFoley([...args, '--dry-run'], { env });
    const sent = await runFoley(args, { env });
    expect(sent.code, sent.stderr).toBe(0);
    const request = speechRequestOf(server);
    const added = new Set(['host', 'connection', 'content-length', 'authorization']);
    const headers = request.headers
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !added.has(name));
    const document = parseJsonDocument(told.stdout);
    expect(document).toMatchObject({
      method: request.method,
      headers: Object.fromEntries(headers),
    });
    expect(document).toHaveProperty('body', JSON.parse(request.body.toString()));
  });

  test('prints one line with --json, and may be asked together with stdout', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['tts', 'Hi', '--dry-run', '--json'], { env });
    expect(result.stdout.toString().trimEnd()).not.toContain('\n');
    expect(parseJsonDocument(result.stdout)).toHaveProperty('body.text', 'Hi');
  });

  test('makes no file, and checks flags as ever', async () => {
    const result = await runFoley(['tts', 'Hi', '--dry-run', '-o', 'hi.mp3', '--local']);
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonDocument(result.stdout)).toHaveProperty('method', 'POST');
    const refused = await runFoley(['tts', 'Hi', '--dry-run', '--speed', '9'], {
      sandbox: result.sandbox,
    });
    expect(refused.code).toBe(2);
  });
});
