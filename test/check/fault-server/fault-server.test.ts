import { describe, expect, test } from 'vitest';
import { request } from 'undici';
import { answer } from '../../fault-server/http-text.ts';
import { refusedOrigin, startFaultServer } from '../../fault-server/fault-server.ts';
import { connectRaw, getRaw } from '../../harness/raw-connection.ts';
import { fin, pause, tunnelTo, write } from '../../fault-server/steps.ts';

const say = (text: string) => answer(200, {}, text);
const ok = answer(200, {}, 'ok');

describe('what was sent is recorded', () => {
  test('byte for byte, with headers in their order and case', async () => {
    const server = await startFaultServer([{ answer: ok }]);
    const client = await connectRaw(server.origin);
    const head =
      'POST /a/b?c=%20d&e HTTP/1.1\r\nHost: x\r\nX-One:1\r\nx-TWO:  2 \r\nx-one: 3\r\nContent-Length: 4\r\n\r\n';
    client.send(head);
    client.send('\u0000\r\n!');
    await client.waitFor('ok');
    const [sent] = server.requests;
    expect(sent).toMatchObject({ number: 1, connection: 1, onConnection: 1, isComplete: true });
    expect(sent).toMatchObject({ method: 'POST', target: '/a/b?c=%20d&e', path: '/a/b' });
    expect(sent?.head.toString()).toBe(head);
    expect(sent?.body.toString()).toBe('\u0000\r\n!');
    expect(sent?.query.get('c')).toBe(' d');
    expect(sent?.headers).toStrictEqual([
      ['Host', 'x'],
      ['X-One', '1'],
      ['x-TWO', '2'],
      ['x-one', '3'],
      ['Content-Length', '4'],
    ]);
    expect(sent?.header('X-ONE')).toBe('1, 3');
    expect(sent?.header('x-three')).toBeUndefined();
  });

  test('with a chunked body taken out of its chunks', async () => {
    const server = await startFaultServer([{ answer: ok }]);
    const client = await connectRaw(server.origin);
    client.send('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
    client.send('a\r\n0123456789\r\n0\r\n\r\n');
    await client.waitFor('ok');
    expect(server.requests[0]?.body.toString()).toBe('abc0123456789');
  });

  test('in the order of arrival, on whatever connection', async () => {
    const server = await startFaultServer([{ answer: ok }]);
    const [first, second] = [await connectRaw(server.origin), await connectRaw(server.origin)];
    first.get('/1');
    await first.waitFor('ok');
    second.get('/2');
    await second.waitFor('ok');
    first.get('/3');
    first.get('/4');
    await server.received({ path: '/4' });
    const order = server.requests.map(({ number, connection, onConnection, path }) => [
      number,
      connection,
      onConnection,
      path,
    ]);
    expect(order).toStrictEqual([
      [1, 1, 1, '/1'],
      [2, 2, 1, '/2'],
      [3, 1, 2, '/3'],
      [4, 1, 3, '/4'],
    ]);
    expect(server.connections).toBe(2);
  });

  test('of a proxy’s client too', async () => {
    const server = await startFaultServer([{ answer: ok }]);
    const client = await connectRaw(server.origin);
    client.send('GET http://else.test:80/p?q=1 HTTP/1.1\r\n\r\n');
    client.send('CONNECT else.test:443 HTTP/1.1\r\n\r\n');
    await server.received({ method: 'CONNECT' });
    expect(server.requests.map(({ target, path }) => [target, path])).toStrictEqual([
      ['http://else.test:80/p?q=1', '/p'],
      ['else.test:443', 'else.test:443'],
    ]);
  });
});

describe('a script', () => {
  test('answers by method, path, turn and number', async () => {
    const server = await startFaultServer([
      { method: 'POST', path: '/a', answer: say('posted') },
      { path: '/a', nth: 2, answer: say('second') },
      { path: /^\/a/, times: 2, answer: say('twice') },
      { answer: (sent) => say(`other ${sent.number}`) },
    ]);
    const ask = async (path: string, method: 'GET' | 'POST' = 'GET') =>
      (await request(server.origin + path, { method })).body.text();
    expect(await ask('/a', 'POST')).toBe('posted');
    expect(await ask('/a?x=1')).toBe('twice');
    expect(await ask('/a')).toBe('second');
    expect(await ask('/ab')).toBe('twice');
    expect(await ask('/a')).toBe('other 5');
  });

  test('can answer before the body has come', async () => {
    const server = await startFaultServer([{ answerAt: 'head', answer: answer(413, {}, 'big') }]);
    const client = await connectRaw(server.origin);
    client.send('POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nabc');
    await client.waitFor('big');
    expect(client.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(server.requests[0]?.isComplete).toBe(false);
  });

  test.fails('fails the test when a request is not in it', async () => {
    const server = await startFaultServer([]);
    await request(server.origin);
  });

  test.fails('fails the test when a rule never answered', async () => {
    await startFaultServer([{ path: '/never', answer: ok }]);
  });

  test.fails('fails the test when what comes is no request', async () => {
    const server = await startFaultServer([{ optional: true, answer: ok }]);
    const client = await connectRaw(server.origin);
    client.send('nonsense\r\n\r\n');
    await client.ended;
  });

  test('says nothing of optional rules that never answered', async () => {
    await startFaultServer([{ optional: true, path: '/never', answer: ok }]);
  });
});

describe('a pause', () => {
  test('holds the answer until the test lets it go', async () => {
    const server = await startFaultServer([
      { answer: [write('one'), pause(), write('two'), fin()] },
    ]);
    const client = await connectRaw(server.origin);
    client.get();
    await server.paused();
    await client.waitFor('one');
    expect(client.text).toBe('one');
    expect(await server.advance()).toBe(true);
    expect(await client.ended).toBe('fin');
    expect(client.text).toBe('onetwo');
  });

  test('may be let go before it is reached', async () => {
    const server = await startFaultServer([{ answer: [pause(), write('x'), fin()] }]);
    const advanced = server.advance();
    const client = await connectRaw(server.origin);
    client.get();
    expect(await advanced).toBe(true);
    expect(await client.ended).toBe('fin');
  });

  test('reports that the client has disconnected', async () => {
    const server = await startFaultServer([{ answer: [pause(), write('x'), pause(), fin()] }]);
    const client = await connectRaw(server.origin);
    client.get();
    expect(await server.advance()).toBe(true);
    await client.waitFor('x');
    client.socket.destroy();
    expect((await server.abandoned()).answer.state).toBe('client gone');
    expect(await server.advance()).toBe(false);
  });
});

test('how far an answer came can be seen, and a slow reader slows it', async () => {
  const megabyte = Buffer.alloc(1_000_000);
  const server = await startFaultServer([
    { answer: [{ kind: 'repeat', bytes: megabyte, times: 100 }, fin()] },
  ]);
  const client = await connectRaw(server.origin);
  client.get();
  await client.waitFor(1);
  client.socket.pause();
  const sent = await server.received();
  expect(sent.answer.state).toBe('running');
  expect(sent.answer.bytesWritten).toBeLessThan(50_000_000);
  client.socket.destroy();
  expect(await server.abandoned()).toBe(sent);
  expect(sent.answer.state).toBe('client gone');
});

test('a tunnel joins the client to another port', async () => {
  const target = await startFaultServer([{ answer: [write('through the tunnel'), fin()] }]);
  const proxy = await startFaultServer([
    { method: 'CONNECT', answer: [...answer(200), tunnelTo(target.port)] },
  ]);
  const client = await connectRaw(proxy.origin);
  client.send('CONNECT somewhere.test:443 HTTP/1.1\r\n\r\n');
  await client.waitFor('200 OK');
  client.get('/inner');
  expect(await client.ended).toBe('fin');
  expect(client.text).toContain('through the tunnel');
  expect(target.requests.map(({ path }) => path)).toStrictEqual(['/inner']);
});

test('a refused origin refuses', async () => {
  await expect(request(await refusedOrigin())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a server is gone when its test has ended', async () => {
  const server = await startFaultServer([{ answer: [write('bye'), fin()] }]);
  expect(await getRaw(server.origin)).toMatchObject({ ending: 'fin', text: 'bye' });
});
