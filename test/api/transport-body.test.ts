import { EventEmitter, once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from './until.ts';
import { buffer } from 'node:stream/consumers';
import { BILLED, failureOf, newClient, READ } from './new-client.ts';
import { head, rawServer, reply } from './raw-server.ts';

const MP3 = { 'content-type': 'audio/mpeg' };

test('a body with a length arrives whole', async () => {
  const bytes = Buffer.alloc(300_000, 7);
  const server = await rawServer((socket) => socket.write(reply(200, MP3, bytes)));
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  expect(answer.framing).toBe('length');
  expect(answer.contentLength).toBe(300_000);
  expect((await buffer(answer.body)).equals(bytes)).toBe(true);
});

test('a chunked body arrives whole', async () => {
  const server = await rawServer((socket) => {
    socket.write(head(200, { ...MP3, 'transfer-encoding': 'chunked' }));
    socket.write('5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n');
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  expect(answer.framing).toBe('chunked');
  expect((await buffer(answer.body)).toString()).toBe('hello world');
});

test('a body that ends with the connection has the framing close', async () => {
  const server = await rawServer((socket) =>
    socket.end(Buffer.concat([head(200, MP3), Buffer.from('hello')])),
  );
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  expect(answer.framing).toBe('close');
  expect(answer.contentLength).toBeUndefined();
  expect((await buffer(answer.body)).toString()).toBe('hello');
});

test.each([
  ['chunked', 'chunked', 'hello'],
  ['gzip, Chunked', 'chunked', 'hello'],
  ['chunked, gzip', 'close', '5\r\nhello\r\n0\r\n\r\n'],
  ['chunked\r\ntransfer-encoding: identity', 'close', '5\r\nhello\r\n0\r\n\r\n'],
  ['xchunked', 'close', '5\r\nhello\r\n0\r\n\r\n'],
])('a body with the transfer coding %s has the framing %s', async (coding, framing, text) => {
  const server = await rawServer((socket) => {
    socket.write(head(200, { ...MP3, 'transfer-encoding': coding }));
    socket.end('5\r\nhello\r\n0\r\n\r\n');
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  expect(answer.framing).toBe(framing);
  expect((await buffer(answer.body)).toString()).toBe(text);
});

test('any number of headers is kept', async () => {
  const server = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(3_000)}content-length: 5\r\n\r\nhello`);
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  expect(answer.contentLength).toBe(5);
  expect((await buffer(answer.body)).toString()).toBe('hello');
});

const length = { ...MP3, 'content-length': '100' };
const chunked = { ...MP3, 'transfer-encoding': 'chunked' };
const closing = { ...length, connection: 'close' };

test.each([
  ['length', 'end', length, 'x'.repeat(50)],
  ['length', 'reset', length, 'x'.repeat(50)],
  ['length with close', 'end', closing, 'x'.repeat(50)],
  ['length with close', 'reset', closing, 'x'.repeat(50)],
  ['chunks', 'end', chunked, '5\r\nhello\r\n'],
  ['chunks', 'reset', chunked, '5\r\nhello\r\n'],
  ['no framing', 'reset', MP3, 'x'.repeat(50)],
] as const)('a body with %s that is cut by %s is an error', async (_name, how, headers, body) => {
  const begun = new EventEmitter();
  const server = await rawServer((socket) => {
    socket.write(Buffer.concat([head(200, headers), Buffer.from(body)]));
    begun.once('read', () => (how === 'end' ? socket.end() : socket.resetAndDestroy()));
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  const read = async (): Promise<void> => {
    for await (const chunk of answer.body) begun.emit('read', chunk);
  };
  const failure = await failureOf(read());
  expect(failure.exit).toBe('badAnswer');
  expect(failure.code).toBe('bad_answer');
  expect(server.requests).toHaveLength(1);
});

const ofServe = { ...chunked, server: 'foley-embedded' };
const STORED = { code: 'ERR_GENERATION_FAILED', message: 'The engine ended', requestId: 'id-1' };

test.each([
  ['its error', 200, STORED, 'service', 'the response ended early: The engine ended', 'no'],
  ['no error', 404, { code: 'ERR_NOT_FOUND' }, 'badAnswer', 'the response was cut off', 'unknown'],
] as const)(
  'the failure of a cut response of foley serve, which has %s, is requested once',
  async (_name, status, error, exit, message, billed) => {
    const server = await rawServer((socket, _request, index) => {
      if (index === 0) socket.end(Buffer.concat([head(200, ofServe), Buffer.from('1\r\nx\r\n')]));
      else socket.end(reply(status, { 'content-type': 'application/json' }, JSON.stringify(error)));
    });
    const { client } = newClient(server.url);
    const answer = await client.send(BILLED);
    expect(await failureOf(buffer(answer.body))).toMatchObject({ exit, message, billed });
    const { requestId } = answer;
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      expect.stringMatching(/^POST /),
      `GET /api/open/requests/${requestId}/error`,
    ]);
  },
);

test('the failure of a cut response of another service is not requested', async () => {
  const server = await rawServer((socket) => {
    socket.end(Buffer.concat([head(200, chunked), Buffer.from('1\r\nx\r\n')]));
  });
  const { client } = newClient(server.url);
  const answer = await client.send(BILLED);
  expect(await failureOf(buffer(answer.body))).toMatchObject({ exit: 'badAnswer' });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['foley serve', ofServe, 75_000],
  ['another service', chunked, 60_000],
])('a stalled response of %s ends after its own timeout', async (_name, headers, limit) => {
  const server = await rawServer((socket) => socket.write(head(200, headers)));
  const { client, clock } = newClient(server.url);
  const answer = await client.send(BILLED);
  const failure = failureOf(buffer(answer.body));
  await until(() => clock.running().includes(limit));
  clock.advance(limit);
  expect((await failure).message).toContain(`no data for ${limit / 1_000} s`);
});

test.each([
  ['a connection that stays open', length, 'x'.repeat(50)],
  ['a connection that closes', closing, 'x'.repeat(50)],
  ['a connection with another response', length, 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
])('more bytes than announced are an error, on %s', async (_name, headers, more) => {
  const server = await rawServer((socket) => {
    socket.end(Buffer.concat([head(200, headers), Buffer.alloc(100, 1), Buffer.from(more)]));
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  const failure = await failureOf(buffer(answer.body));
  expect(failure.message).toMatch(/longer/);
  expect(failure.exit).toBe('badAnswer');
});

test.each([
  ['a length', { 'content-length': '24000000' }, 24_000_000],
  ['a length and a close', { 'content-length': '24000000', connection: 'close' }, 24_000_000],
  ['no framing', {}, 24_000_000],
])(
  'a slow reader pauses the sender and gets the whole body with %s',
  async (_name, headers, size) => {
    let sent = false;
    const server = await rawServer((socket) => {
      socket.write(head(200, { ...MP3, ...headers }));
      socket.end(Buffer.alloc(size, 5), () => (sent = true));
    });
    const { client } = newClient(server.url);
    const answer = await client.send(READ);
    const iterator = answer.body[Symbol.asyncIterator]();
    let received = (await iterator.next()).value?.length ?? 0;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBe(false);
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) break;
      received += value.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(received).toBe(size);
  },
);

test('a slow reader gets all received bytes of a body that is cut off', async () => {
  const server = await rawServer((socket) => {
    socket.write(head(200, { ...MP3, 'content-length': '9000000' }));
    socket.end(Buffer.alloc(3_000_000, 5));
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  let received = 0;
  const read = async (): Promise<void> => {
    for await (const chunk of answer.body) {
      received += chunk.length;
      for (let turn = 0; turn < 5; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  expect(await failureOf(read())).toMatchObject({ exit: 'badAnswer' });
  expect(received).toBe(3_000_000);
});

test('the idle timeout runs only while the reader waits', async () => {
  const server = await rawServer((socket) =>
    socket.write(Buffer.concat([head(200, length), Buffer.from('abc')])),
  );
  const { client, clock } = newClient(server.url, {
    limits: { maxRetries: 0, idleTimeoutMs: 5_000 },
  });
  const answer = await client.send(READ);
  const iterator = answer.body[Symbol.asyncIterator]();
  await iterator.next();
  clock.advance(60_000);
  const next = iterator.next();
  await Promise.resolve();
  expect(clock.running()).toEqual([5_000]);
  clock.advance(5_000);
  const failure = await failureOf(next);
  expect(failure.message).toBe('the response stalled: no data for 5 s');
  expect(failure.exit).toBe('badAnswer');
});

test('stopping a body early closes the connection', async () => {
  const closed = new EventEmitter();
  const server = await rawServer((socket) => {
    socket.on('close', () => closed.emit('closed'));
    socket.write(Buffer.concat([head(200, length), Buffer.from('abc')]));
  });
  const { client } = newClient(server.url);
  const answer = await client.send(READ);
  const end = once(closed, 'closed');
  for await (const chunk of answer.body) {
    expect(chunk).toHaveLength(3);
    break;
  }
  await end;
});

test('a signal aborts a body with its reason', async () => {
  const server = await rawServer((socket) =>
    socket.write(Buffer.concat([head(200, length), Buffer.from('abc')])),
  );
  const { client } = newClient(server.url);
  const stop = new AbortController();
  const answer = await client.send({ ...READ, signal: stop.signal });
  const iterator = answer.body[Symbol.asyncIterator]();
  await iterator.next();
  const next = iterator.next();
  stop.abort(new Error('Ctrl-C'));
  await expect(next).rejects.toThrow('Ctrl-C');
});

test('connections are reused', async () => {
  const server = await rawServer((socket) => socket.write(reply(200, MP3, 'abc')));
  const { client } = newClient(server.url);
  for (let turn = 0; turn < 3; turn += 1) await buffer((await client.send(READ)).body);
  expect(server.requests).toHaveLength(3);
  expect(server.connections()).toBe(1);
});

test('a connection with unexpected data is not reused', async () => {
  const sockets: Socket[] = [];
  const server = await rawServer((socket) => {
    sockets.push(socket);
    socket.write(reply(200, MP3, 'abc'));
  });
  const { client } = newClient(server.url);
  await buffer((await client.send(READ)).body);
  const [first] = sockets;
  first?.write(reply(200, MP3, 'more'));
  if (first !== undefined) await once(first, 'close');
  expect((await buffer((await client.send(READ)).body)).toString()).toBe('abc');
  expect(server.connections()).toBe(2);
});

test('a prepared connection is used, and nothing is sent on it before', async () => {
  const server = await rawServer((socket) => socket.write(reply(200, MP3, 'abc')));
  const { client } = newClient(server.url);
  client.prepare();
  await until(() => server.connections() === 1);
  expect(server.requests).toHaveLength(0);
  await buffer((await client.send(READ)).body);
  expect(server.connections()).toBe(1);
});

test.each([
  ['is closed', (socket: Socket) => socket.end()],
  ['receives data', (socket: Socket) => socket.write('220 welcome\r\n')],
])('a prepared connection that %s is not used', async (_what, greet) => {
  const greeted = new EventEmitter();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(reply(200, MP3, 'abc')));
    socket.on('close', () => greeted.emit('close'));
    if (greeted.listenerCount('close') > 0) greet(socket);
  });
  onTestFinished(() => void server.close());
  const { client } = newClient(`http://127.0.0.1:${await portOf(server)}`);
  const end = once(greeted, 'close');
  client.prepare();
  await end;
  expect((await buffer((await client.send(READ)).body)).toString()).toBe('abc');
});

test('the next request reports the error of a prepared connection', async () => {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  const { client, events } = newClient(`http://127.0.0.1:${port}`, { limits: { maxRetries: 0 } });
  client.prepare();
  expect(await failureOf(client.send(READ))).toMatchObject({ exit: 'network' });
  expect(events).toHaveLength(1);
});

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
