import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { until } from './until.ts';
import { BILLED, failureOf, KEY, newClient, READ } from './new-client.ts';
import { errorReply, head, rawServer, reply } from './raw-server.ts';

const NO_RETRY = { limits: { maxRetries: 0 } };

test.each([
  [400, 'ERR_INVALID_REQUEST', 'rejected', 'no'],
  [401, 'ERR_UNAUTHORIZED', 'auth', 'no'],
  [402, 'ERR_INSUFFICIENT_CREDITS', 'credits', 'no'],
  [403, 'ERR_FORBIDDEN', 'auth', 'no'],
  [404, 'ERR_NOT_FOUND', 'rejected', 'no'],
  [409, 'ERR_REQUEST_ID_CONFLICT', 'rejected', 'no'],
  [409, 'ERR_REQUEST_IN_PROGRESS', 'unknownOutcome', 'unknown'],
  [409, 'ERR_REQUEST_ALREADY_COMPLETED', 'lost', 'yes'],
  [409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED', 'rejected', 'no'],
  [409, 'ERR_VOICE_IN_USE', 'rejected', 'no'],
  [413, 'ERR_PAYLOAD_TOO_LARGE', 'rejected', 'no'],
  [415, 'ERR_UNSUPPORTED_MEDIA_TYPE', 'rejected', 'no'],
  [422, 'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT', 'rejected', 'no'],
  [429, 'ERR_RATE_LIMITED', 'rateLimited', 'no'],
  [500, 'ERR_INTERNAL', 'service', 'unknown'],
  [501, 'ERR_NOT_IMPLEMENTED', 'service', 'no'],
  [503, 'ERR_MODEL_UNAVAILABLE', 'service', 'no'],
  [504, 'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT', 'service', 'no'],
])('%d %s of a billed request ends as %s, billed %s', async (status, code, exit, billed) => {
  const server = await rawServer((socket) =>
    socket.write(errorReply(status, code, { details: { field: 'text' } })),
  );
  const { client } = newClient(server.url, NO_RETRY);
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({
    code,
    exit,
    billed,
    status,
    requestId: 'req-of-service',
    details: { field: 'text' },
  });
  expect(failure.message).toContain(`it says ${code}`);
  expect(failure.hint).toMatch(/\.$/);
});

test.each([
  [429, false],
  [500, false],
  [503, false],
  [504, false],
  [500, true],
  [504, undefined],
])('%d with retryable %s has a hint that agrees with it', async (status, retryable) => {
  const details = retryable === undefined ? {} : { retryable };
  const server = await rawServer((socket) =>
    socket.write(errorReply(status, 'ERR_X', { details })),
  );
  const failure = await failureOf(newClient(server.url, NO_RETRY).client.send(READ));
  const isFinal = retryable === false;
  expect(failure.hint?.startsWith('The service reports that the same request fails again.')).toBe(
    isFinal,
  );
  expect(/[Tt]ry again later|Wait/.test(failure.hint ?? '')).toBe(!isFinal);
});

test.each([
  ['a page', 502, { 'content-type': 'text/html' }, '<h1>Bad gateway</h1>', 'service'],
  ['nothing', 500, {}, '', 'service'],
  ['broken JSON', 404, { 'content-type': 'application/json' }, '{"code":', 'rejected'],
  ['JSON that is no object', 400, { 'content-type': 'application/json' }, '[1]', 'rejected'],
  [
    'JSON without a message',
    401,
    { 'content-type': 'application/json' },
    `{"code":7,"message":{}}`,
    'auth',
  ],
  [
    'property names of Object',
    400,
    { 'content-type': 'application/json' },
    `{"code":"__proto__"}`,
    'rejected',
  ],
  ['a nest', 400, { 'content-type': 'application/json' }, '['.repeat(60_000), 'rejected'],
  [
    'a compressed body',
    400,
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    '{}',
    'rejected',
  ],
  [
    'too much',
    400,
    { 'content-type': 'application/json' },
    `{"code":"X","message":"${'x'.repeat(70_000)}"}`,
    'rejected',
  ],
])(
  'an error response with %s is classified by its status',
  async (_name, status, headers, body, exit) => {
    const server = await rawServer((socket) => socket.write(reply(status, headers, body)));
    const { client } = newClient(server.url, NO_RETRY);
    const failure = await failureOf(client.send(READ));
    expect(failure).toMatchObject({ exit, status, requestId: 'id-1' });
    expect(failure.message.length).toBeLessThan(200);
  },
);

test('an endless error body is abandoned', async () => {
  const server = await rawServer((socket) => {
    socket.write(head(400, { 'content-type': 'application/json', 'content-length': '1000' }));
    socket.write('{"code":"');
  });
  const { client, clock } = newClient(server.url, NO_RETRY);
  const pending = failureOf(client.send(READ));
  await until(() => server.requests.length === 1 && clock.running().includes(10_000));
  clock.advance(10_000);
  expect(await pending).toMatchObject({ exit: 'rejected', status: 400 });
});

test.each([
  ['words around the key', `the key ${KEY} is unknown`],
  ['a header', `Authorization: Bearer ${KEY}`],
  ['an encoding', `Basic ${Buffer.from(KEY).toString('base64')}`],
])('an API key that the service repeats as %s is masked', async (_name, message) => {
  const server = await rawServer((socket) =>
    socket.write(errorReply(401, 'ERR_UNAUTHORIZED', { message, details: { header: message } })),
  );
  const { client } = newClient(server.url, NO_RETRY);
  const { message: told, hint, details } = await failureOf(client.send(READ));
  const everything = JSON.stringify([told, hint, details]);
  expect(everything).not.toContain(KEY);
  expect(everything).not.toContain(Buffer.from(KEY).toString('base64'));
});

test('a refused connection of a read is a network failure', async () => {
  const { client } = newClient(await closedPort(), NO_RETRY);
  expect(await failureOf(client.send(READ))).toMatchObject({
    exit: 'network',
    code: 'network',
    billed: 'no',
  });
});

test('a refused connection of a billed request is not billed', async () => {
  const { client } = newClient(await closedPort(), NO_RETRY);
  expect(await failureOf(client.send(BILLED))).toMatchObject({ exit: 'network', billed: 'no' });
});

test.each([
  ['read', READ, 'network', 'network', 'no'],
  ['billed request', BILLED, 'unknownOutcome', 'unknown_outcome', 'unknown'],
] as const)(
  'a %s that is reset before a response has its own exit code',
  async (_name, spec, exit, code, billed) => {
    const server = await rawServer((socket) => socket.resetAndDestroy());
    const { client } = newClient(server.url, NO_RETRY);
    expect(await failureOf(client.send(spec))).toMatchObject({ exit, code, billed });
  },
);

test.each([
  ['read', READ, 60_000, 'network', 'timeout'],
  ['billed request', BILLED, 600_000, 'unknownOutcome', 'unknown_outcome'],
] as const)(
  'a %s without a response times out after its own timeout',
  async (_name, spec, limit, exit, code) => {
    const server = await rawServer(() => {});
    const { client, clock } = newClient(server.url, NO_RETRY);
    const pending = failureOf(client.send(spec));
    await until(() => clock.running().includes(limit));
    clock.advance(limit - 1);
    expect(clock.running()).toContain(limit);
    clock.advance(1);
    expect(await pending).toMatchObject({ exit, code });
  },
);

test('connecting times out after ten seconds', async () => {
  // The server never answers the TLS handshake.
  const server = await rawServer(() => {});
  const { client, clock } = newClient(server.url.replace('http:', 'https:'), NO_RETRY);
  const pending = failureOf(client.send(BILLED));
  await until(() => server.connections() === 1 && clock.running().includes(10_000));
  clock.advance(10_000);
  expect(await pending).toMatchObject({ exit: 'network', code: 'timeout', billed: 'no' });
});

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['headers without an end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
  ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['"not yet" without an end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(40)],
])('%s is an unusable response, and not retried', async (_name, text) => {
  const server = await rawServer((socket) => socket.write(text));
  const { client } = newClient(server.url);
  expect(await failureOf(client.send(BILLED))).toMatchObject({
    exit: 'badAnswer',
    code: 'bad_answer',
    billed: 'unknown',
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['a login page', { 'content-type': 'text/html' }, '<form>'],
  ['no type', {}, '{}'],
  ['broken JSON', { 'content-type': 'application/json' }, '{"a":'],
  ['text that is none', { 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22])],
  ['a nest', { 'content-type': 'application/json' }, '['.repeat(100_000)],
  ['the wrong fields', { 'content-type': 'application/json' }, '{"b":1}'],
  ['packed JSON', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{"a":1}'],
])('200 with %s instead of JSON is an unusable response', async (_name, headers, body) => {
  const server = await rawServer((socket) => socket.write(reply(200, headers, body)));
  const { client } = newClient(server.url);
  expect(await failureOf(client.json(READ, withA))).toMatchObject({
    exit: 'badAnswer',
    code: 'bad_answer',
  });
});

test('JSON above the size limit is not read', async () => {
  const server = await rawServer((socket) => {
    socket.write(head(200, { 'content-type': 'application/json' }));
    const megabyte = Buffer.alloc(1 << 20, 0x20);
    const more = (): void => {
      if (!socket.destroyed) socket.write(megabyte, () => setImmediate(more));
    };
    more();
  });
  const { client } = newClient(server.url);
  const failure = await failureOf(client.json(READ, (value) => value));
  expect(failure.message).toMatch(/larger than/);
});

test('a signal aborts a waiting request with its reason', async () => {
  const server = await rawServer(() => {});
  const { client, clock } = newClient(server.url);
  const stop = new AbortController();
  const pending = client.send({ ...BILLED, signal: stop.signal });
  await until(() => clock.running().includes(600_000));
  stop.abort(new Error('Ctrl-C'));
  await expect(pending).rejects.toThrow('Ctrl-C');
});

test('an aborted signal prevents sending', async () => {
  const server = await rawServer((socket) => socket.write(reply(200)));
  const { client } = newClient(server.url);
  await expect(
    client.send({ ...READ, signal: AbortSignal.abort(new Error('too late')) }),
  ).rejects.toThrow('too late');
  expect(server.requests).toHaveLength(0);
});

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

function withA(value: unknown): unknown {
  return JSON.stringify(value).includes('"a"') ? value : undefined;
}

test.each([
  ['embedded', /^The embedded service stopped/],
  ['hosted', /^127\.0\.0\.1:\d+ ended the response early/],
] as const)(
  'an interrupted response of the %s service names the side that ended it',
  async (kind, hint) => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    );
    const { client } = newClient(server.url, { ...NO_RETRY, address: { kind } });
    const { body } = await client.send(READ);
    const failure = await failureOf(drained(body));
    expect(failure.hint).toMatch(hint);
  },
);

async function drained(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}
