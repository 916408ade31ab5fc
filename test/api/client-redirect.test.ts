import { expect, test } from 'vitest';
import { buffer } from 'node:stream/consumers';
import { BILLED, failureOf, KEY, newClient, READ } from './new-client.ts';
import { rawServer, reply } from './raw-server.ts';

const to = (location: string, status = 302): Buffer => reply(status, { location });

test.each([301, 302, 303, 307, 308])(
  'a read follows a %d on its origin, with its key',
  async (status) => {
    const server = await rawServer((socket, { path }) =>
      socket.write(path === '/thing' ? to('/else?signature=abc', status) : reply(200, {}, 'there')),
    );
    const { client, events } = newClient(server.url);
    const answer = await client.send({ ...READ, headers: { 'x-mine': '1' } });
    expect((await buffer(answer.body)).toString()).toBe('there');
    expect(server.requests[1]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'x-mine': '1',
    });
    expect(answer.url).toBe(`${server.url}/else?[redacted]`);
    expect(JSON.stringify(events)).not.toContain('abc');
  },
);

test('a read that is redirected to another origin loses key and ids, also when it returns', async () => {
  const stranger = await rawServer((socket) => socket.write(to(`${server.url}/back`)));
  const server = await rawServer((socket, { path }) =>
    socket.write(path === '/thing' ? to(`${stranger.url}/away`) : reply(200)),
  );
  const { client } = newClient(server.url);
  await client.send({ ...READ, headers: { 'x-mine': '1' } });
  for (const request of [stranger.requests[0], server.requests[1]]) {
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  }
});

test('five redirects are followed, a sixth is not', async () => {
  const server = await rawServer((socket, { path }, index) =>
    socket.write(path.startsWith('/five') && index === 5 ? reply(200) : to(`${path}x`)),
  );
  const { client } = newClient(server.url);
  expect((await client.send({ ...READ, target: '/five' })).status).toBe(200);
  expect(await failureOf(client.send({ ...READ, target: '/more' }))).toMatchObject({
    exit: 'badAnswer',
  });
  expect(server.requests).toHaveLength(6 + 6);
});

test.each([
  ['a file', 'file:///etc/passwd'],
  ['data', 'data:,hello'],
  ['plain http on a network', 'http://speech.example/'],
  ['nothing that is an address', 'https://[bad'],
])('a redirect to %s is refused', async (_name, location) => {
  const server = await rawServer((socket) => socket.write(to(location)));
  const { client } = newClient(server.url);
  const failure = await failureOf(client.send(READ));
  expect(failure).toMatchObject({ exit: 'badAnswer', code: 'bad_answer' });
  expect(server.requests).toHaveLength(1);
});

test('a redirect without a location is refused', async () => {
  const server = await rawServer((socket) => socket.write(reply(302)));
  const { client } = newClient(server.url);
  expect(await failureOf(client.send(READ))).toMatchObject({ exit: 'badAnswer' });
});

test.each([301, 302, 303, 307, 308])(
  'a write does not follow a %d to another origin',
  async (status) => {
    const stranger = await rawServer((socket) => socket.write(reply(200)));
    const server = await rawServer((socket) => socket.write(to(`${stranger.url}/speak`, status)));
    const { client } = newClient(server.url);
    const failure = await failureOf(client.send(BILLED));
    expect(failure).toMatchObject({ exit: 'badAnswer', exitCode: 25, status });
    expect(failure.message).toContain(stranger.url);
    expect(stranger.requests).toHaveLength(0);
    expect(server.requests).toHaveLength(1);
  },
);

test.each([
  [307, 2],
  [308, 2],
  [301, 1],
  [302, 1],
  [303, 1],
])('a write on its own origin after a %d reaches the server %d times', async (status, requests) => {
  const server = await rawServer((socket, { path }) =>
    socket.write(path === '/speak' ? to('/speak/', status) : reply(200)),
  );
  const { client } = newClient(server.url);
  const outcome = await client.send(BILLED).then(
    () => 'sent',
    () => 'refused',
  );
  expect(outcome).toBe(requests === 2 ? 'sent' : 'refused');
  expect(server.requests).toHaveLength(requests);
  expect(server.requests.every(({ method, body }) => method === 'POST' && body !== '')).toBe(true);
});
