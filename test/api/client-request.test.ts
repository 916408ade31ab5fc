import { expect, test } from 'vitest';
import { jsonBody } from '../../src/api/request.ts';
import { buffer } from 'node:stream/consumers';
import { BILLED, failureOf, KEY, newClient, READ } from './new-client.ts';
import { rawServer, reply } from './raw-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

test('a read sends key, id and user agent, and accepts no compression', async () => {
  const server = await rawServer((socket) => socket.write(reply(200, JSON_TYPE, '{"a":1}')));
  const { client } = newClient(server.url);
  const { value, raw } = await client.json(
    { ...READ, query: { page: 2, all: undefined } },
    (body) => [body],
  );
  expect(value).toEqual([{ a: 1 }]);
  expect(raw).toEqual({ a: 1 });
  const [request] = server.requests;
  expect(request?.path).toBe('/thing?page=2');
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'x-request-id': 'id-1',
    'user-agent': 'foley/1.2.3',
    'accept-encoding': 'identity',
    accept: 'application/json',
  });
  expect(request?.headers['idempotency-key']).toBeUndefined();
});

test('a billed write sends its idempotency key and the given id', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  await client.send({ ...BILLED, body: jsonBody({ text: 'héllo' }), requestId: 'trace-1' });
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/speak',
    headers: {
      'idempotency-key': 'key-1',
      'x-request-id': 'trace-1',
      'content-type': 'application/json',
    },
  });
  expect(Buffer.from(server.requests[0]?.body ?? '', 'latin1').toString()).toBe('{"text":"héllo"}');
});

test('a request id that is the key is sent in both headers', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  await client.send({ ...BILLED, key: { value: 'k-7', madeByTool: true, sentAs: 'X-Request-Id' } });
  expect(server.requests[0]?.headers).toMatchObject({
    'idempotency-key': 'k-7',
    'x-request-id': 'k-7',
  });
});

test('paths are relative to the base URL; URLs of responses are used unchanged', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(`${server.url}/edge/`);
  await client.send(READ);
  await client.send({ ...READ, target: `${server.url}/files/1?x=y` });
  await client.send({ ...READ, host: 'realtime' });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/edge/thing',
    '/files/1?x=y',
    '/edge/thing',
  ]);
});

test('the key goes to the origins of the service and to no other', async () => {
  const stranger = await rawServer((socket) => socket.write(reply(200)));
  const realtime = await rawServer((socket) => socket.write(reply(200)));
  const base = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(base.url, {
    address: { realtimeUrl: new URL(realtime.url.replace('http', 'ws')) },
  });
  for (const { url } of [stranger, realtime, base]) {
    await client.send({ ...READ, target: `${url}/audio` });
  }
  await client.send({ ...READ, host: 'realtime' });
  expect(stranger.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(stranger.requests[0]?.headers).not.toHaveProperty('x-request-id');
  expect(JSON.stringify(stranger.requests)).not.toContain(KEY);
  expect(base.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  expect(realtime.requests).toHaveLength(2);
  expect(realtime.requests[1]?.headers['authorization']).toBe(`Bearer ${KEY}`);
});

test('public documents are requested without a key', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  await client.send({ ...READ, public: true });
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('a request that needs a key is not sent without one', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url, { address: { apiKey: undefined } });
  const failure = await failureOf(client.send(READ));
  expect(failure).toMatchObject({ exit: 'auth', code: 'no_key' });
  expect(server.requests).toHaveLength(0);
});

test('plain http to another computer is refused before a connection', async () => {
  const { client, events } = newClient('http://speech.example');
  const failure = await failureOf(client.send(READ));
  expect(failure).toMatchObject({ exit: 'usage', exitCode: 2 });
  expect(failure.hint).toContain('https://speech.example');
  expect(events).toEqual([]);
});

test.each(['sk-”curly”', 'sk-1\nx-evil: 1', 'sk 1', 'sk-ключ'])(
  'a key that no header can carry is refused and not shown: %j',
  async (key) => {
    const make = (): unknown => newClient('http://127.0.0.1:9', { address: { apiKey: key } });
    const failure = await failureOf((async () => make())());
    expect(failure).toMatchObject({ exit: 'auth', code: 'no_key' });
    expect(failure.message).toMatch(/position \d+/);
    expect(failure.message + failure.hint).not.toContain(key);
  },
);

test.each([
  ['authorization', 'Bearer x'],
  ['Host', 'evil'],
  ['Content-Length', '0'],
  ['Transfer-Encoding', 'chunked'],
  ['bad name', 'x'],
  ['x-a', 'b\r\nc: d'],
])('the header %s: %j is refused', async (name, value) => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  const failure = await failureOf(client.send({ ...READ, headers: { [name]: value } }));
  expect(failure.exit).toBe('usage');
  expect(server.requests).toHaveLength(0);
});

test('a request can be described without being sent, its key masked', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  const described = client.describe(BILLED);
  expect(described.url.href).toBe(`${server.url}/speak`);
  expect(described.headers['authorization']).toBe('Bearer [redacted]');
  expect(described.headers['idempotency-key']).toBe('key-1');
  expect(JSON.stringify(described)).not.toContain(KEY);
  expect(server.requests).toHaveLength(0);
});

test('the observer gets every request, without secrets', async () => {
  const server = await rawServer((socket) => socket.write(reply(200, { 'x-request-id': 'srv-9' })));
  const { client, events } = newClient(server.url);
  await buffer((await client.send({ ...READ, query: { page: 1 } })).body);
  await buffer((await client.send({ ...READ, query: { token: KEY } })).body);
  expect(events).toEqual([
    expect.objectContaining({
      type: 'response',
      method: 'GET',
      url: `${server.url}/thing?page=1`,
      status: 200,
      requestId: 'srv-9',
      attempt: 1,
    }),
    expect.objectContaining({ url: `${server.url}/thing?[redacted]` }),
  ]);
  expect(JSON.stringify(events)).not.toContain(KEY);
});
