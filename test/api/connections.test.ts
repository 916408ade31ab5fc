import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { createServer, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { RequestSpec } from '../../src/api/request.ts';
import { buffer } from 'node:stream/consumers';
import { BILLED, failureOf, newClient, READ } from './new-client.ts';
import { errorReply, rawServer, reply } from './raw-server.ts';
import { Connections } from '../../src/api/transport/connections.ts';
import { createConnector } from '../../src/api/transport/connector.ts';
import { Exchange } from '../../src/api/transport/exchange.ts';
import { manualClock } from './manual-clock.ts';
import { until } from './until.ts';

const OK = reply(200, { 'content-type': 'audio/mpeg' }, 'abc');
/** Never retried. */
const ONCE: RequestSpec = { ...BILLED, maxRetries: 0 };
/** A billed write without an idempotency key. */
const UNPROTECTED: RequestSpec = { ...BILLED, retry: 'never' };

test.each([
  ['that was given up', async (socket: Socket) => void socket.destroy()],
  [
    'that the service closed',
    async (socket: Socket, atService: Socket) => {
      const end = once(socket, 'end');
      atService.end();
      await end;
    },
  ],
])('an idle connection %s is not reused, even while half open', async (_how, end) => {
  const sockets = socketsOfClients();
  const asking: Socket[] = [];
  const server = await rawServer((socket) => asking.push(socket));
  const { client } = newClient(server.url);
  const ask = async (): Promise<string> => String(await buffer((await client.send(ONCE)).body));
  const both = [ask(), ask()];
  await until(() => asking.length === 2);
  const [first, second] = asking;
  first?.write(OK);
  await Promise.race(both);
  second?.write(OK);
  await Promise.all(both);
  // The agent reuses the last one first.
  const idle = sockets.find(({ localPort }) => localPort === second?.remotePort);
  if (idle === undefined || second === undefined) throw new Error('there is no second connection');
  await end(idle, second);
  const outcome = ask();
  await until(() => asking.length === 3);
  asking[2]?.write(OK);
  expect(await outcome).toBe('abc');
});

test('a request that must not be repeated uses a new connection', async () => {
  const server = await rawServer((socket, _request, index) => {
    socket.write(OK);
    // The second request on a connection finds it closed.
    if (index === 0) socket.once('data', () => socket.resetAndDestroy());
  });
  const { client } = newClient(server.url);
  await buffer((await client.send(READ)).body);
  expect((await buffer((await client.send(UNPROTECTED)).body)).toString()).toBe('abc');
  expect(server.connections()).toBe(2);
  await buffer((await client.send(READ)).body);
  expect(server.connections()).toBe(2);
});

test('an attempt never writes its request twice', async () => {
  const server = await rawServer((socket) => socket.write(OK));
  const url = new URL(server.url);
  const connections = new Connections(url.origin, createConnector(url, undefined, undefined));
  onTestFinished(() => connections.destroy(new Error('the test is over')));
  const connection = connections.take(true);
  const exchange = new Exchange(connection, {
    clock: manualClock(),
    connections,
    method: 'GET',
    host: url.host,
    proxy: undefined,
    responseTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    signal: undefined,
  });
  connection.send({ method: 'GET', path: '/' }, exchange);
  expect((await exchange.result).status).toBe(200);
  expect(() => exchange.onRequestStart()).toThrow('reset');
  expect(server.requests).toHaveLength(1);
});

test('closing the transport rejects requests that wait for a connection', async () => {
  let isClosed = false;
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => (isClosed = true));
    socket.resume();
  });
  const begun = once(server, 'connection');
  const { client, clock } = newClient(`https://127.0.0.1:${await portOf(server)}`);
  const outcome = client.send(READ).then(
    () => 'an answer',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  await begun;
  await client.close();
  expect(await outcome).toBe('the client is closed');
  expect(clock.running()).toEqual([]);
  // A connection that is still being opened would keep the process alive for ten seconds.
  const closedAt = Date.now();
  await until(() => isClosed);
  expect(Date.now() - closedAt).toBeLessThan(5_000);
});

test('an upload that is refused early is not finished', async () => {
  let closed = false;
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => (closed = true));
    socket.once('data', () => socket.write(errorReply(413, 'ERR_TOO_LARGE')));
  });
  const { client } = newClient(`http://127.0.0.1:${await portOf(server)}`);
  let isLeft = false;
  async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        yield Buffer.alloc(10_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      isLeft = true;
    }
  }
  const stream = { contentType: 'a/b', byteLength: 1e12, open: endless };
  const failure = await failureOf(
    client.send({ method: 'POST', target: '/u', billed: true, retry: 'never', stream }),
  );
  expect(failure).toMatchObject({ exit: 'rejected', status: 413 });
  await until(() => closed && isLeft);
});

/** Collects the sockets that connect until the test ends. */
function socketsOfClients(): readonly Socket[] {
  const sockets: Socket[] = [];
  const take = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    if (message.socket instanceof Socket) sockets.push(message.socket);
  };
  subscribe('net.client.socket', take);
  onTestFinished(() => void unsubscribe('net.client.socket', take));
  return sockets;
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
