import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { createServer as createTcpServer, connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buffer } from 'node:stream/consumers';
import { BILLED, failureOf, KEY, newClient, READ } from './new-client.ts';
import { rawServer, reply } from './raw-server.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures/tls');
const OK = reply(200, { 'content-type': 'audio/mpeg' }, 'abc');

test('an encrypted response arrives', async () => {
  const { port, certificates } = await secureServer(OK);
  const { client } = newClient(`https://localhost:${port}`, { certificates });
  expect((await buffer((await client.send(READ)).body)).toString()).toBe('abc');
});

test('an encrypted body that is cut is an error', async () => {
  const { port, certificates } = await secureServer(
    Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'),
  );
  const { client } = newClient(`https://localhost:${port}`, { certificates });
  const answer = await client.send(READ);
  expect(await failureOf(buffer(answer.body))).toMatchObject({ exit: 'badAnswer' });
});

test('an untrusted certificate is final, and nothing was sent', async () => {
  const { port, received } = await secureServer(OK);
  const { client, clock, events } = newClient(`https://localhost:${port}`);
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({ exit: 'network', code: 'network', billed: 'no' });
  expect(failure.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(failure.hint).toContain('2026-01-02T03:04:05');
  expect(clock.slept).toEqual([]);
  expect(events).toEqual([
    expect.objectContaining({ type: 'no_response', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
  ]);
  expect(received()).toBe('');
});

test('a certificate for another name is final', async () => {
  const { port, certificates } = await secureServer(OK);
  const proxy = await tunnelProxy(port);
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  const { client, clock } = newClient('https://other.example', { certificates, env });
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({ exit: 'network', billed: 'no' });
  expect(failure.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(clock.slept).toEqual([]);
});

test('a server without TLS is final', async () => {
  const port = await listening(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.write('220 welcome to something else\r\n');
    }),
  );
  const { client, clock } = newClient(`https://127.0.0.1:${port}`);
  expect(await failureOf(client.send(BILLED))).toMatchObject({ exit: 'network', billed: 'no' });
  expect(clock.slept).toEqual([]);
});

test('the environment cannot disable certificate checks', async () => {
  const { port } = await secureServer(OK);
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  onTestFinished(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  });
  const { client } = newClient(`https://localhost:${port}`);
  expect(await failureOf(client.send(BILLED))).toMatchObject({ exit: 'network' });
});

test('a read never follows from https to http', async () => {
  const plain = await rawServer((socket) => socket.write(OK));
  const { port, certificates } = await secureServer(reply(302, { location: `${plain.url}/x` }));
  const { client } = newClient(`https://localhost:${port}`, { certificates });
  expect(await failureOf(client.send(READ))).toMatchObject({ exit: 'badAnswer' });
  expect(plain.requests).toHaveLength(0);
});

test('a proxy is asked for a tunnel and sees neither path nor key', async () => {
  const { port, certificates } = await secureServer(OK);
  const proxy = await tunnelProxy(port);
  const { client } = newClient('https://service.example', {
    certificates,
    env: { HTTPS_PROXY: `http://user:pass@127.0.0.1:${proxy.port}` },
  });
  expect((await buffer((await client.send(READ)).body)).toString()).toBe('abc');
  expect(proxy.seen()).toContain('CONNECT service.example:443 HTTP/1.1');
  expect(proxy.seen()).toContain(`Basic ${Buffer.from('user:pass').toString('base64')}`);
  expect(proxy.seen()).not.toContain('/thing');
  expect(proxy.seen()).not.toContain(KEY);
});

test('a body that is cut within a tunnel is an error', async () => {
  const { port, certificates } = await secureServer(
    Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabc'),
  );
  const proxy = await tunnelProxy(port);
  const env = { https_proxy: `127.0.0.1:${proxy.port}` };
  const { client } = newClient('https://service.example', { certificates, env });
  const answer = await client.send(READ);
  expect(await failureOf(buffer(answer.body))).toMatchObject({
    message: expect.stringMatching(/longer/),
  });
});

test('a proxy that requires a password is a network failure, and the given one is not shown', async () => {
  const proxy = await rawServer((socket) => socket.write(reply(407)));
  const { client, events } = newClient('https://service.example', {
    env: { HTTPS_PROXY: proxy.url.replace('//', '//me:secret@') },
  });
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({ exit: 'network', billed: 'no' });
  expect(failure.hint).toContain('HTTPS_PROXY');
  expect(JSON.stringify([failure.message, failure.hint, events])).not.toContain('secret');
});

test('an invalid proxy URL is a usage error', async () => {
  const { client } = newClient('https://service.example', {
    env: { HTTPS_PROXY: 'socks9://me:secret@x' },
  });
  const failure = await failureOf(client.send(BILLED));
  expect(failure).toMatchObject({ exit: 'usage' });
  expect(failure.message + failure.hint).not.toContain('secret');
});

test('this computer is never reached through a proxy', async () => {
  const proxy = await rawServer((socket) => socket.destroy());
  const server = await rawServer((socket) => socket.write(OK));
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
  const { client } = newClient(server.url, { env });
  await client.send(READ);
  expect(proxy.connections()).toBe(0);
});

interface SecureServer {
  readonly port: number;
  readonly certificates: string;
  /** The received data, decrypted. */
  readonly received: () => string;
}

async function secureServer(answer: Buffer): Promise<SecureServer> {
  const certificates = await readFile(path.join(fixtures, 'certificate.pem'), 'utf8');
  const key = await readFile(path.join(fixtures, 'key.pem'), 'utf8');
  let text = '';
  const server = createTlsServer({ cert: certificates, key }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      socket.end(answer);
    });
  });
  server.on('tlsClientError', () => {});
  return { port: await listening(server), certificates, received: () => text };
}

/** Starts a proxy that connects every tunnel to one local port. */
async function tunnelProxy(target: number): Promise<{ port: number; seen: () => string }> {
  let text = '';
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      text += chunk.toString('latin1');
      const onward = connect(target, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.on('data', (bytes) => {
          text += bytes.toString('latin1');
          onward.write(bytes);
        });
        onward.pipe(socket);
      });
      onward.on('error', () => {});
    });
  });
  return { port: await listening(server), seen: () => text };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
