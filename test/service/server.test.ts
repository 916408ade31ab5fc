import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import { ListenError } from '../../src/service/http/serve.ts';
import type { ServeOptions, ServiceServer } from '../../src/service/http/serve.ts';
import { startServer } from '../../src/service/http/serve.ts';
import type { Service } from '../../src/service/service.ts';
import { connectRaw, rawPost } from '../harness/raw-connection.ts';
import { KEY, jsonPost, testService, voiceId } from './support/test-service.ts';
import { toneEngine } from './support/tone-engine.ts';

const SPEECH = '/api/open/v3/speech/tts';
const BODY = { text: 'One. Two. Three.', voiceId: voiceId('Clara'), format: 'wav' };
const AUTHORIZED = { Authorization: `Bearer ${KEY}` };

async function serve(
  service: Service,
  limits: ServeOptions['limits'] = {},
): Promise<ServiceServer> {
  const effects = { clock: systemClock, random: systemRandom, limits };
  const server = await startServer({ service, host: '127.0.0.1', port: 0, ...effects });
  onTestFinished(() => server.close());
  return server;
}

describe('a service on a socket', () => {
  it('sends the audio in chunks, the same as without one', async () => {
    const { service, speak } = await testService();
    const { baseUrl } = await serve(service);
    const response = await fetch(baseUrl + SPEECH, jsonPost(BODY, AUTHORIZED));
    expect(response.headers.get('Transfer-Encoding')).toBe('chunked');
    const direct = await speak(BODY);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(
      Buffer.from(await direct.arrayBuffer()),
    );
  });

  it('says where it listens', async () => {
    const { service } = await testService();
    const { baseUrl, realtimeUrl } = await serve(service);
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(realtimeUrl).toBe(baseUrl.replace('http', 'ws'));
  });

  it('names the port that is in use', async () => {
    const { service } = await testService();
    const { baseUrl } = await serve(service);
    const port = Number(new URL(baseUrl).port);
    const effects = { clock: systemClock, random: systemRandom };
    const second = startServer({ service, host: '127.0.0.1', port, ...effects });
    await expect(second).rejects.toBeInstanceOf(ListenError);
    await expect(second).rejects.toMatchObject({ reason: 'in-use' });
  });

  it('never ends a body that failed as if it were whole', async () => {
    const { service, engine } = await testService();
    const { baseUrl } = await serve(service);
    engine.failBefore(2);
    const connection = await connectRaw(baseUrl);
    connection.send(rawPost(SPEECH, BODY, AUTHORIZED));
    const received = await connection.untilClosed();
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received.length).toBeGreaterThan(600);
    expect(received).not.toContain('\r\n0\r\n\r\n');
    expect(received).not.toMatch(/secret|Error/);
    const response = await fetch(baseUrl + SPEECH, jsonPost(BODY, AUTHORIZED));
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it('breaks the connection of a client that knows no chunks', async () => {
    const { service, engine } = await testService();
    const { baseUrl } = await serve(service);
    const request = rawPost(SPEECH, BODY, AUTHORIZED).replace('HTTP/1.1', 'HTTP/1.0');
    const whole = await connectRaw(baseUrl);
    whole.send(request);
    expect(await whole.untilClosed()).toContain('200 OK');
    expect(whole.brokenBy).toBe(undefined);
    engine.failBefore(2);
    const cut = await connectRaw(baseUrl);
    cut.send(request);
    await cut.untilClosed();
    expect(cut.brokenBy).toBe('ECONNRESET');
  });

  it('stops the engine when the client hangs up while it listens', async () => {
    const { service, engine, balance } = await testService();
    const { baseUrl } = await serve(service);
    engine.holdBefore(1);
    const connection = await connectRaw(baseUrl);
    connection.send(rawPost(SPEECH, { ...BODY, modelId: 'vendor-s21pro' }, AUTHORIZED));
    await expect.poll(() => connection.text).toContain('200 OK');
    connection.socket.destroy();
    await expect.poll(engine.speaking).toBe(0);
    expect((await balance()).credits).toBe(1_000_000 - 16);
  });

  it('stops the engine and refunds when the client hangs up before it hears anything', async () => {
    const { service, engine, balance, events } = await testService();
    const { baseUrl } = await serve(service);
    engine.holdBefore(0);
    const connection = await connectRaw(baseUrl);
    connection.send(rawPost(SPEECH, BODY, AUTHORIZED));
    await expect.poll(engine.speaking).toBe(1);
    connection.socket.destroy();
    await expect.poll(engine.speaking).toBe(0);
    await expect.poll(async () => (await balance()).credits).toBe(1_000_000);
    expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
  });

  it('speaks no faster than it is heard', async () => {
    const engine = toneEngine({ wordMs: 400 });
    const { service } = await testService({ engines: new EngineRegistry([engine]) });
    const { baseUrl } = await serve(service);
    const connection = await connectRaw(baseUrl);
    connection.socket.pause();
    const text = 'a. '.repeat(3_333);
    connection.send(rawPost(SPEECH, { ...BODY, text, speed: 0.5 }, AUTHORIZED));
    await expect.poll(engine.chunksMade).toBeGreaterThan(0);
    for (let other = 0; other < 20; other += 1) {
      const response = await fetch(
        baseUrl + SPEECH,
        jsonPost({ ...BODY, format: 'mp3' }, AUTHORIZED),
      );
      await response.arrayBuffer();
    }
    expect(engine.chunksMade()).toBeLessThan(1_000);
    connection.socket.destroy();
    await expect.poll(engine.speaking).toBe(0);
  });

  it('finishes what is being heard when it closes', async () => {
    const { service, engine } = await testService();
    const server = await serve(service);
    const release = engine.holdBefore(1);
    const response = await fetch(server.baseUrl + SPEECH, jsonPost(BODY, AUTHORIZED));
    const closed = server.close();
    release();
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    await closed;
    await expect(fetch(`${server.baseUrl}/healthz`)).rejects.toThrow();
  });
});

describe('what is no proper request', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['a foreign host', 'GET /healthz HTTP/1.1\r\nHost: evil.example\r\n', 421],
    ['a foreign address', 'GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n', 421],
    [
      'a foreign host behind our address',
      'GET http://127.0.0.1/healthz HTTP/1.1\r\nHost: evil.example\r\n',
      421,
    ],
    ['no host', 'GET /healthz HTTP/1.1\r\n', 400],
    ['an odd host', 'GET /healthz HTTP/1.1\r\nHost: a b\r\n', 400],
    ['an unknown expectation', 'GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: x\r\n', 404],
    ['TRACE', 'TRACE /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n', 405],
    ['no HTTP', 'HELLO\r\n', 400],
    [
      'too many headers',
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(20_000)}\r\n`,
      431,
    ],
    [
      'two lengths',
      'POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n',
      400,
    ],
  ];

  it.each(cases)('gets the error body: %s', async (_name, head, status) => {
    const { service } = await testService();
    const { baseUrl } = await serve(service);
    const connection = await connectRaw(baseUrl);
    connection.send(`${head}Connection: close\r\n\r\n`);
    const [answer = '', body = ''] = (await connection.untilClosed()).split('\r\n\r\n');
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(body)).toMatchObject({
      code: expect.stringMatching(/^ERR_/),
      requestId: expect.any(String),
    });
  });

  it('gets its 413 though the client writes all of it before it reads', async () => {
    const { service } = await testService();
    const { baseUrl } = await serve(service);
    const connection = await connectRaw(baseUrl);
    const { socket } = connection;
    const post = rawPost(SPEECH, { text: 'a'.repeat(20_000_000) }, AUTHORIZED);
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.write(post, 'latin1', (error) => (error ? reject(error) : resolve()));
    });
    await expect.poll(() => connection.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(connection.brokenBy).toBe(undefined);
  });

  it('is not read to its end when it is too large', async () => {
    const { service } = await testService();
    const { baseUrl } = await serve(service);
    const connection = await connectRaw(baseUrl);
    connection.send(
      `POST ${SPEECH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${KEY}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 6; sent += 1) connection.send(chunk);
    const received = await connection.untilClosed();
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain('ERR_PAYLOAD_TOO_LARGE');
  });
});

