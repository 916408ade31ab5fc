import { describe, expect, test } from 'vitest';
import { connectRealtime, refusedHandshake } from '../../realtime/raw-client.ts';
import { connectRaw } from '../../harness/raw-connection.ts';
import { KEY } from '../support/test-service.ts';
import { realtimeService } from './realtime-service.ts';

/** What a raw request is answered with until the connection ends. */
async function answerTo(baseUrl: string, lines: readonly string[]): Promise<string> {
  const connection = await connectRaw(baseUrl);
  connection.send(`${lines.join('\r\n')}\r\n\r\n`);
  return connection.untilClosed();
}

describe('who wants to upgrade', () => {
  test('anything but realtime speech is answered as if he did not, and the connection ends', async () => {
    const { baseUrl } = await realtimeService();
    const answer = await answerTo(baseUrl, [
      'GET /healthz HTTP/1.1',
      'Host: 127.0.0.1',
      'Connection: Upgrade',
      'Upgrade: h2c',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  test.each([
    ['with its length', 'Content-Length: 26', ['{"voiceId":"nobody"', ',"t":1}']],
    [
      'in chunks',
      'Transfer-Encoding: chunked',
      ['13\r\n{"voiceId":"nobody"\r\n', '1\r\n}\r\n0\r\n\r\n'],
    ],
  ])(
    'a body %s is read, as that of a request of HttpClient in Java',
    async (_how, header, parts) => {
      const { baseUrl } = await realtimeService();
      const connection = await connectRaw(baseUrl);
      const lines = [
        'POST /api/open/v3/speech/tts HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${KEY}`,
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
        'Content-Type: application/json',
        header,
      ];
      connection.send(`${lines.join('\r\n')}\r\n\r\n${parts[0]}`);
      connection.send(parts[1] ?? '');
      const answer = await connection.untilClosed();
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"field":"text"');
    },
  );

  test.each([
    ['another protocol', ['Upgrade: h2c', 'Sec-WebSocket-Version: 13'], 426],
    ['another version', ['Upgrade: websocket', 'Sec-WebSocket-Version: 8'], 426],
    ['without a key of the WebSocket', ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'], 400],
  ])('realtime speech with %s is refused in the error body', async (_what, headers, status) => {
    const { baseUrl } = await realtimeService();
    const answer = await answerTo(baseUrl, [
      'GET /v3/tts/live HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${KEY}`,
      'Connection: Upgrade',
      'Sec-WebSocket-Protocol: realtime.tts.msgpack.v3',
      ...headers,
    ]);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('"requestId"');
  });

  test('at an address that cannot be read gets 400', async () => {
    const { baseUrl } = await realtimeService();
    const answer = await answerTo(baseUrl, [
      'GET /v3/tts/live HTTP/1.1',
      'Host: a b',
      'Connection: Upgrade',
      'Upgrade: websocket',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test('a page that has no ticket yet takes no place from those that have a key', async () => {
  const service = await realtimeService({ allowOrigins: ['https://studio.example'] });
  const page = {
    version: 'v3',
    baseUrl: service.baseUrl,
    origin: 'https://studio.example',
  } as const;
  await Promise.all(Array.from({ length: 32 }, () => connectRealtime(page)));
  const refusal = await refusedHandshake(page);
  expect(refusal.status).toBe(503);
  expect(refusal.headers['retry-after']).toBe('1');
  const client = await service.connect('v3');
  await client.expect('authenticated');
});
