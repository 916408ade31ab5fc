import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Handshake, SocketEvent } from '../../../src/live/websocket.ts';
import { openWebSockets } from '../../../src/live/websocket.ts';
import { makeCertificate } from '../../fault-server/certificate.ts';
import { hasteful } from '../../live/driven.ts';

const HOST = 'realtime.example.com';
const { certificate: cert, key } = makeCertificate({ hosts: [HOST] });
const SUBPROTOCOL = 'realtime.tts.msgpack.v3';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts an encrypted realtime host that sends one message on every connection. */
async function startHost() {
  const server = createSecure({ cert, key });
  const keys: (string | undefined)[] = [];
  const sockets = new WebSocketServer({ server, handleProtocols: () => SUBPROTOCOL });
  sockets.on('connection', (socket, { headers }) => {
    keys.push(headers.authorization);
    socket.send(Uint8Array.of(1, 2, 3));
  });
  onTestFinished(() => sockets.clients.forEach((client) => client.terminate()));
  return { keys, port: await listening(server) };
}

/** Starts a proxy to the host, which records its requests. */
async function startProxy(port: number, status = 200) {
  const asked: IncomingMessage[] = [];
  const proxy = createPlain();
  proxy.on('connect', (request: IncomingMessage, client: Duplex) => {
    asked.push(request);
    client.on('error', () => undefined);
    client.write(`HTTP/1.1 ${status} Scripted\r\n\r\n`);
    const host = connect(port, '127.0.0.1');
    host.on('error', () => undefined);
    client.on('close', () => host.destroy());
    host.on('close', () => client.destroy());
    client.pipe(host).pipe(client);
  });
  return { asked, address: `http://me:s%20cret@127.0.0.1:${await listening(proxy)}` };
}

async function firstEvents(proxy: string, certificates?: string, timeoutMs = 20_000) {
  const answers: unknown[] = [];
  const handshake: Handshake = {
    url: new URL(`wss://${HOST}/v3/tts/live`),
    subprotocol: SUBPROTOCOL,
    apiKey: 'a-key',
    requestId: 'r',
    userAgent: 'test',
    clock: hasteful,
    timeoutMs,
    certificates,
    observer: { onResponse: (answer) => answers.push(answer), onConnect: () => {} },
  };
  const open = openWebSockets(handshake, { HTTPS_PROXY: proxy });
  const events: SocketEvent[] = [];
  await new Promise<void>((resolve) => {
    const socket = open((event) => {
      events.push(event);
      if (event.type === 'opened') return;
      socket.close(1000);
      resolve();
    });
  });
  return { answers, events };
}

test('a conversation goes through the proxy, which sees only host and port', async () => {
  const host = await startHost();
  const proxy = await startProxy(host.port);
  const { events } = await firstEvents(proxy.address, cert);
  expect(events.map(({ type }) => type)).toEqual(['opened', 'frame']);
  expect(host.keys).toEqual(['Bearer a-key']);
  const [asked] = proxy.asked;
  expect(asked?.url).toBe(`${HOST}:443`);
  expect(asked?.headers).toEqual({
    host: `${HOST}:443`,
    connection: expect.any(String),
    'proxy-authorization': `Basic ${Buffer.from('me:s cret').toString('base64')}`,
  });
});

test('an untrusted certificate is refused, through a proxy too', async () => {
  const host = await startHost();
  const proxy = await startProxy(host.port);
  const { events } = await firstEvents(proxy.address, undefined);
  expect(events).toMatchObject([
    { type: 'refused', isRetryable: false, failure: { exit: 'network' } },
  ]);
  expect(host.keys).toEqual([]);
});

test.each([407, 502])('a proxy that responds with %i gives no connection', async (status) => {
  const host = await startHost();
  const proxy = await startProxy(host.port, status);
  const { answers, events } = await firstEvents(proxy.address, cert);
  expect(events).toMatchObject([
    {
      type: 'refused',
      failure: { exit: 'network', message: expect.stringMatching(/the proxy 127\.0\.0\.1:\d+ /) },
    },
  ]);
  expect(answers).toMatchObject([{ reason: 'proxy' }]);
});

test('a hanging proxy is named', async () => {
  const proxy = createPlain();
  proxy.on('connect', (_request, client: Duplex) => void client.on('error', () => undefined));
  const { events } = await firstEvents(`http://127.0.0.1:${await listening(proxy)}`, cert, 50);
  expect(events).toMatchObject([
    {
      type: 'refused',
      failure: { code: 'timeout', message: expect.stringMatching(/the proxy 127.*HTTPS_PROXY/) },
    },
  ]);
});

test('an invalid proxy URL is a usage error', async () => {
  const { events } = await firstEvents('ftp://proxy.example', cert);
  expect(events).toMatchObject([{ type: 'refused', failure: { exit: 'usage' } }]);
});