describe('a client that drips', () => {
  const limits = { headersTimeout: 60, requestTimeout: 120, connectionsCheckingInterval: 20 };
  const post = `POST ${SPEECH} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;

  it.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '],
    ['a body without a key', `${post}Content-Length: 999999\r\n\r\n`],
    [
      'a body with a key',
      `${post}Authorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n`,
    ],
  ])(
    'loses its connection soon after its refusal: %s',
    async (_name, head) => {
      const { service } = await testService();
      const { baseUrl } = await serve(service, limits);
      const connection = await connectRaw(baseUrl, { allowHalfOpen: true });
      connection.send(head);
      const dripping = setInterval(() => connection.send('x'), 5);
      onTestFinished(() => clearInterval(dripping));
      await connection.untilClosed();
      expect(connection.text).toMatch(/^HTTP\/1\.1 4\d\d /);
    },
    30_000,
  );

  it('does not shut out clients with a key, however many there are', async () => {
    const { service } = await testService();
    const { baseUrl } = await serve(service);
    const keyed = await connectRaw(baseUrl);
    const request = `GET /api/open/v3/voices HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
    keyed.send(request);
    await expect.poll(() => keyed.text).toContain('200 OK');
    const before = keyed.text.length;
    const crowd = await Promise.all(
      Array.from({ length: 1_100 }, async () => {
        const one = await connectRaw(baseUrl);
        one.send('GET /healthz HTTP/1.1\r\n');
        return one;
      }),
    );
    await crowd[0]?.untilClosed();
    const response = await fetch(`${baseUrl}/api/open/v3/voices`, { headers: AUTHORIZED });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    keyed.send(request);
    await expect.poll(() => keyed.text.length).toBeGreaterThan(before);
  });
});
