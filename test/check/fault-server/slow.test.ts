import { get } from 'node:http';
import { expect, test } from 'vitest';
import { request } from 'undici';
import {
  endlessBody,
  endlessHeaders,
  hugeHeader,
  informationalFlood,
  inPieces,
  largeBody,
  manyHeaders,
  silence,
  slowBody,
  slowHeaders,
  stallMidBody,
} from '../../fault-server/catalogue.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { connectRaw, getRaw } from '../../harness/raw-connection.ts';
import { fin } from '../../fault-server/steps.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await tinyAudio();
const short = { type: 'audio/mpeg', bytes: mp3.bytes.subarray(0, 8) };

const serve = async (answer: readonly Step[]) => startFaultServer([{ answer: [...answer, fin()] }]);

const connectTo = async (answer: readonly Step[]) => {
  const server = await serve(answer);
  const client = await connectRaw(server.origin);
  client.get();
  return { server, client };
};

test('slow headers come when they are let go', async () => {
  const { server, client } = await connectTo(slowHeaders(mp3));
  await server.paused();
  expect(client.text).toBe('');
  await server.advance();
  expect(await client.ended).toBe('fin');
  expect(client.body.equals(mp3.bytes)).toBe(true);
});

test('silence says nothing to its end', async () => {
  const { server, client } = await connectTo(silence());
  await server.advance();
  expect(await client.ended).toBe('fin');
  expect(client.text).toBe('');
});

test('a slow body has its head at once', async () => {
  const { server, client } = await connectTo(slowBody(mp3));
  await server.paused();
  await client.waitFor('\r\n\r\n');
  expect(client.body.length).toBe(0);
  await server.advance();
  await client.ended;
  expect(client.body.equals(mp3.bytes)).toBe(true);
});

test('a stall comes after half of the body', async () => {
  const half = Math.floor(mp3.bytes.length / 2);
  const { server, client } = await connectTo(stallMidBody(mp3));
  await server.paused();
  await client.waitFor('\r\n\r\n');
  await client.waitFor(client.text.length - client.body.length + half);
  expect(client.body.length).toBe(half);
  await server.advance();
  await client.ended;
  expect(client.body.equals(mp3.bytes)).toBe(true);
});

test('byte by byte, each step of the test lets one byte go', async () => {
  const { server, client } = await connectTo(inPieces(short, short.bytes.length));
  await client.waitFor('\r\n\r\n');
  const headLength = client.text.length;
  for (let count = 1; count <= short.bytes.length; count += 1) {
    await server.paused();
    expect(client.body.length).toBe(count - 1);
    await server.advance();
    await client.waitFor(headLength + count);
  }
  await client.ended;
  expect(client.body.equals(short.bytes)).toBe(true);
});

test('in pieces, the pieces are the whole', async () => {
  const { server, client } = await connectTo(inPieces(mp3, 3));
  expect([await server.advance(), await server.advance(), await server.advance()]).toStrictEqual([
    true,
    true,
    true,
  ]);
  await client.ended;
  expect(client.body.equals(mp3.bytes)).toBe(true);
});

test('an endless body continues until the client disconnects', async () => {
  const { server, client } = await connectTo(endlessBody(mp3));
  await client.waitFor(3_000_000);
  expect(client.text).toContain('Transfer-Encoding: chunked');
  client.socket.destroy();
  expect((await server.abandoned()).answer.bytesWritten).toBeGreaterThan(3_000_000);
});

test('a large body has the length that it says, of whole files', async () => {
  const server = await serve(largeBody(mp3, 20_000_000));
  const { headers, body } = await request(server.origin);
  let length = 0;
  for await (const part of body) {
    length += Buffer.from(part).length;
  }
  expect(Number(headers['content-length'])).toBe(length);
  expect(length).toBeGreaterThanOrEqual(20_000_000);
  expect(length % mp3.bytes.length).toBe(0);
});

test('one huge header overflows what Node takes', async () => {
  const server = await serve(hugeHeader(mp3, 100_000));
  await expect(request(server.origin)).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_OVERFLOW' });
});

test('many headers stand in many lines', async () => {
  const server = await serve(manyHeaders(mp3, 300));
  const { text } = await getRaw(server.origin);
  expect(text.match(/^X-Padding: value \d+\r$/gm)).toHaveLength(300);
});

test('endless headers go on until the client leaves', async () => {
  const { server, client } = await connectTo(endlessHeaders());
  await client.waitFor(1_000_000);
  expect(client.text).not.toContain('\r\n\r\n');
  client.socket.destroy();
  await server.abandoned();
});

test('a flood of informational answers comes before a good one', async () => {
  const server = await serve(informationalFlood(mp3, 40, 103, { Link: '</a>' }));
  const seen: number[] = [];
  const status = await new Promise((resolve, reject) => {
    get(server.origin, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('information', ({ statusCode }) => seen.push(statusCode))
      .on('error', reject);
  });
  expect([status, seen.length, new Set(seen)]).toStrictEqual([200, 40, new Set([103])]);
});

test('an endless flood continues until the client disconnects', async () => {
  const { server, client } = await connectTo(informationalFlood(mp3, Infinity, 100));
  await client.waitFor(10_000);
  expect(client.text).not.toContain('200 OK');
  client.socket.destroy();
  await server.abandoned();
});
